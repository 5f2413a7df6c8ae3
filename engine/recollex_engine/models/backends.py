"""What runs a converted model? onnxruntime on one thread, OpenVINO in bf16, or a GPU in fp16.

::

    precision   graph   runs on                                  texts a run
    int8        int8    onnxruntime, CPU                         1: others would change its scales
    fp32        fp32    onnxruntime, CPU                         pairs of like length
    bf16        fp32    OpenVINO, CPU (recollex[openvino])       1: others would change it by 0.02
    fp16        fp16    onnxruntime-gpu, CUDA                    texts of like length, in buckets

In which precision does a cross-encoder run fastest here? Measured once a machine and model.
The result is cached in ``<cache>/probe/<key>.json``. The key depends on the model, the CPU and the
versions of the runtimes. The precision of an embedder is never chosen like this: its vectors are
stored, and each precision gives other vectors.
"""

import hashlib
import importlib.metadata
import json
import os
import platform
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal, Protocol, cast, get_args

import numpy as np
import numpy.typing as npt

from recollex_engine import private_files
from recollex_engine.errors import InputError, ModelError
from recollex_engine.models.convert import GraphPrecision, cache_folder
from recollex_engine.models.description import known_model, read_json
from recollex_engine.models.device_session import is_gpu_here
from recollex_engine.models.session import Session, open_session
from recollex_engine.models.weights import is_folder

Precision = Literal["int8", "fp32", "bf16", "fp16"]
"""How a model runs: its number format, which also decides the runtime and the device."""

BATCHES = {"int8": 1, "fp32": 8, "bf16": 1, "fp16": 128}
"""Batch sizes: how many texts of similar length run together. More than 8 do not fit in the caches
of a CPU: in OpenVINO 100 pairs of 58 tokens take 757 ms in batches of 8, 829 ms in batches of 16,
920 ms one by one and 999 ms in batches of 32. bf16, which keeps eight bits of a number, still runs
texts one by one, so that a score does not depend on the other texts of a batch."""


def graph_precision(precision: Precision) -> GraphPrecision:
    """Return the precision of the graph that a model needs to run in ``precision``.

    Raises:
        InputError: ``precision`` is not one of `Precision`.

    """
    if precision not in get_args(Precision):
        ways = ", ".join(map(repr, get_args(Precision)))
        raise InputError(f"precision must be one of {ways}, got {precision!r}")
    return "fp32" if precision == "bf16" else precision


def with_precision(
    given: str | Path, precision: Precision = "int8"
) -> tuple[str | Path, Precision]:
    """Return a model's name or folder, and its precision, which may follow after a colon.

    >>> with_precision("all-MiniLM-L6-v2:fp32")
    ('all-MiniLM-L6-v2', 'fp32')

    Raises:
        InputError: no precision follows a model, or another one than ``precision``.

    """
    if isinstance(given, Path) or is_folder(given):
        return given, precision
    name, colon, named = given.rpartition(":")
    model = known_model(name) is not None or Path(name).is_dir()
    if not colon or not (model or named in get_args(Precision)):
        return given, precision
    graph_precision(cast(Precision, named))
    if precision not in ("int8", named):
        raise InputError(f"{given!r} names another precision than {precision!r}")
    return name, cast(Precision, named)


def open_backend(model: Path, precision: Precision, longest: int) -> Session:
    """Return a session for the graph in file ``model``, for texts of at most ``longest`` tokens.

    Raises:
        ModelError: the backend is not installed, or refuses the graph.

    """
    session: Session
    if precision == "bf16":
        from recollex_engine.models.device_session import OpenVinoSession

        session = OpenVinoSession(model)
    elif precision == "fp16":
        from recollex_engine.models.device_session import open_device

        session = open_device(model, longest)
    else:
        session = open_session(model)
    return session


def batches_of(lengths: list[int], size: int) -> list[list[int]]:
    """Return the indices of texts in batches of at most ``size``, shortest texts first.

    Order is total: of texts of equal length, the lower index comes first. With ``size`` 1 the order
    stays as given.
    """
    places = range(len(lengths))
    if size == 1:
        return [[place] for place in places]
    order = sorted(places, key=lambda place: (lengths[place], place))
    return [order[first : first + size] for first in range(0, len(order), size)]


Auto = Literal["auto"]
PACKAGES = ("onnxruntime", "onnxruntime-gpu", "openvino")
PAIRS = 16
REPEATS = 3
_WORD = "memory "


class PairScorer(Protocol):
    """A model that scores pairs of a question and a text."""

    def scores(self, query: str, texts: list[str], threads: int = 1, /) -> npt.NDArray[np.float64]:
        """Return float64[n]: a score for each text."""


def fastest_precision(
    place: str | Path, load: Callable[[str | Path, Precision], PairScorer]
) -> Precision:
    """Return the precision in which model ``place`` scores pairs fastest on this machine.

    The candidates are fp16 if there is a GPU; otherwise int8, and bf16 if OpenVINO is installed and
    the CPU supports it. Cost: about a second the first time, then reading a small file.

    Raises:
        ModelError: the model cannot be loaded in int8.

    """
    ways = candidates()
    if len(ways) == 1:
        return ways[0]
    path = cache_folder().parent / "probe" / f"{_key(place, ways)}.json"
    with suppress(ModelError, KeyError):
        kept = read_json(path)["fastest"]
        if kept in ways:
            return kept  # type: ignore[no-any-return]
    taken: dict[Precision, float] = {}
    for way in ways:
        try:
            taken[way] = measure(load(place, way))
        except ModelError:
            if way == "int8":
                raise
    best = min(taken, key=lambda way: taken[way])
    with suppress(OSError):  # then the next call measures again
        private_files.make_folder(path.parent)
        path.unlink(missing_ok=True)
        private_files.write(path, json.dumps({"fastest": best, "ms": taken}).encode())
    return best


def candidates() -> list[Precision]:
    """Return the precisions that can run here, in order of preference."""
    if is_gpu_here():
        return ["fp16"]
    ways: list[Precision] = ["int8"]
    if _version("openvino"):
        ways.append("bf16")
    return ways


def measure(scorer: PairScorer) -> float:
    """Return the milliseconds for `PAIRS` pairs of mixed lengths on one thread: the best time."""
    best = float("inf")
    for repeat in range(REPEATS + 1):  # the first warms up; new texts, as scores are cached
        texts = [f"{_WORD * (8 + 7 * (n % 8))}{repeat} {n}" for n in range(PAIRS)]
        started = time.perf_counter()
        scorer.scores("what is measured here?", texts, 1)
        if repeat:
            best = min(best, time.perf_counter() - started)
    return best * 1000


def _key(place: str | Path, ways: list[Precision]) -> str:
    cpu = platform.processor() or platform.machine()
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        cpu += "".join(line for line in lines if line.startswith(("model name", "flags")))[:4096]
    versions = [_version(package) for package in PACKAGES]
    said = json.dumps([str(place), ways, cpu, os.cpu_count(), versions])
    return hashlib.sha256(said.encode()).hexdigest()[:24]


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""

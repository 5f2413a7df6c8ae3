"""In which precision does a cross-encoder run fastest here? Measured once a machine and model.

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
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from recollex_engine.errors import ModelError
from recollex_engine.models.backends import Precision
from recollex_engine.models.convert import cache_folder
from recollex_engine.models.description import read_json
from recollex_engine.models.device_session import is_gpu_here
from recollex_kernels.machine import private_files

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

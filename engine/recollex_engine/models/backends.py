"""What runs a converted model? onnxruntime on one thread, OpenVINO in bf16, or a GPU in fp16.

::

    precision   graph   runs on                                  texts a run
    int8        int8    onnxruntime, CPU                         1: others would change its scales
    fp32        fp32    onnxruntime, CPU                         pairs of like length
    bf16        fp32    OpenVINO, CPU (recollex[openvino])       1: others would change it by 0.02
    fp16        fp16    onnxruntime-gpu, CUDA                    texts of like length, in buckets
"""

from pathlib import Path
from typing import Literal, cast, get_args

from recollex_engine.errors import InputError
from recollex_engine.models.convert import GraphPrecision
from recollex_engine.models.description import known_model
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
        from recollex_engine.models.openvino_session import OpenVinoSession

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

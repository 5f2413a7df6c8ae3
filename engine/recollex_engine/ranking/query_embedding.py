"""Where does a question's vector come from, and what is done meanwhile?

The model runs on the caller's thread and leaves the interpreter; meanwhile another thread reads the
dates and searches the words. The other way round costs more: measured, handing the model to another
thread makes it half a millisecond slower, on a core whose caches it finds cold. Vectors that take
less than waking a thread are made first, and the words searched behind them.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.checks import check_embedding
from recollex_engine.models.embedder import QueryEmbedder
from recollex_engine.trace import Trace

Found = TypeVar("Found")

_beside = ThreadPoolExecutor(max_workers=2, thread_name_prefix="recollex words")

WORTH = 300.0
"""Microseconds of a model from which on another thread is worth waking: that costs 150, and more
where many recall at once."""


class LatencyEstimate:
    """How long a model takes for a query, in microseconds: a moving average of the latest ones.

    Queries whose vectors are at hand lower it. Threads: any number; what they overwrite of each
    other's costs time, never a result.
    """

    def __init__(self) -> None:
        self.average = 2 * WORTH

    def add(self, spent: float) -> None:
        """Take note of one query's embedding."""
        self.average += 0.1 * (min(spent, 10 * WORTH) - self.average)


def embed_beside(
    search: Callable[[], Found],
    text: str,
    embedder: QueryEmbedder,
    dimension: int,
    latency: LatencyEstimate,
    trace: Trace,
) -> tuple[npt.NDArray[np.float32] | None, Found]:
    """Return the vector of a question, and what ``search`` returns, which is called beside it.

    ``latency``: of the embedder. A model that fails is reported in the trace, and there is no
    vector.
    """
    query = None
    result = _submit(search) if latency.average > WORTH else search
    with trace.stage("embed"):
        try:
            query = check_embedding(embedder.embed_query(text), "the query's vector", dimension)
            unread = getattr(embedder, "unread", None)  # a caller's own may not know
            if unread is not None and (beyond := unread(text)):
                trace.truncated["query"] = beyond
        except Exception as error:  # the words still answer
            trace.errors["embed"] = f"{type(error).__name__}: {error}"
    latency.add(trace.stages["embed"])
    return query, result()


def _submit(search: Callable[[], Found]) -> Callable[[], Found]:
    """Start a search in another thread and return what waits for it."""
    try:
        return _beside.submit(search).result
    except RuntimeError:  # the interpreter is ending and starts no threads
        return search

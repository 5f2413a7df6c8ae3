"""A question's embedding, and the keyword search that runs at the same time.

The model runs on the caller's thread and releases the interpreter lock; meanwhile another thread
parses the dates and searches the words. The opposite costs more: it was measured that a model on
another thread is half a millisecond slower, because the caches of that core are cold. If the
embedding takes less time than waking a thread, it is computed first, and the words are searched
after it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.checks import check_embedding
from recollex_engine.fork import ThreadPool
from recollex_engine.models.embedder import QueryEmbedder
from recollex_engine.trace import Trace

Found = TypeVar("Found")

_beside = ThreadPool(2, "recollex words")

WORTH = 300.0
"""If a model takes more microseconds than this, a second thread is used: to wake one costs 150 us,
and more if many recalls run at once."""


_once: ContextVar[dict[str, npt.NDArray[np.float32]] | None] = ContextVar("once", default=None)


@contextmanager
def embedded_once() -> Iterator[None]:
    """Embed each question once in the body, whatever the number of agents that are asked."""
    token = _once.set({})
    try:
        yield
    finally:
        _once.reset(token)


class LatencyEstimate:
    """The time that a model takes for a query, in microseconds: a moving average.

    Queries whose vectors are cached lower it. Threads: any number, without a lock; a lost update
    may cost time, but never changes a result.
    """

    def __init__(self) -> None:
        self.average: float = 2 * WORTH

    def add(self, spent: float) -> None:
        """Add the microseconds of one query's embedding."""
        self.average += 0.1 * (min(spent, 10 * WORTH) - self.average)


def embed_beside(
    search: Callable[[], Found],
    text: str,
    embedder: QueryEmbedder,
    dimension: int,
    latency: LatencyEstimate,
    trace: Trace,
) -> tuple[npt.NDArray[np.float32] | None, Found]:
    """Return the vector of a question, and the result of ``search``, which runs at the same time.

    ``latency``: the embedder's. If the model fails, the trace reports it and the vector is None.
    """
    query = None
    known = _once.get()
    if known is not None and text in known:
        return known[text], search()
    result = _submit(search) if latency.average > WORTH else search
    with trace.stage("embed"):
        try:
            query = check_embedding(embedder.embed_query(text), "the query's vector", dimension)
            unread = getattr(embedder, "unread", None)  # a caller's own embedder may not have it
            if unread is not None and (beyond := unread(text)):
                trace.truncated["query"] = beyond
        except Exception as error:  # the words still answer
            trace.failed("embed", error)
    latency.add(trace.stages["embed"])
    if known is not None and query is not None:
        known[text] = query
    return query, result()


def embed_once(embedder: QueryEmbedder, text: str, dimension: int) -> npt.NDArray[np.float32]:
    """Return the vector of a question; within `embedded_once` that of an earlier call.

    Raises the errors of the model.
    """
    known = _once.get()
    if known is not None and text in known:
        return known[text]
    query = check_embedding(embedder.embed_query(text), "the query's vector", dimension)
    if known is not None:
        known[text] = query
    return query


def _submit(search: Callable[[], Found]) -> Callable[[], Found]:
    """Start a search in another thread and return a function that waits for its result."""
    try:
        return _beside.submit(search).result
    except RuntimeError:  # the interpreter is ending and starts no threads
        return search

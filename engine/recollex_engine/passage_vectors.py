"""Which vectors do the passages of prepared statements have? Given ones, or the model's."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recollex_engine.preparation import Prepared
from recollex_engine.surroundings import Embedder, Progress


def passage_vectors(
    embedder: Embedder,
    prepared: Sequence[Prepared],
    known: set[int],
    given: npt.NDArray[np.float32] | None,
    threads: int,
    progress: Progress | None,
) -> npt.NDArray[np.float16]:
    """Return float16[passages, dimension]; a given vector serves all passages of its memory.

    ``known``: places of statements whose vectors nobody will read: they stay zeros.
    """
    counts = [len(statement.passages) for statement in prepared]
    if given is not None:
        return np.repeat(given, counts, axis=0).astype(np.float16)
    vectors = np.zeros((sum(counts), embedder.dimension), np.float16)
    texts: list[str] = []
    places: list[int] = []
    place = 0
    for number, statement in enumerate(prepared):
        if number not in known:
            texts += statement.texts
            places += range(place, place + len(statement.passages))
        place += len(statement.passages)
    if texts:
        vectors[places] = embedder.embed(texts, threads, progress)
    return vectors

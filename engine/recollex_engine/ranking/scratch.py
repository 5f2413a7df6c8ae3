"""Memory that queries use again, so that none of it is cleared between them."""

import threading

import numpy as np
import numpy.typing as npt

from recollex_kernels.words.keyword import SCRATCH

_ROUND = 64  # sums are looked at so many at a step


class Scratch(threading.local):
    """Stamps for nodes and entities, one set a thread.

    A place is taken in this query if it holds one of the query's stamps, so a query costs nothing
    that grows with the agent.
    """

    def __init__(self) -> None:
        self._memories = np.zeros(0, np.uint32)
        self._entities = np.zeros(0, np.uint32)
        self._epoch = 1

    def take(
        self, memories: int, entities: int, stamps: int
    ) -> tuple[int, npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
        """Return the first of ``stamps`` that neither array holds, and the arrays.

        These are at least as long as asked.
        """
        full = self._epoch + stamps >= 2**32
        if memories > len(self._memories) or entities > len(self._entities) or full:
            self._memories = np.zeros(max(memories * 5 // 4, len(self._memories)), np.uint32)
            self._entities = np.zeros(max(entities * 5 // 4, len(self._entities)), np.uint32)
            self._epoch = 1
        first = self._epoch
        self._epoch += stamps
        return first, self._memories, self._entities


class WordScratch(threading.local):
    """What a search for words works in, one a thread, of the largest agent that it searched.

    Only pages that were written to take memory. The first two rows are 0 between searches.
    """

    def __init__(self) -> None:
        self._memories = -1
        self._rows = np.zeros((SCRATCH, 0), np.uint32)

    def take(self, memories: int) -> npt.NDArray[np.uint32]:
        """Return what `recollex_kernels.keyword.search_words` calls scratch."""
        if memories > self._memories:
            self._memories = memories * 5 // 4
            self._rows = np.zeros((SCRATCH, self._memories + 2 * _ROUND), np.uint32)
        return self._rows

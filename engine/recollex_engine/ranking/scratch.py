"""Working arrays that queries use again without clearing them in between."""

import threading

import numpy as np
import numpy.typing as npt

from recollex_kernels.words.keyword import SCRATCH

_ROUND = 64  # number of sums that a step of the search looks at


class Scratch(threading.local):
    """Stamps for memories and entities, one pair of arrays per thread.

    A place is marked in this query if it holds one of the query's stamps. Each query has new
    stamps, so no array is cleared, and a query's cost does not grow with the agent.
    """

    def __init__(self) -> None:
        self._memories = np.zeros(0, np.uint32)
        self._entities = np.zeros(0, np.uint32)
        self._epoch = 1

    def take(
        self, memories: int, entities: int, stamps: int
    ) -> tuple[int, npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
        """Return the first of ``stamps`` new stamps, which neither array holds, and the arrays.

        The arrays are at least as long as asked.
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
    """The working array of keyword searches, one per thread, as long as the largest agent needs.

    Only pages that were written use memory. The first two rows are 0 between searches.
    """

    def __init__(self) -> None:
        self._memories = -1
        self._rows = np.zeros((SCRATCH, 0), np.uint32)

    def take(self, memories: int) -> npt.NDArray[np.uint32]:
        """Return the argument ``scratch`` of `recollex_kernels.words.keyword.search_words`."""
        if memories > self._memories:
            self._memories = memories * 5 // 4
            self._rows = np.zeros((SCRATCH, self._memories + 2 * _ROUND), np.uint32)
        return self._rows

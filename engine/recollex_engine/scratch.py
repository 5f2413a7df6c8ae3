"""Memory that queries use again, so that none of it is cleared between them."""

import threading
from typing import Any

import numpy as np
import numpy.typing as npt

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
    """What a search for words works in, one set a thread, of the largest agent that it searched.

    Only pages that were written to take memory. Sums are 0 between searches.
    """

    def __init__(self) -> None:
        self._memories = self._tail = -1
        self._arrays: tuple[Any, ...] = ()

    def take(self, memories: int, tail: int) -> tuple[Any, ...]:
        """Return what `recollex_kernels.keyword.search_words` calls scratch, in its order."""
        if memories > self._memories or tail > self._tail:
            self._memories = max(self._memories, memories * 5 // 4)
            self._tail = max(self._tail, tail * 5 // 4)
            size = self._memories + 2 * _ROUND
            self._arrays = (
                np.zeros(size, np.uint16),
                np.empty(size // _ROUND + 1, np.uint32),
                np.empty(size, np.uint32),
                np.empty(size, np.uint16),
                np.empty(size, np.uint32),
                np.empty(size, np.uint16),
                np.empty(size, np.float32),
                np.zeros(self._tail, np.float32),
            )
        return self._arrays

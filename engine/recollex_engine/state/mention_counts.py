"""How often was each entity named so far, and where last? Counts of prefixes of the mentions.

A view sees the first n mentions. Counting them for each view would cost O(n). So counts are kept
for a few prefixes of the list, and a view counts only from the nearest one on.
"""

import math
import threading
from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recollex_engine.state.chain import NONE

STRIDE = 1 << 16
"""Mentions between two kept prefixes at first; doubled when there are more than `MOST`."""
MOST = 16
"""The most prefixes kept, of 8 bytes an entity each."""


@dataclass(frozen=True, slots=True)
class PrefixCounts:
    """Counts of the first `end` mentions.

    counts uint32[entities]: how many mentions name each entity. heads uint32[entities]: the newest
    of them, or `chain.NONE` for an entity that none names. Both cover the entities up to the
    highest one named. The arrays never change.
    """

    end: int
    counts: npt.NDArray[np.uint32]
    heads: npt.NDArray[np.uint32]

    def extended(self, mentions: npt.NDArray[np.uint32], end: int) -> "PrefixCounts":
        """Return the counts of the first ``end`` mentions. Cost: O(end - self.end + entities)."""
        if end == self.end:
            return self
        new = mentions[self.end : end]
        size = max(len(self.counts), int(new.max()) + 1)
        counts = np.bincount(new, minlength=size).astype(np.uint32)
        counts[: len(self.counts)] += self.counts
        heads = np.full(size, NONE, np.uint32)
        heads[: len(self.heads)] = self.heads
        heads[new] = np.arange(self.end, end, dtype=np.uint32)  # the last one written stays
        return PrefixCounts(end, counts, heads)


class MentionCounts:
    """The counts of one agent's list of mentions, which only grows.

    Threads: any number.

    >>> marks = MentionCounts()
    >>> marks.at(np.array([0, 1, 0, 0], np.uint32), 3).counts
    array([2, 1], dtype=uint32)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stride = STRIDE
        empty = np.empty(0, np.uint32)
        self._marks = [PrefixCounts(0, empty, empty)]
        self._newest = self._marks[0]  # of the latest view: the next one is usually a little later

    def at(self, mentions: npt.NDArray[np.uint32], end: int) -> PrefixCounts:
        """Return the counts of ``mentions[:end]``; the list may be longer.

        Cost: O(entities + stride); the first time, O(end).
        """
        with self._lock:
            place = bisect_right(self._marks, end, key=lambda mark: mark.end)
            mark = self._marks[place - 1]
            while end - mark.end > self._stride:
                mark = mark.extended(mentions, mark.end + self._stride)
                if mark.end > self._marks[-1].end:
                    self._marks.append(mark)
            while len(self._marks) > MOST:
                self._marks = self._marks[::2]
                self._stride *= 2
            if mark.end <= self._newest.end <= end:
                mark = self._newest
            found = mark.extended(mentions, end)
            if end >= self._newest.end:
                self._newest = found
            return found


def entity_weights(counts: npt.NDArray[np.uint32]) -> npt.NDArray[np.float32]:
    """Return float32[n]: 1 / (1 + ln c) for each count c, and 1 for 0.

    Equal counts give equal bits at every place of the array.

    >>> entity_weights(np.array([0, 1, 3], np.uint32)).round(3).tolist()
    [1.0, 1.0, 0.47699999809265137]
    """
    found: npt.NDArray[np.float32] = _WEIGHTS[np.minimum(counts, len(_WEIGHTS) - 1)]
    for place in np.flatnonzero(counts >= len(_WEIGHTS)).tolist():
        found[place] = _weight(int(counts[place]))
    return found


def _weight(count: int) -> float:
    return 1 / (1 + math.log(max(count, 1)))


# A table, because numpy's logarithm may differ in the last bit between places of an array.
_WEIGHTS = np.array([_weight(count) for count in range(4096)], np.float32)

"""Which period does each run of memories cover? A min-max index over event times.

Memories are stored in recorded order, and mostly happened in that order. So a time range overlaps
few runs of 64 memories, and the other runs are skipped by their earliest and latest time.
"""

import threading

import numpy as np
import numpy.typing as npt

from recollex_kernels.memories.filters import RUN, extremes_of_runs, overlap_of_runs

EventTimes = npt.NDArray[np.int64]

_EMPTY = np.empty((3, 0), np.int64)


class EventTimeIndex:
    """The extreme event times of one agent's memories, computed as far as a reader has needed them.

    For every whole run of 64 memories: the earliest start, the latest start and the latest end.
    Size: 24 bytes a run. Threads: any number.

    >>> at, mask = np.arange(200, dtype=np.int64), np.ones(200, np.uint8)
    >>> EventTimeIndex().overlapping(at, at + 1, 70, 73, mask).nonzero()[0].tolist()
    [70, 71, 72]
    """

    def __init__(self) -> None:
        self._extremes = _EMPTY
        self._following = threading.Lock()

    def overlapping(
        self,
        start: EventTimes,
        end: EventTimes,
        since: int,
        until: int,
        mask: npt.NDArray[np.uint8],
    ) -> npt.NDArray[np.uint8]:
        """Return ``mask`` uint8[n] narrowed to memories whose interval overlaps [since, until).

        start, end int64[n]: the intervals of a view's memories; see `mask_overlap`.

        Cost: O(n / 64), O(64) for each run that may overlap, and zeroing a mask.
        """
        found = np.zeros_like(mask)
        first, latest, last = self._of(start, end)
        overlap_of_runs(first, latest, last, start, end, since, until, mask, found)
        return found

    def bounds(self, start: EventTimes, end: EventTimes) -> tuple[int, int]:
        """Return the earliest start and the latest end of a view's memories, at least one."""
        first, _, last = self._of(start, end)
        rest = min(first.shape[0], len(start) // RUN)
        tail = slice(rest * RUN, None)
        starts = np.concatenate((first[:rest], start[tail]))
        ends = np.concatenate((last[:rest], end[tail]))
        return int(starts.min()), int(ends.max())

    def _of(self, start: EventTimes, end: EventTimes) -> npt.NDArray[np.int64]:
        """Return int64[3, runs]: the extremes of the whole runs of these memories, perhaps more."""
        runs = len(start) // RUN
        known = self._extremes
        if known.shape[1] < runs:
            with self._following:
                known = self._extremes
                if (done := known.shape[1]) < runs:
                    new = slice(done * RUN, runs * RUN)
                    known = np.hstack((known, extremes_of_runs(start[new], end[new])))
                    self._extremes = known
        return known

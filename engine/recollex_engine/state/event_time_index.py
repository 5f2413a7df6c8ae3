"""Which stretch of time does each run of memories cover? What a range of time need not look at.

Memories stand in recorded order, and mostly happened in it: a range of time meets few runs of 64,
and what lies outside of it is told from the earliest and the latest of a run.
"""

import threading

import numpy as np
import numpy.typing as npt

from recollex_kernels.memories.filters import RUN, extremes_of_runs, overlap_of_runs

Times = npt.NDArray[np.int64]

_EMPTY = np.empty((3, 0), np.int64)


class EventTimeIndex:
    """The event times of one agent's memories, as far as a reader has asked for them.

    Of every whole run of 64 memories the earliest start, the latest start and the latest end.
    Memory: 24 bytes a run. Threads: any number.

    >>> at, mask = np.arange(200, dtype=np.int64), np.ones(200, np.uint8)
    >>> EventTimeIndex().overlapping(at, at + 1, 70, 73, mask).nonzero()[0].tolist()
    [70, 71, 72]
    """

    def __init__(self) -> None:
        self._extremes = _EMPTY
        self._following = threading.Lock()

    def overlapping(
        self, start: Times, end: Times, since: int, until: int, mask: npt.NDArray[np.uint8]
    ) -> npt.NDArray[np.uint8]:
        """Return ``mask`` narrowed to memories whose interval meets [since, until).

        start, end: those of a view's memories; see `mask_overlap`. Cost: O(memories / 64), O(64)
        for each run that may meet it, and a mask of zeros.
        """
        found = np.zeros_like(mask)
        first, latest, last = self._of(start, end)
        overlap_of_runs(first, latest, last, start, end, since, until, mask, found)
        return found

    def bounds(self, start: Times, end: Times) -> tuple[int, int]:
        """Return the earliest start and the latest end of a view's memories, of which there are."""
        first, _, last = self._of(start, end)
        rest = min(first.shape[0], len(start) // RUN)
        tail = slice(rest * RUN, None)
        starts = np.concatenate((first[:rest], start[tail]))
        ends = np.concatenate((last[:rest], end[tail]))
        return int(starts.min()), int(ends.max())

    def _of(self, start: Times, end: Times) -> npt.NDArray[np.int64]:
        """Return int64[3, runs]: the extremes of the whole runs of these memories, or of more."""
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

"""Which speakers are linked by talks? Circles of those who spoke in one document."""

import threading

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.schema import NONE
from recollex_kernels.graph.circles import Circles as Forest
from recollex_kernels.graph.circles import join_circles

_Labels = npt.NDArray[np.uint32]


def root_of(label: int, end: int, forest: Forest) -> int:
    """Return the root of a speaker's circle among the first ``end`` memories; -1 without company.

    label: below the length of the arrays. Cost: 0.1 us a step, at most log2(speakers) of them.
    """
    above, joined, since = forest
    if since[label] >= end:
        return -1
    while joined[label] < end:
        label = int(above[label])
    return label


class Circles:
    """The circles of an agent's speakers, as far as a reader has needed them.

    Two speakers are in one circle if they spoke in one document, or if a chain of such speakers
    links them. A household is a circle; one person who talks with both of two households makes
    them one. Circles only grow, and each step is kept with the memory that made it: so any earlier
    view has the circles that it had.

    Size: 20 bytes a label. Threads: any number.
    """

    def __init__(self) -> None:
        self._last = 0, 0
        nothing = np.empty(0, np.uint32)
        self._talker = nothing
        self._size = nothing
        self._forest: Forest = nothing, nothing, nothing
        self._following = threading.Lock()

    def forest(self, document: _Labels, speaker: _Labels) -> Forest:
        """Return the circles of the memories so far and perhaps of newer ones.

        document, speaker uint32[M]: of each memory of a view, a label or NONE; every label of
        theirs has a place in the arrays returned.

        Cost: O(new memories): 10 ms for the first 1,000,000.
        """
        if len(speaker) > self._last[0]:
            with self._following:
                if len(speaker) > self._last[0]:
                    self._follow(document, speaker)
        return self._forest

    def are_one(self, document: _Labels, speaker: _Labels) -> bool:
        """Return whether the view certainly has at most one circle, so that there are no strangers.

        False also where newer memories were read than those of the view. document, speaker, cost:
        as for `forest`.
        """
        self.forest(document, speaker)
        seen, count = self._last
        return count < 2 and seen == len(speaker)

    def _follow(self, document: _Labels, speaker: _Labels) -> None:
        seen, count = self._last
        new = np.concatenate((document[seen:], speaker[seen:]))
        new = new[new != NONE]
        labels = int(new.max()) + 1 if len(new) else 0
        known = len(self._size)
        if labels > known:
            more = max(64, labels * 3 // 2) - known
            none = np.full(more, NONE, np.uint32)
            self._talker = np.concatenate((self._talker, none))
            self._size = np.concatenate((self._size, np.ones(more, np.uint32)))
            above, joined, since = (np.concatenate((each, none)) for each in self._forest)
            self._forest = above, joined, since
        count += join_circles(document, speaker, seen, self._talker, self._size, *self._forest)
        self._last = len(speaker), count

"""Which speakers does a question name? Speakers' labels, by first name."""

import threading
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.schema import NONE
from recollex_engine.storage.dictionary import Dictionary
from recollex_engine.text.names import fold_name
from recollex_engine.text.question_cues import first_name
from recollex_kernels.graph.circles import Circles as Forest
from recollex_kernels.graph.circles import join_circles

# Which speakers are linked by talks? Circles of those who spoke in one document.
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


_NO_SPEAKER = np.empty(0, np.uint32)


def joined(met: Sequence[npt.NDArray[np.uint32]]) -> npt.NDArray[np.uint32]:
    """Return the labels of `Speakers.by_name` in one array, ascending."""
    if len(met) < 2:
        return met[0] if met else _NO_SPEAKER
    return np.sort(np.concatenate(met))  # no label is listed under two first names


class Speakers:
    """The speakers of an agent's memories, indexed as far as a reader has needed them.

    ``labels``: the dictionary of the agent's labels. Threads: any number may call its methods.
    """

    def __init__(self, labels: Dictionary) -> None:
        self._dictionary = labels
        self._seen = 0
        self._labels: dict[str, npt.NDArray[np.uint32]] = {}
        self._called: dict[str, list[int]] = {}
        self._following = threading.Lock()

    def by_name(
        self, speaker: npt.NDArray[np.uint32], words: frozenset[str]
    ) -> list[npt.NDArray[np.uint32]]:
        """Return the labels of the speakers who have each of ``words`` as a first name, ascending.

        A word that is no speaker's name gives no item. The result may contain speakers that are
        newer than the view. speaker uint32[n]: the speaker's label of each memory of a view, or
        NONE. Cost: a look-up a word, and O(new memories).
        """
        if len(speaker) > self._seen:
            with self._following:
                self._follow(speaker)
        labels = self._labels
        return [labels[word] for word in labels.keys() & words]

    def called(self, speaker: npt.NDArray[np.uint32], names: Sequence[str]) -> list[int]:
        """Return the labels of the speakers with these whole names; case is ignored.

        speaker, and speakers who are newer than the view: as for `by_name`.
        """
        if len(speaker) > self._seen:
            with self._following:
                self._follow(speaker)
        folded = {fold_name(name) for name in names}
        return sorted(label for name in folded for label in self._called.get(name, ()))

    def _follow(self, speaker: npt.NDArray[np.uint32]) -> None:
        new = speaker[self._seen :]
        for label in np.unique(new[new != NONE]).tolist():
            whole = self._dictionary.string(label)[2:]  # after its kind
            same_name = self._called.setdefault(fold_name(whole), [])
            if label not in same_name:
                same_name.append(label)
            if name := first_name(whole):
                same = self._labels.get(name, _NO_SPEAKER)
                if label not in same:
                    self._labels[name] = np.sort(np.append(same, np.uint32(label)))
        self._seen = max(self._seen, len(speaker))

"""Which speakers does a question name? Speakers' labels, by first name."""

import threading
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.schema import NONE
from recollex_engine.text.question_cues import first_name

_NOBODY = np.empty(0, np.uint32)


class Speakers:
    """The speakers of an agent's memories, indexed as far as a reader has needed them.

    ``label`` returns the text of a label. Threads: any number may call `named`.
    """

    def __init__(self, label: Callable[[int], str | None]) -> None:
        self._label = label
        self._seen = 0
        self._labels: dict[str, npt.NDArray[np.uint32]] = {}
        self._following = threading.Lock()

    def named(
        self, speaker: npt.NDArray[np.uint32], words: frozenset[str]
    ) -> npt.NDArray[np.uint32]:
        """Return the labels of speakers whose first name is one of ``words``, ascending.

        speaker uint32[n]: the speaker's label of each memory of a view, or NONE. The result may
        contain speakers that are newer than the view. Cost: a look-up a word, and O(new memories).
        """
        if len(speaker) > self._seen:
            with self._following:
                self._follow(speaker)
        labels = self._labels
        met = [labels[word] for word in labels.keys() & words]
        if len(met) < 2:
            return met[0] if met else _NOBODY
        return np.sort(np.concatenate(met))  # no label is listed under two first names

    def _follow(self, speaker: npt.NDArray[np.uint32]) -> None:
        new = speaker[self._seen :]
        new = new[new != NONE]
        for label in np.flatnonzero(np.bincount(new)).tolist():
            if name := first_name(self._label(label) or ""):
                same = self._labels.get(name, _NOBODY)
                if label not in same:
                    self._labels[name] = np.sort(np.append(same, np.uint32(label)))
        self._seen = max(self._seen, len(speaker))

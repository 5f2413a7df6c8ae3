"""Which speakers does a question name? Speakers' labels, by first name."""

import threading
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.schema import NONE
from recollex_engine.storage.dictionary import Dictionary
from recollex_engine.text.names import fold_name
from recollex_engine.text.question_cues import first_name

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

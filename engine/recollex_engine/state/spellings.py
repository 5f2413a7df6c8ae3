"""How are an agent's terms spelled? Their marks, which find similar ones; a shared cache."""

import threading

import numpy as np
import numpy.typing as npt

from recollex_engine.storage.column import read_only
from recollex_engine.storage.dictionary import Dictionary
from recollex_kernels.words.spelling import marks

Spelled = tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64], npt.NDArray[np.uint64]]
"""Terms as `recollex_kernels.words.spelling` takes them: text, ends, marks."""


class Spellings:
    """The marks of the terms of one dictionary. They are computed when they are first asked for.

    Threads: any number. Memory: 8 bytes for each term, and up to half as much again.
    """

    def __init__(self) -> None:
        self._marks = np.empty(0, np.uint64)
        self._count = 0
        self._growing = threading.Lock()

    def of(self, terms: Dictionary) -> Spelled:
        """Return all terms of the dictionary, which is the same in each call.

        Cost: 100 ns for each term that is new since the last call.
        """
        count = len(terms)  # before the text: a term counts once its bytes are there
        text, ends = terms.flat
        text = read_only(text)
        ends = read_only(ends[:count])
        with self._growing:
            if self._count < count:
                if len(self._marks) < count:
                    grown = np.empty(max(64, count * 3 // 2), np.uint64)
                    grown[: self._count] = self._marks[: self._count]
                    self._marks = grown
                marks(text, ends, self._count, self._marks)
                self._count = count
            return text, ends, self._marks[:count]

"""Which memories of the tail contain this term? Postings in memory, until a checkpoint has them.

The posting lists of the segments end at the last checkpoint. What was recorded since is found
through chains (see `recollex_kernels.tail`), which the first recall after a write extends: so
writing costs nothing more, and a recall pays for what is new and for what its words match.
"""

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_kernels.words.chains import BLOCK
from recollex_kernels.words.tail import extend_chains, publish_chains

_LEAST = 256


@dataclass(frozen=True, slots=True)
class TailPostings:
    """The chains as one view may walk them: it skips the memories that are newer than itself.

    head uint32[V]: the newest posting of each term, 0 for none. postings uint32[P], counts
    uint8[P]: in blocks (see `recollex_kernels.tail`), memories and how often each has the term.
    """

    head: npt.NDArray[np.uint32]
    postings: npt.NDArray[np.uint32]
    counts: npt.NDArray[np.uint8]


class Tail:
    """The postings of the memories from ``first_memory`` on, as far as a reader has asked for them.

    Memory: 6 bytes a posting, up to 35 more a term of the tail, and 8 a term of the agent, of which
    only the pages of terms that occur in the tail are touched.

    Threads: any number may call `postings`. What it returned stays as it is but for heads that lead
    to newer postings; when the arrays move to a larger place, so do the heads.
    """

    def __init__(self, first_memory: int) -> None:
        self.first_memory = first_memory
        self._end = first_memory
        self._size = BLOCK  # place 0 is none
        self._latest = np.zeros(0, np.uint32)
        self.now = TailPostings(
            np.zeros(0, np.uint32), np.zeros(BLOCK, np.uint32), np.zeros(BLOCK, np.uint8)
        )
        self._extending = threading.Lock()

    def postings(
        self,
        first_row: npt.NDArray[np.uint32],
        term_offset: npt.NDArray[np.uint64],
        term: npt.NDArray[np.uint32],
        end_memory: int,
        vocabulary: int,
    ) -> TailPostings:
        """Return chains that hold at least the memories [first_memory, end_memory).

        The columns are those of a view; every term is below ``vocabulary``. Cost: O(words that
        nobody has asked for yet).
        """
        with self._extending:
            first = self._end
            if end_memory > first:
                tokens = int(term_offset[first_row[end_memory]] - term_offset[first_row[first]])
                blocks = min(tokens, vocabulary + tokens // (BLOCK - 1))  # the rest are full
                moved = self._make_room(self._size + BLOCK * blocks, vocabulary)
                now = self.now
                self._size = extend_chains(
                    *(first_row, term_offset, term, first, end_memory, self._size),
                    *(self._latest, now.postings, now.counts),
                )
                publish_chains(
                    first_row, term_offset, term, first, end_memory, self._latest, now.head
                )
                self._end = end_memory
                if moved and len(now.postings) > 2 * self._size:  # which nobody has seen yet
                    postings, counts = now.postings[: self._size], now.counts[: self._size]
                    self.now = TailPostings(now.head, postings.copy(), counts.copy())
            return self.now

    def _make_room(self, places: int, vocabulary: int) -> bool:
        """Make the arrays large enough; return whether the postings lie elsewhere now."""
        old, moves = self.now, places > len(self.now.postings)
        postings, counts = old.postings, old.counts
        if moves:
            room = max(places, len(postings) * 3 // 2, _LEAST)
            postings, counts = _grown(postings, room), _grown(counts, room)
        head = old.head
        if vocabulary > len(head):
            terms = max(vocabulary, len(head) * 3 // 2, _LEAST)
            self._latest = _grown(self._latest, terms)
            head = _grown(head, terms)
        elif moves:  # readers of the old arrays keep heads that lead to nothing beyond them
            head = head.copy()
        self.now = TailPostings(head, postings, counts)
        return moves


def _grown(array: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    """Return a copy with zeros behind it; pages that nothing is written to take no memory."""
    grown = np.zeros(size, array.dtype)
    grown[: len(array)] = array
    return grown

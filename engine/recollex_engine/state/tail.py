"""Which memories of the tail contain this term? Postings in memory, until a checkpoint stores them.

The posting lists of the segments end at the last checkpoint. Memories recorded since then, the
tail, are found through chains (see `recollex_kernels.words.tail`). The first recall after a write
extends the chains, so a write costs nothing more, and a recall pays for the new memories and for
the postings of its words.
"""

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.storage.commit_word import fence
from recollex_kernels.words.tail import BLOCK, extend_chains, publish_chains

_LEAST = 256


@dataclass(frozen=True, slots=True)
class TailPostings:
    """The chains that a view walks; it skips memories that are newer than itself.

    head uint32[V]: the newest posting of each term, 0 for none. postings uint32[P] and counts
    uint8[P], in blocks (see `recollex_kernels.words.tail`): memories, and how often each has the
    term.
    """

    head: npt.NDArray[np.uint32]
    postings: npt.NDArray[np.uint32]
    counts: npt.NDArray[np.uint8]


class Tail:
    """The postings of the memories from ``first_memory`` on, as far as a reader has needed them.

    Size: 6 bytes a posting, up to 35 bytes more a term of the tail, and 8 bytes a term of the
    agent; of these 8 bytes, only the pages of terms that occur in the tail are touched.

    Threads: any number may call `postings`. A returned value does not change, except that its heads
    may lead to newer postings. When the arrays are copied to larger ones, so are the heads.
    """

    def __init__(self, first_memory: int) -> None:
        self.first_memory = first_memory
        self._begin()
        self._extending = threading.Lock()

    def _begin(self) -> None:
        """Begin without postings, in arrays that no reader has."""
        self._end = self.first_memory
        self._size = BLOCK  # place 0 means no posting
        self._latest = np.zeros(0, np.uint32)
        self.now: TailPostings = TailPostings(
            np.zeros(0, np.uint32), np.zeros(BLOCK, np.uint32), np.zeros(BLOCK, np.uint8)
        )
        self._is_whole = True

    def postings(
        self,
        first_row: npt.NDArray[np.uint32],
        term_offset: npt.NDArray[np.uint64],
        term: npt.NDArray[np.uint32],
        end_memory: int,
        vocabulary: int,
    ) -> TailPostings:
        """Return chains that hold at least the memories [first_memory, end_memory).

        The columns are those of a view; every term is below ``vocabulary``. Cost: O(words that are
        not in the chains yet).
        """
        with self._extending:
            first = self._end
            if not self._is_whole:  # a KeyboardInterrupt in an extension: some postings are twice
                self._begin()
                first = self._end
            if end_memory > first:
                self._is_whole = False
                tokens = int(term_offset[first_row[end_memory]] - term_offset[first_row[first]])
                blocks = min(tokens, vocabulary + tokens // (BLOCK - 1))  # the others are full
                moved = self._make_room(self._size + BLOCK * blocks, vocabulary)
                now = self.now
                self._size = extend_chains(
                    first_row,
                    term_offset,
                    term,
                    first,
                    end_memory,
                    self._size,
                    self._latest,
                    now.postings,
                    now.counts,
                )
                fence()  # a kernel of a reader that loads a new head loads whole postings
                publish_chains(
                    first_row, term_offset, term, first, end_memory, self._latest, now.head
                )
                self._end = end_memory
                if moved and len(now.postings) > 2 * self._size:  # no reader has seen them yet
                    postings = now.postings[: self._size]
                    counts = now.counts[: self._size]
                    self.now = TailPostings(now.head, postings.copy(), counts.copy())
                self._is_whole = True
            return self.now

    def _make_room(self, places: int, vocabulary: int) -> bool:
        """Make the arrays large enough; return whether the postings were copied to larger ones."""
        old = self.now
        moves = places > len(self.now.postings)
        postings = old.postings
        counts = old.counts
        if moves:
            room = max(places, len(postings) * 3 // 2, _LEAST)
            postings = _grown(postings, room)
            counts = _grown(counts, room)
        head = old.head
        if vocabulary > len(head):
            terms = max(vocabulary, len(head) * 3 // 2, _LEAST)
            self._latest = _grown(self._latest, terms)
            head = _grown(head, terms)
        elif moves:  # so the heads of the old arrays never lead beyond them
            head = head.copy()
        self.now = TailPostings(head, postings, counts)
        return moves


def _grown(array: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    """Return a copy followed by zeros; pages that are never written take no memory."""
    grown = np.zeros(size, array.dtype)
    grown[: len(array)] = array
    return grown

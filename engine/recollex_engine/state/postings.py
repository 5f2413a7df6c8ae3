"""Which memories contain this term? Posting lists of a segment, and those of the tail.

A segment's keyword index covers the memories [first_memory, end_memory), whose first rows are in
the segment. For each term it holds the memories, ascending, in 16 bits each (see
`recollex_kernels.words.postings.divide_postings`), and how much each may add to a score (see
`recollex_kernels.words.impacts`). Everything else that BM25 needs (document frequency, mean length)
comes from the view, so one index serves the present and every cut.

Which memories of the tail contain this term? Postings in memory, until a checkpoint stores them.
The posting lists of the segments end at the last checkpoint. Memories recorded since then, the
tail, are found through chains (see `recollex_kernels.words.tail`). The first recall after a write
extends the chains, so a write costs nothing more, and a recall pays for the new memories and for
the postings of its words.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.errors import CorruptError
from recollex_engine.storage.commit_word import fence
from recollex_engine.storage.content_file import read_arrays, whole_file, write_arrays
from recollex_engine.storage.formats import unknown_format
from recollex_kernels.words.bm25 import Forward
from recollex_kernels.words.impacts import grade_postings
from recollex_kernels.words.postings import build_postings, divide_postings
from recollex_kernels.words.segments import Lists, places, slices_in, table
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


FORMAT = 1
K1 = 0.9
B = 0.4
"""BM25's saturation and length normalisation: the usual choice for short texts (Anserini). Impact
codes are assigned by these; their limits hold for other values too."""
ARRAYS: dict[str, npt.DTypeLike] = {
    "starts": np.uint32,
    "cuts": np.uint16,
    "memories": np.uint16,
    "codes": np.uint8,
    "limits": np.uint32,
    "dense": np.uint32,
    "dense_cuts": np.uint32,
    "greatest": np.uint8,
    "columns": np.uint8,
}
"""The arrays of a file, in the order of `recollex_kernels.words.segments.Lists`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Postings:
    """The posting lists of memories [first_memory, end_memory).

    starts, cuts, memories and dense_cuts are results of `divide_postings`, the other arrays of
    `grade_postings`; shapes and dtypes are given there.

    Invariant: the arrays never change, so readers take no lock. They may be maps of the file.
    """

    first_memory: int
    end_memory: int
    starts: npt.NDArray[np.uint32]
    cuts: npt.NDArray[np.uint16]
    memories: npt.NDArray[np.uint16]
    codes: npt.NDArray[np.uint8]
    limits: npt.NDArray[np.uint32]
    dense: npt.NDArray[np.uint32]
    dense_cuts: npt.NDArray[np.uint32]
    greatest: npt.NDArray[np.uint8]
    columns: npt.NDArray[np.uint8]
    file: npt.NDArray[np.uint8] = field(default_factory=lambda: np.empty(0, np.uint8))
    """The bytes of the file, where there is one."""

    @classmethod
    def build(
        cls,
        term_offset: npt.NDArray[np.uint64],
        term: npt.NDArray[np.uint32],
        lengths: npt.NDArray[np.uint32],
        first_memory: int,
        vocabulary: int,
    ) -> "Postings":
        """Invert the forward lists of the n memories from ``first_memory`` on.

        term_offset uint64[n + 1]: where the terms of each memory begin and end in ``term``, uint32.
        lengths uint32[n]: each memory's length in words. vocabulary: every term is below it.

        Cost: O(words of the memories).
        """
        starts, memories, counts = build_postings(
            term_offset, term, 0, len(term_offset) - 1, vocabulary
        )
        memories += np.uint32(first_memory)
        end = first_memory + len(lengths)
        codes, limits, dense, greatest, columns = grade_postings(
            starts, memories, counts, lengths, first_memory, end, K1, B
        )
        begin, cuts, numbers, dense_cuts = divide_postings(
            starts, memories, dense, first_memory, end
        )
        return cls(
            first_memory=first_memory,
            end_memory=end,
            starts=begin,
            cuts=cuts,
            memories=numbers,
            codes=codes,
            limits=limits,
            dense=dense,
            dense_cuts=dense_cuts,
            greatest=greatest,
            columns=columns,
        )

    def check_lists(self, path: Path) -> None:
        """Raise `CorruptError` unless the lists, and their cuts, rise and stay in bounds."""
        starts = self.starts
        slices = slices_in(self.end_memory - self.first_memory) - 1
        sound = not len(starts) or (
            int(starts[0]) == 0
            and bool((starts[1:] >= starts[:-1]).all())
            and bool((self.dense[1:] > self.dense[:-1]).all())
            and int(self.dense.max(initial=0)) < max(1, len(starts) - 1)
        )
        if sound and slices:
            sizes = np.diff(starts)
            near = self.cuts.reshape(-1, slices)
            far = self.dense_cuts.reshape(-1, slices)
            for cuts, most in ((near, sizes), (far, sizes[self.dense])):
                rising = (cuts[:, 1:] >= cuts[:, :-1]).all()
                sound = sound and bool(rising and (cuts[:, -1] <= most).all())
        if not sound:
            raise CorruptError(path, "posting lists that rise", "others")

    @property
    def lists(self) -> Lists:
        """The segment as the kernels take it."""
        return (
            self.starts,
            self.cuts,
            self.memories,
            self.codes,
            self.limits,
            self.dense,
            self.dense_cuts,
            self.greatest,
            self.columns,
            self.first_memory,
            self.end_memory,
        )

    def write(self, path: Path) -> None:
        """Write the lists to ``path``; durable once this returns."""
        arrays: dict[str, npt.NDArray[Any]] = {name: getattr(self, name) for name in ARRAYS}
        meta = {
            "format": FORMAT,
            "first_memory": self.first_memory,
            "end_memory": self.end_memory,
        }
        write_arrays(path, arrays, meta)

    @classmethod
    def read(cls, path: Path) -> "Postings":
        """Return the lists of ``path``, mapped.

        Raises `CorruptError` for arrays that do not fit each other, and `FormatError` for another
        format.
        """
        arrays, meta = read_arrays(path)
        if meta.get("format") != FORMAT:
            raise unknown_format(path, meta.get("format"), FORMAT)
        first = meta.get("first_memory")
        end = meta.get("end_memory")
        if not (isinstance(first, int) and isinstance(end, int) and 0 <= first <= end):
            raise CorruptError(path, "the numbers of its memories", f"{first!r} to {end!r}")
        _check(path, arrays, end - first)
        kept: dict[str, Any] = {name: arrays[name] for name in ARRAYS}
        return cls(first_memory=first, end_memory=end, **kept, file=whole_file(arrays))


def _check(path: Path, arrays: dict[str, npt.NDArray[Any]], size: int) -> None:
    """Raise `CorruptError` for arrays that do not fit each other, because kernels trust them.

    size: the number of memories.
    """
    starts, dense = (len(arrays.get(name, ())) for name in ("starts", "dense"))
    held = int(arrays["starts"][-1]) if starts else 0
    cuts = slices_in(size) - 1
    counts = {"starts": max(1, starts), "cuts": (starts - 1) * cuts, "memories": held}
    counts |= {"codes": held, "limits": 4 * 256, "dense": dense, "dense_cuts": dense * cuts}
    counts |= {"greatest": dense, "columns": dense * size}
    for name, kind in ARRAYS.items():
        array = arrays.get(name, np.empty(0))
        if (array.dtype, len(array)) != (np.dtype(kind), counts[name]):
            expected = f"{name} of {counts[name]} items of {np.dtype(kind)}"
            raise CorruptError(path, expected, f"{len(array)} of {array.dtype}")


@dataclass(frozen=True, slots=True)
class TextIndex:
    """The words of the first ``documents`` memories, or statements, as kernels take them.

    lists: the posting lists of ``segments``, which cover documents [0, listed). places: addresses
    of ``chains``, which hold the later ones, and of ``forward``.
    """

    documents: int
    segments: Sequence[Postings]
    lists: npt.NDArray[np.int64]
    chains: TailPostings
    forward: Forward
    places: npt.NDArray[np.int64]

    @classmethod
    def of(
        cls, documents: int, segments: Sequence[Postings], chains: TailPostings, forward: Forward
    ) -> "TextIndex":
        """Return the index of arrays, which it keeps alive."""
        lists = table([segment.lists for segment in segments])
        texts = places((chains.head, chains.postings, chains.counts, *forward))
        return cls(documents, segments, lists, chains, forward, texts)

    @property
    def listed(self) -> int:
        """How many documents have posting lists; perhaps newer ones too."""
        return self.segments[-1].end_memory if self.segments else 0

"""Which memories of a segment contain this term? Posting lists, immutable once built.

A segment's keyword index covers the memories [first_memory, end_memory), whose first rows are in
the segment. For each term it holds the memories, ascending, in 16 bits each (see
`recollex_kernels.words.postings.divide_postings`), and how much each may add to a score (see
`recollex_kernels.words.impacts`). Everything else that BM25 needs (document frequency, mean length)
comes from the view, so one index serves the present and every cut.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.errors import CorruptError
from recollex_engine.storage.content_file import read_arrays, whole_file, write_arrays
from recollex_engine.storage.formats import unknown_format
from recollex_kernels.words.impacts import grade_postings
from recollex_kernels.words.postings import build_postings, divide_postings
from recollex_kernels.words.segments import Lists, slices_in

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

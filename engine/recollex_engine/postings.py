"""Which memories of a segment contain this term? Posting lists, immutable once built.

A segment's keyword index covers the memories [first_memory, end_memory), those whose first row is
the segment's: for each term its memories, ascending, and what each may add to a score (see
`recollex_kernels.impacts`). Everything else that BM25 needs (document frequency, mean length) is
taken at the view, so one index serves the present and every cut.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.errors import FormatError
from recollex_engine.pack import read_pack, write_pack
from recollex_kernels.impacts import grade_postings
from recollex_kernels.postings import build_postings
from recollex_kernels.segments import Lists

FORMAT = 3
GRADED_BY = 0.9, 0.4
"""k1 and b by which codes are put in order; whatever a preset has, their limits hold."""
_ARRAYS = ("starts", "memories", "codes", "limits", "dense", "greatest", "columns")


@dataclass(frozen=True, slots=True)
class Postings:
    """The posting lists of memories [first_memory, end_memory).

    starts int64[V + 1], memories uint32[P] (absolute, ascending within a term), codes uint8[P];
    the others are what `grade_postings` returns with them.
    Invariant: the arrays never change, so readers take no lock; they may be maps of the file.
    """

    first_memory: int
    end_memory: int
    starts: npt.NDArray[np.int64]
    memories: npt.NDArray[np.uint32]
    codes: npt.NDArray[np.uint8]
    limits: npt.NDArray[np.uint32]
    dense: npt.NDArray[np.uint32]
    greatest: npt.NDArray[np.uint8]
    columns: npt.NDArray[np.uint8]
    outdated: bool = False
    """Whether the file is of an older format, so that the next checkpoint writes it anew."""

    @classmethod
    def build(
        cls,
        term_offset: npt.NDArray[np.uint64],
        term: npt.NDArray[np.uint32],
        lengths: npt.NDArray[np.uint32],
        first_memory: int,
        vocabulary: int,
    ) -> "Postings":
        """Invert the forward lists of the memories from ``first_memory`` on; O(their words).

        term_offset uint64[n + 1]: where the terms of each of the n memories begin and end.
        lengths uint32[n]: how many words each counts.
        """
        starts, memories, counts = build_postings(
            term_offset, term, 0, len(term_offset) - 1, vocabulary
        )
        memories += np.uint32(first_memory)
        return cls._graded(first_memory, starts, memories, counts, lengths)

    @classmethod
    def _graded(
        cls,
        first_memory: int,
        starts: npt.NDArray[np.int64],
        memories: npt.NDArray[np.uint32],
        counts: npt.NDArray[np.uint8],
        lengths: npt.NDArray[np.uint32],
    ) -> "Postings":
        end = first_memory + len(lengths)
        graded = grade_postings(starts, memories, counts, lengths, first_memory, end, *GRADED_BY)
        return cls(first_memory, end, starts, memories, *graded)

    @property
    def lists(self) -> Lists:
        """What the kernels know of a segment."""
        return (
            *(self.starts, self.memories, self.codes, self.limits, self.dense, self.greatest),
            *(self.columns, self.first_memory, self.end_memory),
        )

    def write(self, path: Path) -> None:
        """Freeze the lists into ``path``."""
        arrays: dict[str, npt.NDArray[Any]] = {name: getattr(self, name) for name in _ARRAYS}
        meta = {
            "format": FORMAT,
            "first_memory": self.first_memory,
            "end_memory": self.end_memory,
        }
        write_pack(path, arrays, meta)

    @classmethod
    def read(cls, path: Path, words: npt.NDArray[np.uint32]) -> "Postings":
        """Return the lists of ``path``, mapped.

        ``words``: how many each memory of the agent counts. Lists of format 2 have no codes, so
        they are graded here, 40 ms for 100,000 memories, until a checkpoint writes them.
        """
        arrays, meta = read_pack(path)
        first, end = meta["first_memory"], meta["end_memory"]
        if meta.get("format") == 2:
            return replace(cls._graded(first, **arrays, lengths=words[first:end]), outdated=True)
        if meta.get("format") != FORMAT:
            raise FormatError(f"{path}: posting lists of format {meta.get('format')}, not {FORMAT}")
        kept: dict[str, Any] = {name: arrays[name] for name in _ARRAYS}
        return cls(first, end, **kept)

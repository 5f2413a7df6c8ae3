"""Which memories of a segment contain this term? Posting lists, immutable once built.

A segment's keyword index covers the memories [first_memory, end_memory), those whose first row is
the segment's: for each term its memories, ascending, and how often the term occurs in each.
Everything else that BM25 needs (document frequency, mean length) is taken at the view, so one index
serves the present and every cut.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.errors import FormatError
from recollex_engine.pack import read_pack, write_pack
from recollex_kernels.postings import build_postings

FORMAT = 2


@dataclass(frozen=True, slots=True)
class Postings:
    """The posting lists of memories [first_memory, end_memory).

    starts int64[V + 1], memories uint32[P] (absolute, ascending within a term), counts uint8[P].
    Invariant: the arrays never change, so readers take no lock; they may be maps of the file.
    """

    first_memory: int
    end_memory: int
    starts: npt.NDArray[np.int64]
    memories: npt.NDArray[np.uint32]
    counts: npt.NDArray[np.uint8]

    @classmethod
    def build(
        cls,
        term_offset: npt.NDArray[np.uint64],
        term: npt.NDArray[np.uint32],
        first_memory: int,
        vocabulary: int,
    ) -> "Postings":
        """Invert the forward lists of the memories from ``first_memory`` on; O(their words).

        term_offset uint64[n + 1]: where the terms of each of the n memories begin and end.
        """
        starts, memories, counts = build_postings(
            term_offset, term, 0, len(term_offset) - 1, vocabulary
        )
        memories += np.uint32(first_memory)
        return cls(first_memory, first_memory + len(term_offset) - 1, starts, memories, counts)

    def write(self, path: Path) -> None:
        """Freeze the lists into ``path``."""
        arrays: dict[str, npt.NDArray[Any]] = {
            "starts": self.starts,
            "memories": self.memories,
            "counts": self.counts,
        }
        meta = {
            "format": FORMAT,
            "first_memory": self.first_memory,
            "end_memory": self.end_memory,
        }
        write_pack(path, arrays, meta)

    @classmethod
    def read(cls, path: Path) -> "Postings":
        """Return the lists of ``path``, mapped."""
        arrays, meta = read_pack(path)
        if meta.get("format") != FORMAT:
            raise FormatError(f"{path}: posting lists of format {meta.get('format')}, not {FORMAT}")
        return cls(meta["first_memory"], meta["end_memory"], **arrays)

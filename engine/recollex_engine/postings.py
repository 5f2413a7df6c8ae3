"""Which passages of a segment contain this term? Posting lists, immutable once built.

A segment's keyword index covers rows [first_row, end_row): for each term its rows, ascending, and
how often the term occurs in each. Everything else that BM25 needs (document frequency, mean
length) is taken at the view, so one index serves the present and every cut.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.errors import FormatError
from recollex_engine.pack import read_pack, write_pack
from recollex_kernels.keyword import build_postings

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Postings:
    """The posting lists of rows [first_row, end_row).

    starts int64[V + 1], rows uint32[P] (absolute, ascending within a term), counts uint8[P].
    Invariant: the arrays never change, so readers take no lock; they may be maps of the file.
    """

    first_row: int
    end_row: int
    starts: npt.NDArray[np.int64]
    rows: npt.NDArray[np.uint32]
    counts: npt.NDArray[np.uint8]

    @classmethod
    def build(
        cls,
        term_offset: npt.NDArray[np.uint64],
        term: npt.NDArray[np.uint32],
        first_row: int,
        end_row: int,
        vocabulary: int,
    ) -> "Postings":
        """Invert the forward lists of rows [first_row, end_row); cost O(their words)."""
        starts, rows, counts = build_postings(term_offset, term, first_row, end_row, vocabulary)
        return cls(first_row, end_row, starts, rows, counts)

    def write(self, path: Path) -> None:
        """Freeze the lists into ``path``."""
        arrays: dict[str, npt.NDArray[Any]] = {
            "starts": self.starts,
            "rows": self.rows,
            "counts": self.counts,
        }
        meta = {"format": FORMAT, "first_row": self.first_row, "end_row": self.end_row}
        write_pack(path, arrays, meta)

    @classmethod
    def read(cls, path: Path) -> "Postings":
        """Return the lists of ``path``, mapped."""
        arrays, meta = read_pack(path)
        if meta.get("format") != FORMAT:
            raise FormatError(f"{path}: posting lists of format {meta.get('format')}, not {FORMAT}")
        return cls(meta["first_row"], meta["end_row"], **arrays)

"""The WordPiece ids of passages, stored beside the text so that no reranker tokenizes them again.

The embedder tokenizes every passage when it is written. The ids go into the log and serve every
model with the same vocabulary (see `models.embedder`); the uncased English BERTs share one. The
log holds::

    vocabulary  {"name": NAME}                     an operation: the vocabulary of the ids after it
    retain      {..., "pieces": [TEXT, ...]}       for each passage, uint16 in base64, no padding

The ids are those of the text that a reranker reads for the passage (`Candidates.texts`), without
special tokens, at most `MOST_PIECES`. A retain has no ids if the caller gave the vectors, or if the
model has no shareable vocabulary. Then they are made from the text when they are needed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.log.format import decode_bytes, encode_bytes
from recollex_engine.models.embedder import MOST_PIECES, TokenIds
from recollex_engine.state.view import View

VOCABULARY = "vocabulary"
"""The kind of the operation that names the vocabulary of the ids after it."""


@dataclass(frozen=True, slots=True, eq=False)
class PassagePieces:
    """The ids of a memory's passages, one array each, and the name of their vocabulary."""

    vocabulary: str
    ids: tuple[TokenIds, ...]

    def encoded(self) -> list[str]:
        """Return the ids of each passage in base64, as a record of the log holds them."""
        return [
            encode_bytes(ids[:MOST_PIECES].astype("<u2", copy=False).tobytes()).decode()
            for ids in self.ids
        ]


def decode_pieces(text: str) -> bytes:
    """Return the bytes (little-endian uint16) of one passage's ids in a record."""
    return decode_bytes(text.encode())


@dataclass(frozen=True, slots=True, eq=False)
class RowPieces:
    """The ids of some rows: ids[starts[i]:ends[i]] for row i, empty if none are stored."""

    ids: TokenIds
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]


def find_pieces(
    view: View, rows: npt.NDArray[np.unsignedinteger[Any]], vocabulary: str | None
) -> RowPieces | None:
    """Return the ids of ``rows`` in a vocabulary; None if ``view`` holds no ids in it.

    Cost: 10 us, and reading the column, which may be a map of its file.
    """
    if vocabulary is None or not view.has_pieces:
        return None
    columns = view.columns
    since = columns.array("vocabulary_row")  # read first, because it is written last
    fits = [columns.label(label) == vocabulary for label in columns.array("vocabulary").tolist()]
    if not any(fits):
        return None
    places = rows.astype(np.int64)
    offsets = view.buffer("piece_offset")
    starts = offsets[places].astype(np.int64)
    ends = offsets[places + 1].astype(np.int64)
    if not all(fits):
        of = np.searchsorted(since, places, side="right") - 1
        ends = np.where(np.array(fits)[of], ends, starts)
    return RowPieces(view.buffer("piece"), starts, ends)

"""What did a model's tokenizer make of each passage? Its ids, stored beside the text.

The embedder reads every passage when it is written; what its tokenizer made of it goes into the
log, and serves every model of that vocabulary (see `models.vocabulary`) without a tokenizer at
hand: the English BERTs that make all letters small share one. The log says::

    vocabulary  {"name": NAME}                     an operation: whose ids those are that follow it
    retain      {..., "pieces": [TEXT, ...]}       of each passage, uint16 in base64, no padding

The ids are those of what a reranker reads of the passage (`Candidates.texts`), without special
tokens, at most `MOST_PIECES`. A retain has none where the caller gave the vectors, or where the
model has no vocabulary that could be shared: then they are made from the text when they are needed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.log.format import decode_bytes, encode_bytes
from recollex_engine.models.vocabulary import MOST_PIECES, Ids
from recollex_engine.state.view import View

VOCABULARY = "vocabulary"
"""The kind of operation that names the vocabulary of the ids behind it."""


@dataclass(frozen=True, slots=True, eq=False)
class PassagePieces:
    """The ids of a memory's passages, an array each, and the name of their vocabulary."""

    vocabulary: str
    ids: tuple[Ids, ...]

    def encoded(self) -> list[str]:
        """Return the ids as a record of the log holds them."""
        return [
            encode_bytes(ids[:MOST_PIECES].astype("<u2", copy=False).tobytes()).decode()
            for ids in self.ids
        ]


def decode_pieces(text: str) -> bytes:
    """Return the bytes of the ids of one passage, given as a record holds them."""
    return decode_bytes(text.encode())


@dataclass(frozen=True, slots=True, eq=False)
class RowPieces:
    """The ids of some rows: those of row i are ids[starts[i]:ends[i]], none where none fit."""

    ids: Ids
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]


def find_pieces(
    view: View, rows: npt.NDArray[np.unsignedinteger[Any]], vocabulary: str | None
) -> RowPieces | None:
    """Return the ids of ``rows`` in a vocabulary; None where ``view`` holds none in it.

    Cost: 10 us and what is read of the column, which may be a map of its file.
    """
    if vocabulary is None or not view.has_pieces:
        return None
    columns = view.columns
    since = columns.array("vocabulary_row")  # first: it is written last
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

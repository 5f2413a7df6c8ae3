"""Encodes a result as bytes for a socket, on the thread that made it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from recollex.remote.wire.codec import encode
from recollex.remote.wire.received import ReceivedFacts
from recollex_engine.facts.facts import FactList

_LISTS = (list, FactList)


class EncodedResult(NamedTuple):
    """A result as bytes: the encoded chunks of its list, and the rest, which follows them."""

    chunks: Sequence[bytes]
    result: bytes


@dataclass(frozen=True, slots=True)
class ResultEncoder:
    """Encodes a result; a list in chunks of ``chunk_items``, if it has more.

    The response to a list in chunks holds no items: `remote.wire.chunks.joined` joins them.
    deflate: compress arrays.
    """

    chunk_items: int | None
    deflate: bool

    def __call__(self, result: Any) -> EncodedResult:
        """Return a result as bytes."""
        most = self.chunk_items
        if most is None or not isinstance(result, _LISTS) or len(result) <= most:
            return EncodedResult((), encode(result, self.deflate))
        chunks = [
            encode(list(result[first : first + most]), self.deflate)
            for first in range(0, len(result), most)
        ]
        rest = ReceivedFacts.emptied(result) if isinstance(result, FactList) else []
        return EncodedResult(chunks, encode(rest))


WHOLE = ResultEncoder(None, False)
DEFLATED = ResultEncoder(None, True)

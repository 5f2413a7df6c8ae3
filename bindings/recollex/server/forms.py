"""What becomes of a result on its way to a socket? Bytes, made in the thread that worked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from recollex.wire.packing import pack
from recollex.wire.received import ReceivedFacts
from recollex_engine.facts.facts import FactList

_LISTS = (list, FactList)


class Packed(NamedTuple):
    """A result as bytes: lists of items that go before it, each packed, and what is left of it."""

    parts: Sequence[bytes]
    result: bytes


@dataclass(frozen=True, slots=True)
class InParts:
    """Packs a result; a list in parts of ``items``, if it has more. deflate: compress arrays.

    Of a list in parts the response holds no items: `recollex.wire.parts.joined` joins them.
    """

    items: int | None
    deflate: bool

    def __call__(self, result: Any) -> Packed:
        """Return a result as bytes."""
        if self.items is None or not isinstance(result, _LISTS) or len(result) <= self.items:
            return Packed((), pack(result, self.deflate))
        parts = [
            pack(list(result[first : first + self.items]), self.deflate)
            for first in range(0, len(result), self.items)
        ]
        rest = ReceivedFacts.emptied(result) if isinstance(result, FactList) else []
        return Packed(parts, pack(rest))


WHOLE = InParts(None, False)
DEFLATED = InParts(None, True)

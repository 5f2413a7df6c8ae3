"""Why is a memory no longer current? Its closure, and the memory that another one replaced."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from recollex_engine.clock import from_micros
from recollex_engine.domain.schema import ENDS, NONE
from recollex_engine.state.view import View

Closed: TypeAlias = tuple[int, str, str | None, str | None]
"""(recorded time in microseconds UTC, how, by, why)."""


@dataclass(frozen=True, slots=True)
class Closure:
    """How a memory left the present: "archived", "amended", "corrected", "replaced", "forgotten".

    at: the recorded time. by, why: as the caller of that operation gave them, None if not given.
    """

    at: datetime
    how: str
    by: str | None
    why: str | None

    @classmethod
    def of(cls, closed: Closed | None) -> "Closure | None":
        """Return the closure of what `closed_by` returned; None for an open memory."""
        return None if closed is None else cls(from_micros(closed[0]), *closed[1:])

    def to_dict(self) -> dict[str, Any]:
        """Return the closure as JSON values."""
        return {"at": self.at.isoformat(), "how": self.how, "by": self.by, "why": self.why}


def closed_by(view: View, memory: int) -> Closed | None:
    """Return how a memory was closed, or None if it is open in the view.

    A correction that left the text has amended it.
    """
    ended_by, forgotten_by = (
        view.buffer(name).item(memory) for name in ("closed_by", "forgotten_by")
    )
    op = forgotten_by if 0 < forgotten_by <= view.op else ended_by
    if not 0 < op <= view.op:
        return None
    label = view.columns.label
    kind, by, why = (
        label(int(view.buffer(name)[op - 1])) for name in ("op_kind", "op_by", "op_why")
    )
    how = ENDS[kind or ""]
    if kind == "correct":  # it recorded one memory: the next version
        after = view.buffer("op_memories").item(op - 1) - 1
        how = "amended" if _text(view, memory) == _text(view, after) else how
    return int(view.buffer("op_recorded_at")[op - 1]), how, by, why


def _text(view: View, memory: int) -> bytes:
    start, end = view.buffer("text_offset")[memory : memory + 2].tolist()
    return view.buffer("text")[start:end].tobytes()


# The memory that another one replaced: the version before a correction.
Replaced: TypeAlias = tuple[str, int, int, Closed]
"""(text, said and recorded in microseconds UTC, how it was closed)."""


@dataclass(frozen=True, slots=True)
class Predecessor:
    """What a memory said before it was replaced, by `correct` or by a `retain` with its id.

    id: of both. text: the whole text. event_at, recorded_at: when it was said, and retained.
    closed: when, how ("corrected" or "replaced"), by whom and why it was replaced. Earlier versions
    are in `Agent.history`.
    """

    id: str
    text: str
    event_at: datetime
    recorded_at: datetime
    closed: Closure

    @classmethod
    def of(cls, id: str, replaced: Replaced | None) -> "Predecessor | None":
        """Return the predecessor of memory ``id``, as `replaced_by` gave it."""
        if replaced is None:
            return None
        text, said, recorded, closed = replaced
        closure = Closure(from_micros(closed[0]), *closed[1:])
        return cls(id, text, from_micros(said), from_micros(recorded), closure)

    def to_dict(self) -> dict[str, Any]:
        """Return the predecessor as JSON values, times in ISO 8601."""
        return {
            "id": self.id,
            "text": self.text,
            "event_at": self.event_at.isoformat(),
            "recorded_at": self.recorded_at.isoformat(),
            "closed": self.closed.to_dict(),
        }


def replaced_by(view: View, memory: int) -> Replaced | None:
    """Return the memory that the operation of ``memory`` closed as the version before it.

    None for a first version, and for a memory that was retained again after its id was archived or
    forgotten. Every view that shows a memory gives the same. Cost: about 3 us for a predecessor.
    """
    items = view.items
    before = items["previous"][memory]
    if before == NONE or items["closed_by"][before] != items["op"][memory]:
        return None
    # the operation that recorded a memory is in every view that shows the memory
    closed = closed_by(view, before)
    if closed is None:
        return None
    start = items["text_offset"][before]
    end = items["text_offset"][before + 1]
    recorded = items["op_recorded_at"][items["op"][before] - 1]
    text = str(items["text"][start:end], "utf-8", "replace") if end > start else ""
    return text, items["said_at"][before], recorded, closed

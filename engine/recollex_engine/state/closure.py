"""Closures: when, how, by whom and why a memory left the present."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from recollex_engine.clock import from_micros
from recollex_engine.domain.schema import ENDS
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

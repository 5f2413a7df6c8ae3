"""How does a memory leave the present?"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from recollex_engine.clock import from_micros
from recollex_engine.domain.schema import ENDS
from recollex_engine.state.view import View

Closed: TypeAlias = tuple[int, str, str | None, str | None]
"""Microseconds, how, by, why."""


@dataclass(frozen=True, slots=True)
class Closure:
    """How a memory left the present: "archived", "corrected", "replaced" or "forgotten".

    by, why: as whoever did it said, None if they did not.
    """

    at: datetime
    how: str
    by: str | None
    why: str | None

    @classmethod
    def of(cls, closed: Closed | None) -> "Closure | None":
        """Return the closure that `closed_by` tells; None for what is open."""
        return None if closed is None else cls(from_micros(closed[0]), *closed[1:])

    def to_dict(self) -> dict[str, Any]:
        """Return the closure as JSON values."""
        return {"at": self.at.isoformat(), "how": self.how, "by": self.by, "why": self.why}


def closed_by(view: View, ended_by: int, forgotten_by: int) -> Closed | None:
    """Return what the operation says that closed a memory, if it is closed in the view."""
    op = forgotten_by if 0 < forgotten_by <= view.op else ended_by
    if not 0 < op <= view.op:
        return None
    label = view.columns.label
    kind, by, why = (
        label(int(view.buffer(name)[op - 1])) for name in ("op_kind", "op_by", "op_why")
    )
    return int(view.buffer("op_recorded_at")[op - 1]), ENDS[kind or ""], by, why

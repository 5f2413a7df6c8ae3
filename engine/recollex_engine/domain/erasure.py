"""What is to be erased, and what was: the arguments and the result of an erasure."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollex_engine.domain.filter import EVERYTHING, Filter
from recollex_engine.errors import InputError


@dataclass(frozen=True, slots=True)
class Selection:
    """Memories to erase: those that meet the filter, open or not, with all versions of their ids.

    ids: any of these; none for all. everything: all of the agent, without a filter.
    """

    ids: tuple[str, ...] = ()
    filter: Filter = EVERYTHING
    everything: bool = False

    def __post_init__(self) -> None:
        filters = bool(self.ids or self.filter)
        if filters == self.everything:
            raise InputError(
                "say what to erase: a filter, such as id or document_id, or everything"
                if not filters
                else "everything goes without a filter"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """What an erasure took away, or would take away.

    memories: how many, each version counted. passages: theirs. facts, events: versions of those
    that had no other source. op, recorded_at: of the operation in the log; None for a preview, and
    where nothing was erased.
    """

    memories: int
    passages: int
    facts: int
    events: int
    op: int | None = None
    recorded_at: datetime | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the erasure as JSON values."""
        at = None if self.recorded_at is None else self.recorded_at.isoformat()
        return {
            "memories": self.memories,
            "passages": self.passages,
            "facts": self.facts,
            "events": self.events,
            "op": self.op,
            "recorded_at": at,
        }

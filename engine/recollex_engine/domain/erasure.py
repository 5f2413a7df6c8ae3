"""What is to be erased, and what was: the arguments and the result of an erasure."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recollex_engine.domain.checks import MAX_NAME, check_text
from recollex_engine.domain.question import Question
from recollex_engine.domain.trust import stamp
from recollex_engine.errors import InputError


@dataclass(frozen=True, slots=True)
class Selection:
    """Memories to erase: those that meet every filter, open or not, with all versions of their ids.

    ids: any of these. speaker: who said it. source: where it comes from, as stamped. networks,
    since, until, tags, where, entities and document: as of a `Question`. everything: all of the
    agent, without a filter.
    """

    ids: tuple[str, ...] = ()
    speaker: str | None = None
    source: str | None = None
    networks: tuple[int, ...] | None = None
    since: int | None = None
    until: int | None = None
    tags: tuple[str, ...] = ()
    where: dict[str, Any] = field(default_factory=dict)
    entities: tuple[str, ...] = ()
    document: str | None = None
    everything: bool = False

    def __post_init__(self) -> None:
        if self.speaker is not None:
            check_text(self.speaker, "speaker", MAX_NAME)
        stamp(self.source)
        said = self.ids, self.speaker, self.source, self.tags, self.where, self.entities
        filters = any((*said, self.document))
        bounds = (self.networks, self.since, self.until)
        filters = filters or any(each is not None for each in bounds)
        if filters == self.everything:
            raise InputError(
                "say what to erase: a filter, such as id or document_id, or everything=True"
                if not filters
                else "everything=True goes without a filter"
            )

    @property
    def question(self) -> Question:
        """The filters that a recall has too."""
        return Question(
            "-",
            networks=self.networks,
            since=self.since,
            until=self.until,
            tags=self.tags,
            where=self.where,
            entities=self.entities,
            document=self.document,
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

"""Which operations may change an agent? Those of MemoTrace's DSL, checked when they are made.

Each becomes one record of the log. An entity is given by any of its names; a new name makes a new
entity. Times are microseconds UTC.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from recollex_engine.domain.checks import (
    MAX_IDS,
    MAX_NAME,
    MAX_NAMES,
    check_count,
    check_flag,
    check_given_id,
    check_ids,
    check_names,
    check_number,
    check_text,
)
from recollex_engine.domain.fact_schema import ALIAS_OF, HAS_ATTRIBUTE, MENTIONED_IN
from recollex_engine.domain.ids import content_id
from recollex_engine.domain.intervals import Span, check_interval
from recollex_engine.domain.literals import FactObject, Mention, Source, to_record
from recollex_engine.domain.memory_operations import (
    Archive,
    Correct,
    Extract,
    Forget,
    Form,
    Retain,
    Think,
)
from recollex_engine.errors import InputError
from recollex_engine.fork import cached_property
from recollex_engine.text.names import fold_name


@dataclass(frozen=True)
class UpsertEntity:
    """Record an entity: its name, its other names, and its types."""

    name: str
    aliases: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    word: ClassVar[str] = "UPSERT_ENTITY"

    def __post_init__(self) -> None:
        check_text(self.name, "name", MAX_NAME)
        check_names(self.aliases, "aliases")
        check_names(self.types, "types")


@dataclass(frozen=True)
class MergeEntity:
    """Record that ``source`` is the same entity as ``target``, which names both from now on."""

    source: str
    target: str
    word: ClassVar[str] = "MERGE_ENTITY"

    def __post_init__(self) -> None:
        check_text(self.source, "source", MAX_NAME)
        check_text(self.target, "target", MAX_NAME)


@dataclass(frozen=True)
class SplitEntity:
    """Record that ``source`` is an entity of its own again: what was merged by it is parted.

    If it was not merged, but is a name that joined an entity when it was recorded, it becomes an
    entity of its own. ``name``: the name that is meant, if ``source`` is another of the entity.
    """

    source: str
    name: str | None = None
    word: ClassVar[str] = "SPLIT_ENTITY"

    def __post_init__(self) -> None:
        check_text(self.source, "source", MAX_NAME)
        if self.name is not None:
            check_text(self.name, "name", MAX_NAME)


@dataclass(slots=True)  # made a million times: a frozen class takes three times as long to make
class UpsertEdge:
    """Record a fact: ``subject`` ``predicate`` ``object``, true in [start, end) of the world.

    If a fact with the same id is open, this one replaces that version, or changes nothing if they
    are equal. Without ``given_id`` the id is computed from subject, predicate, object and start.
    embed: whether it is found by meaning too, or by its words alone.
    """

    subject: str
    predicate: str
    object: FactObject
    _: KW_ONLY
    start: int | None = None
    end: int | None = None
    evidence: tuple[str, ...] = ()
    source: Source | None = None
    mentions: tuple[Mention, ...] = ()
    confidence: float = 1.0
    uncertainty: str | None = None
    given_id: str | None = None
    embed: bool = True
    id: str = field(init=False, repr=False, compare=False)
    """The fact's id."""
    word: ClassVar[str] = "UPSERT_EDGE"

    def __post_init__(self) -> None:
        check_text(self.subject, "subject", MAX_NAME)
        check_text(self.predicate, "predicate", MAX_NAME)
        record = to_record(self.object)
        check_range(self.predicate, record)
        check_interval(self.start, self.end, "valid")
        if self.given_id is not None:
            check_given_id(self.given_id)
        check_flag(self.embed, "embed")
        _check_circumstances(
            self.evidence, self.source, self.mentions, self.confidence, self.uncertainty
        )
        id = self.given_id
        if id is None:
            said = {"entity": fold_name(record["entity"])} if "entity" in record else record
            id = content_id("fact", fold_name(self.subject), self.predicate, said, self.start)
        self.id = id


@dataclass(frozen=True)
class ArchiveEdge:
    """Close a fact: no later view sees it.

    With a start or an end, the fact is closed only for that period of valid time. The part that is
    left is recorded as a correction; where the period leaves a part on both sides, the later part
    becomes a fact of its own.
    """

    id: str
    start: int | None = None
    end: int | None = None
    word: ClassVar[str] = "ARCHIVE_EDGE"

    def __post_init__(self) -> None:
        check_given_id(self.id)
        check_interval(self.start, self.end, "valid")

    @property
    def during(self) -> Span:
        """The period for which the fact is closed."""
        return check_interval(self.start, self.end, "valid")


@dataclass(frozen=True)
class RetroCorrect:
    """Close a version of a fact and open the next; ``changes`` holds the fields that differ.

    Fields: object, start, end, evidence, source, mentions, confidence, uncertainty.
    """

    id: str
    changes: dict[str, Any] = field(default_factory=dict)
    word: ClassVar[str] = "RETRO_CORRECT"
    FIELDS: ClassVar[tuple[str, ...]] = (
        "object",
        "start",
        "end",
        "evidence",
        "source",
        "mentions",
        "confidence",
        "uncertainty",
    )

    def __post_init__(self) -> None:
        check_given_id(self.id)
        if not self.changes:
            raise InputError(f"a correction must change one of {', '.join(self.FIELDS)}")
        if "object" in self.changes:
            to_record(self.changes["object"])
        if unknown := set(self.changes) - set(self.FIELDS):
            raise InputError(f"a correction may change {', '.join(self.FIELDS)}, got {unknown}")
        given = self.changes.get
        _check_circumstances(
            given("evidence", ()),
            given("source"),
            given("mentions", ()),
            given("confidence", 1.0),
            given("uncertainty"),
        )


@dataclass(frozen=True)
class UpsertEvent:
    """Record an event: who took part, when, and the facts that it sums up.

    ``participants``: pairs (name, role). ``times``: microseconds, datetimes of another zone than
    UTC, or texts. An event with the same id is replaced, together with what its UPSERT_EVENT
    recorded; links to it stay.
    """

    summary: str
    _: KW_ONLY
    participants: tuple[tuple[str, str | None], ...] = ()
    facts: tuple[str, ...] = ()
    start: int | None = None
    end: int | None = None
    status: str = "happened"
    times: tuple[int | str | datetime, ...] = ()
    mentions: tuple[Mention, ...] = ()
    given_id: str | None = None
    word: ClassVar[str] = "UPSERT_EVENT"

    def __post_init__(self) -> None:
        check_text(self.summary, "summary", MAX_NAME * 10)
        check_text(self.status, "status", MAX_NAME)
        if len(self.participants) > MAX_NAMES:
            raise InputError(
                f"participants may have up to {MAX_NAMES} items, got {len(self.participants)}"
            )
        for name, role in self.participants:
            check_text(name, "participants", MAX_NAME)
            if role is not None:
                check_text(role, "role", MAX_NAME)
        check_ids(self.facts, "includes_fact")
        _check_mentions(self.mentions)
        check_interval(self.start, self.end, "time_span")
        if self.given_id is not None:
            check_given_id(self.given_id)

    @cached_property
    def id(self) -> str:
        """The event's id: its own, or that of its summary and span."""
        if self.given_id is not None:
            return self.given_id
        return content_id("event", self.summary, self.start, self.end)


@dataclass(frozen=True)
class Link:
    """Record an edge from an event to an event, an entity (by name), a time or a mention."""

    source: str
    relation: str
    target: str | int | datetime | Mention
    qualifier: str | None = None
    word: ClassVar[str] = "LINK"
    RELATIONS: ClassVar[dict[str, str]] = {
        "role": "has_participant",
        "temporal": "has_time",
        "causal": "causes",
        "coref": "corefers",
        "subevent": "subevent_of",
    }
    ALLOWED: ClassVar[tuple[str, ...]] = (
        "has_participant",
        "has_time",
        "related_to",
        "subevent_of",
        "causes",
        "corefers",
        "mentioned_in",
    )

    def __post_init__(self) -> None:
        check_text(self.source, "source", MAX_NAME)
        relation = self.RELATIONS.get(self.relation, self.relation)
        if relation not in self.ALLOWED:
            known = ", ".join((*self.ALLOWED, *self.RELATIONS))
            raise InputError(f"relation must be one of {known}, got {self.relation!r}")
        if relation == "has_time" and isinstance(self.target, str):
            relation = "has_time_text"
        kinds = {"has_time": (int, datetime), "mentioned_in": (Mention,)}.get(relation, (str,))
        if isinstance(self.target, bool) or not isinstance(self.target, kinds):
            wanted = "a time or a text" if relation == "has_time" else kinds[0].__name__
            raise InputError(f"the target of {self.relation} must be {wanted}, got {self.target!r}")
        if isinstance(self.target, str):
            check_text(self.target, "target", MAX_NAME)
        if self.qualifier is not None:
            check_text(self.qualifier, "qualifier", MAX_NAME)
        if self.source == self.target:
            raise InputError(f"an event cannot be linked to itself: {self.source!r}")
        object.__setattr__(self, "relation", relation)


@dataclass(frozen=True)
class UpsertEpisode:
    """Record an episode: a group of events. It is visible through them and is never evidence."""

    title: str
    events: tuple[str, ...]
    start: int | None = None
    end: int | None = None
    given_id: str | None = None
    word: ClassVar[str] = "UPSERT_EPISODE"

    def __post_init__(self) -> None:
        check_text(self.title, "title", MAX_NAME * 10)
        check_ids(self.events, "events")
        if not self.events:
            raise InputError("events is empty: an episode is visible through its events alone")
        check_interval(self.start, self.end, "window")
        if self.given_id is not None:
            check_given_id(self.given_id)

    @cached_property
    def id(self) -> str:
        """The episode's id: its own, or that of its title and window."""
        if self.given_id is not None:
            return self.given_id
        return content_id("episode", self.title, self.start, self.end)


@dataclass(frozen=True)
class Undo:
    """Record facts, events and episodes again as they were before operation ``op`` of the log.

    The operations of its transaction that have the same ``by`` and ``why`` are undone with it.
    Memories, entities and links stay.
    """

    op: int
    word: ClassVar[str] = "UNDO"

    def __post_init__(self) -> None:
        check_count(self.op, "op", 1, 2**63 - 1)


Operation = (
    Retain
    | Forget
    | Archive
    | Correct
    | Extract
    | Think
    | Form
    | UpsertEntity
    | MergeEntity
    | SplitEntity
    | UpsertEdge
    | ArchiveEdge
    | RetroCorrect
    | UpsertEvent
    | Link
    | UpsertEpisode
    | Undo
)


_RANGES: dict[str, tuple[str, ...]] = {
    ALIAS_OF: ("entity",),
    MENTIONED_IN: ("mention",),
    HAS_ATTRIBUTE: ("text", "number", "boolean", "time"),
}
"""The kinds that the object of each of MemoTrace's own relations may have."""


def check_range(predicate: str, record: dict[str, Any]) -> None:
    """Raise `InputError` if the object of one of MemoTrace's relations has a wrong kind."""
    wanted = _RANGES.get(predicate)
    if wanted is None:
        return
    (kind,) = record
    if kind not in wanted:
        raise InputError(
            f"the object of {predicate} must be of kind {' or '.join(wanted)}, got {kind}"
        )


def _check_circumstances(
    evidence: Any, source: Any, mentions: Any, confidence: Any, uncertainty: Any
) -> None:
    """Check the fields of a fact beside its subject, predicate, object and time."""
    check_ids(evidence, "evidence")
    _check_mentions(mentions)
    if source is not None and not isinstance(source, Source):
        raise InputError(f"source must be a Source(uri, hash), got {type(source).__name__}")
    check_number(confidence, "confidence", 0, 1)
    if uncertainty is not None:
        check_text(uncertainty, "uncertainty", MAX_NAME)


def _check_mentions(values: Sequence[Mention]) -> None:
    if values == ():  # as most are
        return
    if not isinstance(values, Sequence) or not all(isinstance(each, Mention) for each in values):
        raise InputError("mentions must be a list of Mention(document, span, text)")
    if len(values) > MAX_IDS:
        raise InputError(f"mentions may have up to {MAX_IDS:,} items, got {len(values):,}")

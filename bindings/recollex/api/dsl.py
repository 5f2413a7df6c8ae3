"""Operations as JSON: each is an object, whose ``op`` is one of MemoTrace's words.

::

    {"op": "RETAIN", "id": ..., "text": ...}                     and the fields of `Agent.retain`
    {"op": "FORGET", "id": ...}                                  one id, or a list
    {"op": "ARCHIVE", "id": ...}
    {"op": "CORRECT", "id": ..., "text": ...}                    and the fields of `Agent.correct`
    {"op": "UPSERT_ENTITY", "name": ..., "aliases": [], "types": []}
    {"op": "MERGE_ENTITY", "source": NAME, "target": NAME}
    {"op": "SPLIT_ENTITY", "source": NAME, "name": NAME}         without a name, the source
    {"op": "UPSERT_EDGE", "subject": NAME, "predicate": ..., "object": OBJECT, "valid": SPAN,
     "evidence": [IDS], "source": {"uri": ..., "hash": ...}, "mentions": [MENTIONS],
     "confidence": 0.9, "uncertainty": ..., "id": ...}
    {"op": "RETRO_CORRECT", "id": ..., "valid_end": TIME}        and any of the fields above
    {"op": "ARCHIVE_EDGE", "id": ..., "valid": SPAN}             without a span, all of it
    {"op": "UPSERT_EVENT", "summary": ..., "participants": [{"name": ..., "role": ...}],
     "includes_fact": [IDS], "time_span": SPAN, "status": ..., "times": [], "mentions": []}
    {"op": "LINK", "source": ID, "relation": ..., "target": ..., "qualifier": ...}
    {"op": "UPSERT_EPISODE", "title": ..., "events": [IDS], "window": SPAN}

    OBJECT  = "NAME" of an entity, a number, true or false, {"text": ...}, {"time": ...},
              {"entity": ...} or {"mention": MENTION}
    SPAN    = [TIME, TIME], null for an open end, or words such as "from 1811 to 1827"
    MENTION = {"document": ..., "span": [0, 5], "text": ...}

Every object may say ``by``, ``why`` and ``recorded_at``. The paper's own field names (src, rel,
dst, canonical_name, edge_id, record, record_end, role) are understood too. In a file each line is a
transaction by itself; lines between {"op": "BEGIN"} and {"op": "COMMIT"} are one together.
"""

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any

from recollex.api import valid_times
from recollex.api.arguments import (
    as_entities,
    as_list,
    checked_note,
    instant,
    one_or_more,
    read_changes,
)
from recollex.api.foreign_files import parse_json
from recollex.api.iso_times import parse_time
from recollex_engine.clock import to_micros
from recollex_engine.dates.locales import DAY_FIRST
from recollex_engine.domain.ids import random_id
from recollex_engine.domain.literals import FactObject, Mention, Source, Text
from recollex_engine.domain.memory_operations import Archive, Correct, Forget, Retain
from recollex_engine.domain.operations import (
    ArchiveEdge,
    Link,
    MergeEntity,
    Operation,
    RetroCorrect,
    SplitEntity,
    UpsertEdge,
    UpsertEntity,
    UpsertEpisode,
    UpsertEvent,
)
from recollex_engine.domain.statement import Statement, network_number
from recollex_engine.domain.trust import UNKNOWN, Stamp
from recollex_engine.errors import InputError, OperationError

# Which fields has each operation in JSON, and by which other names? See `dsl`.
SAME = {
    "src": {"UPSERT_EDGE": "subject", "MERGE_ENTITY": "source", "LINK": "source"},
    "dst": {
        "UPSERT_EDGE": "object",
        "RETRO_CORRECT": "object",
        "MERGE_ENTITY": "target",
        "LINK": "target",
    },
    "rel": {"UPSERT_EDGE": "predicate", "LINK": "relation"},
    "src_id": {"MERGE_ENTITY": "source"},
    "dst_id": {"MERGE_ENTITY": "target"},
    "edge_id": {"UPSERT_EDGE": "id", "ARCHIVE_EDGE": "id", "RETRO_CORRECT": "id"},
    "canonical_name": {"UPSERT_ENTITY": "name"},
    "facts": {"UPSERT_EVENT": "includes_fact"},
    "span": {"UPSERT_EVENT": "time_span"},
    "role": {"LINK": "qualifier"},
    "event": {"LINK": "source"},
}
"""The paper's name of a field -> operation -> the name that is used here."""
COMMON = ("op", "by", "why", "recorded_at")
"""The fields of every operation."""
_MEMORY = "text event_at network context tags metadata valid_until"
_EDGE = "object valid evidence source mentions confidence uncertainty"
FIELDS: dict[str, tuple[str, ...]] = {
    word: tuple(names.split())
    for word, names in {
        "RETAIN": f"{_MEMORY} id document_id entities",
        "FORGET": "id",
        "ARCHIVE": "id",
        "CORRECT": f"id {_MEMORY}",
        "UPSERT_ENTITY": "name aliases types",
        "MERGE_ENTITY": "source target",
        "SPLIT_ENTITY": "source name",
        "UPSERT_EDGE": f"subject predicate id {_EDGE}",
        "ARCHIVE_EDGE": "id valid",
        "RETRO_CORRECT": f"id valid_start valid_end {_EDGE}",
        "UPSERT_EVENT": "summary participants includes_fact time_span status times mentions id",
        "LINK": "source relation target qualifier",
        "UPSERT_EPISODE": "title window events id",
        "BEGIN": "",
        "COMMIT": "",
    }.items()
}
"""Operation -> its fields. The source of a memory is not among them: only the caller gives it."""
NEEDED: dict[str, tuple[str, ...]] = {
    "RETAIN": ("text",),
    "FORGET": ("id",),
    "ARCHIVE": ("id",),
    "CORRECT": ("id",),
    "UPSERT_ENTITY": ("name",),
    "MERGE_ENTITY": ("source", "target"),
    "SPLIT_ENTITY": ("source",),
    "UPSERT_EDGE": ("subject", "predicate", "object"),
    "ARCHIVE_EDGE": ("id",),
    "RETRO_CORRECT": ("id",),
    "UPSERT_EVENT": ("summary",),
    "LINK": ("source", "relation", "target"),
    "UPSERT_EPISODE": ("title", "events"),
}
"""Operation -> the fields that it must have."""


# The values inside an operation in JSON: mentions, sources, participants.
def recorded_start(value: Any) -> Any:
    """Return when an operation is recorded, from MemoTrace's ``record`` and ``record_end``."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return value
    if len(value) != 2 or value[1] is not None:
        raise InputError(
            f"record must be [start, null]: an end is recorded by ARCHIVE_EDGE or RETRO_CORRECT, "
            f"got {value!r}"
        )
    return value[0]


def participant(value: Any) -> tuple[Any, Any]:
    """Return (name, role) of a participant."""
    if isinstance(value, str):
        return value, None
    if isinstance(value, Mapping) and "name" in value and set(value) <= {"name", "role"}:
        return value["name"], value.get("role")
    if isinstance(value, Sequence) and len(value) == 2:
        return value[0], value[1]
    raise InputError(f'participants must be names or {{"name": ..., "role": ...}}, got {value!r}')


def source_of(value: Any) -> Source | None:
    """Return a source that was given as a URI or as an object."""
    if value is None or isinstance(value, Source):
        return value
    if isinstance(value, str):
        return Source(value)
    if isinstance(value, Mapping) and "uri" in value and set(value) <= {"uri", "hash"}:
        return Source(value["uri"], value.get("hash"))
    raise InputError(f'source must be {{"uri": ..., "hash": ...}}, got {value!r}')


def mentions_of(values: Any) -> tuple[Mention, ...]:
    """Return mentions that were given as objects."""
    found = []
    for value in as_list(values, "mentions"):
        if isinstance(value, Mention):
            found.append(value)
        elif isinstance(value, Mapping) and set(value) == {"document", "span", "text"}:
            found.append(Mention(value["document"], value["span"], value["text"]))
        else:
            raise InputError(
                f'a mention must be {{"document": ..., "span": [0, 5], "text": ...}}, got {value!r}'
            )
    return tuple(found)


# The object of a fact as JSON: a name, a number, a boolean, or an object that says its kind.
def read_object(value: Any, moment: Callable[[object, str], datetime]) -> FactObject:
    """Return the object of a fact; ``moment`` reads a time, whose name in errors it takes.

    Raises `InputError`.

    >>> read_object({"text": "blue"}, None), read_object("Rome", None), read_object(3, None)
    (Text(value='blue'), 'Rome', 3)
    """
    if not isinstance(value, Mapping):
        return value  # type: ignore[no-any-return]  # checked by the engine
    if len(value) != 1:
        raise InputError(f"object must have one field, its kind, got {dict(value)!r}")
    ((kind, content),) = value.items()
    if kind == "text":
        return Text(content)
    if kind == "time":
        return moment(content, "object")
    if kind == "mention":
        return mentions_of([content])[0]
    wanted: dict[str, type] = {"entity": str, "boolean": bool, "number": float}
    if kind in wanted:
        number = kind == "number" and isinstance(content, int) and not isinstance(content, bool)
        if isinstance(content, wanted[kind]) or number:
            return content  # type: ignore[no-any-return]
        raise InputError(f"object {kind} must be of its kind, got {content!r}")
    kinds = "entity, text, number, boolean, time or mention"
    raise InputError(f"object must be of kind {kinds}, got {kind!r}")


@dataclass
class ParsedTransaction:
    """The operations of one transaction, and the place where each was written."""

    operations: list[Operation] = field(default_factory=list)
    notes: list[dict[str, str]] = field(default_factory=list)
    where: list[str] = field(default_factory=list)
    recorded_at: int | None = None


class OperationParser:
    """Parses JSON objects into operations.

    zone: of times without an offset. now: returns the time, in microseconds, that words such as
    "last week" are relative to. locale: returns the agent's locale. stamped: of the memories; no
    operation can give its own.
    """

    def __init__(
        self,
        zone: tzinfo = UTC,
        now: Callable[[], int] = lambda: 0,
        locale: Callable[[], str] = lambda: DAY_FIRST,
        stamped: Stamp = UNKNOWN,
    ) -> None:
        self.zone = zone
        self.now = now
        self.locale = locale
        self.stamped = stamped

    def parse_lines(self, lines: Iterable[str]) -> list[ParsedTransaction]:
        """Return the transactions of a JSONL source, after all of them were checked.

        Raises `OperationError` naming the first line that is wrong.

        >>> line = '{"op": "MERGE_ENTITY", "src": "Bobby", "dst": "Bob"}'
        >>> [group] = OperationParser().parse_lines([line])
        >>> group.operations
        [MergeEntity(source='Bobby', target='Bob')]
        """
        groups: list[ParsedTransaction] = []
        opened: tuple[int, ParsedTransaction, dict[str, str]] | None = None
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                fields = parse_json(line)
                word, said = self._fields(fields)
                if word == "BEGIN":
                    if opened is not None:
                        raise InputError(f"a transaction is open since line {opened[0]}")
                    group = ParsedTransaction(recorded_at=self._recorded(said))
                    opened = number, group, checked_note(said.get("by"), said.get("why"))
                    continue
                if word == "COMMIT":
                    if opened is None:
                        raise InputError("COMMIT without a BEGIN")
                    groups.append(opened[1])
                    opened = None
                    continue
                if opened is None:
                    groups.append(ParsedTransaction())
                    self._put(groups[-1], word, said, f"line {number} ({word})", {})
                else:
                    self._put(opened[1], word, said, f"line {number} ({word})", opened[2])
            except InputError as error:
                raise OperationError(f"line {number}", error) from error
        if opened is not None:
            missing = InputError("the transaction that begins here has no COMMIT")
            raise OperationError(f"line {opened[0]}", missing) from missing
        return groups

    def parse_transaction(
        self, operations: Iterable[object], said: dict[str, str], recorded: int | None
    ) -> ParsedTransaction:
        """Return objects as one transaction. Raises `OperationError` naming the first wrong one."""
        group = ParsedTransaction(recorded_at=recorded)
        for number, fields in enumerate(operations, 1):
            try:
                word, checked = self._fields(fields)
                if word in ("BEGIN", "COMMIT"):
                    raise InputError(f"{word} belongs into a file: one call is one transaction")
                self._put(group, word, checked, f"operation {number} ({word})", said)
            except InputError as error:
                raise OperationError(f"operation {number}", error) from error
        return group

    def _put(
        self,
        group: ParsedTransaction,
        word: str,
        said: dict[str, Any],
        where: str,
        shared: dict[str, str],
    ) -> None:
        recorded = self._recorded(said)
        if recorded is not None:
            if group.recorded_at not in (None, recorded):
                raise InputError("a transaction has one recorded_at, got two")
            group.recorded_at = recorded
        group.notes.append(shared | checked_note(said.get("by"), said.get("why")))
        group.operations.append(getattr(self, f"_{word.lower()}")(said))
        group.where.append(where)

    def _fields(self, fields: object) -> tuple[str, dict[str, Any]]:
        """Return the word of an object, and its fields by their own names, without nulls."""
        if not isinstance(fields, Mapping):
            raise InputError(f"an operation must be an object, got {type(fields).__name__}")
        word = fields.get("op")
        if not isinstance(word, str) or word.upper() not in FIELDS:
            known = ", ".join(FIELDS)
            raise InputError(f"op must be one of {known}, got {word!r}")
        word = word.upper()
        said: dict[str, Any] = {}
        for given, value in fields.items():
            name = SAME.get(given, {}).get(word, given)
            if name in ("record", "record_end"):
                name = "recorded_at"
                value = recorded_start(value)
            if name not in (*FIELDS[word], *COMMON):
                near = difflib.get_close_matches(str(name), FIELDS[word], n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(FIELDS[word])}"
                raise InputError(f"{word} has an unknown field {given!r}: {hint}")
            if name in said:
                raise InputError(f"{word} says {name!r} twice")
            if value is not None or (word == "RETRO_CORRECT" and name != "recorded_at"):
                said[name] = value
        for name in NEEDED.get(word, ()):
            if name not in said:
                raise InputError(f"{word} has no {name!r}")
        return word, said

    # -- one method an operation, named by its word ----------------------------------------------

    def _retain(self, said: dict[str, Any]) -> Retain:
        named, types = as_entities(said.get("entities", ()))
        return Retain(
            Statement(
                said["text"],
                said_at=self._time(said.get("event_at"), "event_at"),
                id=said.get("id") or random_id(),
                network=network_number(said.get("network", "world")),
                context=said.get("context"),
                document=said.get("document_id"),
                speaker=None,
                entities=named,
                types=types,
                tags=tuple(as_list(said.get("tags", ()), "tags")),
                metadata=said.get("metadata", {}),
                valid_until=self._time(said.get("valid_until"), "valid_until"),
                source=self.stamped[0],
                trust=self.stamped[1],
            )
        )

    def _correct(self, said: dict[str, Any]) -> Correct:
        times = {
            name: None if name not in said else self._moment(said[name], name)
            for name in ("event_at", "valid_until")
        }
        plain = {name: said.get(name) for name in ("network", "context", "tags", "metadata")}
        return Correct(
            said["id"], said.get("text"), read_changes(**times, **plain, stamped=self.stamped)
        )

    def _forget(self, said: dict[str, Any]) -> Forget:
        return Forget(one_or_more(said["id"], "id"))

    def _archive(self, said: dict[str, Any]) -> Archive:
        return Archive(one_or_more(said["id"], "id"))

    def _upsert_entity(self, said: dict[str, Any]) -> UpsertEntity:
        aliases, types = (one_or_more(said.get(name, ()), name) for name in ("aliases", "types"))
        return UpsertEntity(said["name"], aliases, types)

    def _merge_entity(self, said: dict[str, Any]) -> MergeEntity:
        return MergeEntity(said["source"], said["target"])

    def _split_entity(self, said: dict[str, Any]) -> SplitEntity:
        return SplitEntity(said["source"], said.get("name"))

    def _upsert_edge(self, said: dict[str, Any]) -> UpsertEdge:
        start, end, parsed = self._span(said.get("valid"), "valid")
        return UpsertEdge(
            said["subject"],
            said["predicate"],
            read_object(said["object"], self._moment),
            start=start,
            end=end,
            evidence=one_or_more(said.get("evidence", ()), "evidence"),
            source=source_of(said.get("source")),
            mentions=mentions_of(said.get("mentions", ())),
            confidence=said.get("confidence", 1.0),
            uncertainty=said.get("uncertainty", parsed),
            given_id=said.get("id"),
        )

    def _archive_edge(self, said: dict[str, Any]) -> ArchiveEdge:
        start, end, _ = self._span(said.get("valid"), "valid")
        return ArchiveEdge(said["id"], start, end)

    def _retro_correct(self, said: dict[str, Any]) -> RetroCorrect:
        changes: dict[str, Any] = {}
        if "valid" in said:
            changes["start"], changes["end"], parsed = self._span(said["valid"], "valid")
            changes["uncertainty"] = parsed
        for name in ("start", "end"):
            if f"valid_{name}" in said:
                changes[name] = self._time(said[f"valid_{name}"], f"valid_{name}")
        read: dict[str, Callable[[Any], Any]] = {
            "object": lambda value: read_object(value, self._moment),
            "evidence": lambda value: one_or_more(value, "evidence"),
            "source": source_of,
            "mentions": mentions_of,
            "confidence": lambda value: value,
            "uncertainty": lambda value: value,
        }
        changes |= {name: read[name](said[name]) for name in read if name in said}
        return RetroCorrect(said["id"], changes)

    def _upsert_event(self, said: dict[str, Any]) -> UpsertEvent:
        start, end, _ = self._span(said.get("time_span"), "time_span")
        return UpsertEvent(
            said["summary"],
            participants=tuple(
                map(participant, as_list(said.get("participants", ()), "participants"))
            ),
            facts=one_or_more(said.get("includes_fact", ()), "includes_fact"),
            start=start,
            end=end,
            status=said.get("status", "happened"),
            times=tuple(map(self._written, as_list(said.get("times", ()), "times"))),
            mentions=mentions_of(said.get("mentions", ())),
            given_id=said.get("id"),
        )

    def _link(self, said: dict[str, Any]) -> Link:
        relation = said["relation"]
        target = said["target"]
        if relation in ("has_time", "temporal"):
            target = self._written(target)
        elif relation == "mentioned_in":
            (target,) = mentions_of([target])
        return Link(said["source"], relation, target, said.get("qualifier"))

    def _upsert_episode(self, said: dict[str, Any]) -> UpsertEpisode:
        start, end, _ = self._span(said.get("window"), "window")
        return UpsertEpisode(
            said["title"], one_or_more(said["events"], "events"), start, end, said.get("id")
        )

    # -- values ----------------------------------------------------------------------------------

    def _recorded(self, said: dict[str, Any]) -> int | None:
        return self._time(said.get("recorded_at"), "recorded_at")

    def _time(self, value: object, name: str) -> int | None:
        if value is None:
            return None
        return to_micros(self._moment(value, name), name)

    def _moment(self, value: object, name: str) -> datetime:
        if isinstance(value, datetime):
            return value
        if not isinstance(value, str):
            raise InputError(f"{name} must be a time such as 2023-11-06T09:30Z, got {value!r}")
        return parse_time(value, self.zone, name)

    def _span(self, value: Any, name: str) -> tuple[int | None, int | None, str | None]:
        if isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2:
            start, end = (None if each is None else self._moment(each, name) for each in value)
            value = (start, end)
        return valid_times.read(value, name, self.now, self.zone, self.locale)

    def _written(self, value: object) -> int | str | datetime:
        """Return a time, see `instant`; a text that is not a time is returned as it is."""
        if isinstance(value, str):
            try:
                return instant(parse_time(value, self.zone), "time")
            except InputError:
                return value
        return instant(self._moment(value, "time"), "time")

"""A transaction's operations on memories, entities and facts, before they are written to the log.

The names and ids in an operation are resolved here, against recorded state and the transaction's
earlier operations. The payloads then hold numbers, so applying them needs no look-up, and a replay
repeats them. No state changes before the draft is in the log.

What does it take to undo operations on facts and events? The state before them, recorded anew.
Nothing is taken out of the log: a version that was opened is followed by one that equals the
version before it, or is closed where there was none. So the history shows what was undone.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

import numpy as np

from recollex_engine.clock import zone_of
from recollex_engine.domain import operations as say
from recollex_engine.domain.fact_schema import ALIAS_OF, EVENT_KINDS
from recollex_engine.domain.ids import content_id
from recollex_engine.domain.intervals import check_interval
from recollex_engine.domain.literals import FactObject, to_record
from recollex_engine.domain.memory_operations import (
    Archive,
    Correct,
    Extract,
    Forget,
    Form,
    Retain,
    Think,
)
from recollex_engine.domain.schema import EXTRACT, FORM, THINK
from recollex_engine.domain.surfaces import PHRASES
from recollex_engine.domain.trust import Act
from recollex_engine.errors import InputError, OperationError, UnknownIdError
from recollex_engine.state.column_set import NONE
from recollex_engine.state.columns import Columns
from recollex_engine.writing.draft import Draft
from recollex_engine.writing.event_draft import EntityDraft, EventDraft
from recollex_engine.writing.fact_staging import (
    FactStaging,
    Plain,
    content_in,
    content_of,
    edges_of,
    event_fields,
    filled,
    same,
)
from recollex_engine.writing.name_split import NameSplit
from recollex_engine.writing.phrase_making import has_name
from recollex_engine.writing.preparation import Prepared


# What do the operations `think` and `form` say in the log? Their memories by number.
def think_record(columns: Columns, operation: Think, agent: str) -> dict[str, Any]:
    """Return the payload of a thought. Raises `UnknownIdError` for a memory that was erased."""
    keys = [columns.dictionary["ids"].get(id) for id in operation.shown]
    if None in keys:
        raise UnknownIdError(operation.shown[keys.index(None)], agent)
    shown = [columns.newest_of(key) for key in keys if key is not None]
    said = {name: value for name, value in vars(operation).items() if value is not None}
    return said | {"shown": shown}


def form_record(columns: Columns, operation: Form, memory: Callable[[str], int]) -> dict[str, Any]:
    """Return the payload of what was formed; ``memory``: the number of one of the transaction.

    Raises `InputError` if a memory that the model was shown was erased meanwhile.
    """
    closed_by = columns.array("closed_by")
    op = columns.array("op")
    if any(closed_by[each] == op[each] for each in operation.shown):
        raise InputError(
            f"a memory that the thought {operation.thought!r} rests on was erased meanwhile: "
            "no opinion is formed from it"
        )
    said = {name: value for name, value in vars(operation).items() if value and name != "shown"}
    if operation.opinions:
        said["opinions"] = list(map(memory, operation.opinions))
    return said


@dataclass(frozen=True, slots=True)
class Former:
    """What a fact or an event was before the operations that are undone.

    kind: "fact", "event" or "episode". content: as in a record of the log; None if it did not exist
    or was closed.
    """

    kind: str
    id: str
    content: dict[str, Any] | None


def together_with(columns: Columns, op: int) -> list[int]:
    """Return the operations of one act, ascending: of one transaction, with one ``by`` and ``why``.

    Raises `InputError` for a number that no operation has.
    """
    if not 1 <= op <= columns.op:
        raise InputError(f"op must be the number of an operation, 1 to {columns.op}, got {op}")
    at, by, why = (columns.array(name) for name in ("op_recorded_at", "op_by", "op_why"))
    first = int(np.searchsorted(at, at[op - 1], side="left"))
    end = int(np.searchsorted(at, at[op - 1], side="right"))
    alike = (by[first:end] == by[op - 1]) & (why[first:end] == why[op - 1])
    return [first + 1 + place for place in np.flatnonzero(alike).tolist()]


def former_state(columns: Columns, op: int) -> list[Former]:
    """Return what the act of operation ``op`` changed, as it was before.

    Raises `InputError` if it changed no fact, event or episode, or if one was changed since. Cost:
    a scan of the closed versions, 8 bytes each.
    """
    ops = together_with(columns, op)
    found = [
        *(each for kind in ("fact", "event") for each in _formers(columns, kind, ops)),
    ]
    if not found:
        raise InputError(
            f"operation {op} changed no fact, event or episode: only these can be undone"
        )
    return found


def _formers(columns: Columns, kind: str, ops: Sequence[int]) -> list[Former]:
    chosen = np.array(ops, np.uint64)
    opened = np.flatnonzero(np.isin(columns.array(f"{kind}_op"), chosen)).tolist()
    closed_by = columns.array(f"{kind}_closed_by")
    closed = np.flatnonzero((closed_by > 0) & np.isin(closed_by, chosen)).tolist()
    ids = columns.array(f"{kind}_id")
    previous = columns.array(f"{kind}_previous")
    touched: dict[int, list[int]] = {}
    for version in sorted({*opened, *closed}):
        touched.setdefault(int(ids[version]), []).append(version)
    found = []
    for key, versions in touched.items():
        id = columns.dictionary[f"{kind}_ids"].string(key)
        if columns.facts.newest(kind, key) != versions[-1]:
            raise InputError(f"the {kind} {id!r} was changed since: undo the later change first")
        if closed_by[versions[-1]] > 0 and versions[-1] not in closed:
            raise InputError(f"the {kind} {id!r} was closed since: undo that first")
        before = versions[0]
        if before in opened:
            before = int(previous[before])
            if before != NONE and before not in closed:
                before = NONE  # it was closed by an earlier act
        name = (
            kind if kind == "fact" else EVENT_KINDS[int(columns.array("event_kind")[versions[-1]])]
        )
        content = None if before == NONE else _content(columns, kind, key, before)
        found.append(Former(name, id, content))
    return found


def _content(columns: Columns, kind: str, key: int, version: int) -> dict[str, Any]:
    if kind == "fact":
        return content_of(columns, version)
    return event_content(columns, key, version)


def event_content(columns: Columns, key: int, version: int) -> dict[str, Any]:
    """Return the content of a version of an event, as in its log record."""
    edges = [
        (relation, [columns.entity_name(target), target], qualifier)
        if relation == "has_participant"
        else (relation, target, qualifier)
        for relation, target, qualifier in edges_of(columns, key, version)
    ]
    return event_fields(columns, version) | {"edges": edges}


class FactDraft:
    """Stages a transaction's operations in a `Draft`.

    ``prepared``: its statements, and ``splits``: the names that it splits, by the places of the
    operations; see `correction.Statements`.
    """

    def __init__(
        self,
        draft: Draft,
        agent: str,
        prepared: Sequence[Prepared],
        plain: Plain,
        splits: Mapping[int, NameSplit] = MappingProxyType({}),
    ) -> None:
        self.draft = draft
        self.columns = draft.columns
        self.agent = agent
        self._staging = FactStaging(draft, agent, plain)
        self._prepared: Iterator[Prepared] = iter(prepared)
        self._splits = splits
        self._place = 0  # of the current operation
        self._memories: dict[
            str, int | None
        ] = {}  # those that this transaction changed; None if closed
        self._drawn: set[str] = (
            set()
        )  # facts of an `Extract`: the same transaction may archive them
        # an item of a view takes a third of one of an array
        self._phrase_head = draft.columns.facts.chains["phrase_entity"].head.data
        self._entities = EntityDraft(self._staging)
        self._events = EventDraft(self._staging)

    def add(
        self,
        operations: Sequence[say.Operation],
        notes: Sequence[dict[str, str]],
        where: Sequence[str] | None = None,
    ) -> None:
        """Stage operations, in order; ``notes`` hold for each operation who makes it and why.

        ``where`` names each operation in a file or a call. If it is given, an error is an
        `OperationError` that names the refused operation.
        """
        ids = [each.id for each in operations if isinstance(each, say.UpsertEdge)]
        self._staging.look_up(ids)
        stage = self._methods()
        for place, operation in enumerate(operations):
            self._staging.note = notes[place]
            self._place = place
            try:
                stage[type(operation)](operation)
            except InputError as error:
                if where is None:
                    raise
                raise OperationError(where[place], error) from error

    def _methods(self) -> dict[type, Callable[[Any], None]]:
        """Return what stages each kind of operation; kept, it would keep the draft: a cycle."""
        return {
            Retain: self._retain,
            Forget: self._close,
            Archive: self._close,
            Correct: self._correct,
            Extract: self._extract,
            Think: self._think,
            Form: self._form,
            say.UpsertEntity: self._entities.upsert_entity,
            say.MergeEntity: self._entities.merge_entity,
            say.SplitEntity: self._split_entity,
            say.UpsertEdge: self._upsert_edge,
            say.ArchiveEdge: self._archive_edge,
            say.RetroCorrect: self._retro_correct,
            say.UpsertEvent: self._events.upsert_event,
            say.Link: self._events.link,
            say.UpsertEpisode: self._events.upsert_episode,
            say.Undo: self._undo,
        }

    # -- memories --------------------------------------------------------------------------------

    def _retain(self, operation: Retain) -> None:
        if self._memories.get(operation.id, 0) is None:
            raise InputError(f"{operation.id!r} is closed in this transaction already")
        self._take_in(operation)

    def _correct(self, operation: Correct) -> None:
        self._check_unchanged(operation.id)
        self._take_in(operation)

    def _take_in(self, operation: Retain | Correct) -> None:
        before = len(self.draft.operations)
        self.draft.add(next(self._prepared), Act(operation.word.lower(), **self._staging.note))
        if len(self.draft.operations) > before:
            self._memories[operation.id] = self.draft.memories - 1

    def _close(self, operation: Forget | Archive) -> None:
        kind = operation.word.lower()
        memories = []
        for id in operation.ids:
            if id in self._drawn and kind == "archive":
                memories.append(self.memory(id))
                continue
            self._check_unchanged(id)
            memory = self.columns.closable(id, kind)
            memories.append(self.memory(id) if memory is None else memory)
        self._memories.update(dict.fromkeys(operation.ids))
        self._staging.record(kind, {"memories": sorted(set(memories))})

    def _extract(self, operation: Extract) -> None:
        """Stage what was drawn from memories, by their ordinals: a word could be erased later."""
        columns = self.columns
        for turn in operation.turns:
            if columns.array("closed_by")[turn]:
                id = columns.dictionary["ids"].string(int(columns.array("id")[turn]))
                raise InputError(
                    f"the memory {id!r} was closed meanwhile: nothing is drawn from it"
                )
        facts = [self.memory(id) for id in operation.facts]
        self._drawn.update(operation.facts)
        said: dict[str, Any] = {"turns": list(operation.turns), "prompt": operation.prompt}
        if facts:
            said["facts"] = facts
        for name in ("model", "failed", "left_out"):
            if value := getattr(operation, name):
                said[name] = value
        self._staging.record(EXTRACT, said)

    def _think(self, operation: Think) -> None:
        self._staging.record(THINK, think_record(self.columns, operation, self.agent))

    def _form(self, operation: Form) -> None:
        self._staging.record(FORM, form_record(self.columns, operation, self.memory))

    def _check_unchanged(self, id: str) -> None:
        if id in self._memories:
            raise InputError(f"the memory {id!r} is changed in this transaction already")

    def memory(self, id: str) -> int:
        """Return the ordinal of an open memory. Raises `UnknownIdError`."""
        if id in self._memories:
            memory = self._memories[id]
        else:
            memory = self.columns.newest(id, self.columns.memories, self.columns.op)
        if memory is None:
            key = self.columns.dictionary["event_ids"].get(id)
            if key is not None or self._events.is_staged(id):
                raise InputError(f"{id!r} is an event or an episode: evidence must be memories")
            raise UnknownIdError(id, self.agent)
        return memory

    # -- entities --------------------------------------------------------------------------------

    def _split_entity(self, operation: say.SplitEntity) -> None:
        split = self._splits.get(self._place)
        if split is None:
            self._entities.split_entity(operation)
            return
        named = self._entities.split_name(split)
        act = Act("correct", **self._staging.note)
        for statement, _ in split.memories:
            assert statement.id is not None
            self._check_unchanged(statement.id)
            self.draft.add(next(self._prepared), act, again=True)
            self._memories[statement.id] = self.draft.memories - 1
        for id, parts in split.facts.items():
            found = self._staging.fact(id)
            assert found is not None
            content = dict(found[1] or {})
            if "subject" in parts:
                content["subject"] = named
            if "object" in parts:
                content["object"] = {"entity": named}
            self._open("retro_correct", id, content)
        for id in split.events:
            self._events.rename(id, split.entity, named)

    # -- facts -----------------------------------------------------------------------------------

    def _upsert_edge(self, operation: say.UpsertEdge) -> None:
        names: list[tuple[str, str, int]] = []
        record: dict[str, Any] = {
            "id": operation.id,
            "subject": self._staging.entity(operation.subject, names),
            "predicate": operation.predicate,
            "object": self._object(operation.object, names),
            "valid": list(check_interval(operation.start, operation.end, "valid")),
        }
        if operation.evidence:
            record["evidence"] = [self.memory(id) for id in operation.evidence]
        if operation.mentions:
            record["mentions"] = [each.to_json() for each in operation.mentions]
        if operation.source is not None:
            record["source"] = operation.source.to_json()
        if operation.confidence != 1.0:
            record["confidence"] = float(operation.confidence)
        if operation.uncertainty is not None:
            record["uncertainty"] = operation.uncertainty
        if (zone := _zone(operation.object)) is not None:
            record["zone"] = zone
        if names:
            record["names"] = names
        self._open_record("upsert_edge", record, operation.embed)

    def _object(self, value: FactObject, names: list[tuple[str, str, int]]) -> dict[str, Any]:
        if isinstance(value, str):
            return {"entity": self._staging.entity(value, names)}
        return to_record(value)

    def _open_fact(self, id: str) -> tuple[int, dict[str, Any]]:
        """Return the open version of a fact, and its content. Raises `UnknownIdError`."""
        found = self._staging.fact(id)
        if found is None or found[1] is None:
            raise UnknownIdError(id, self.agent, "fact")
        return found[0], found[1]

    def _retro_correct(self, operation: say.RetroCorrect) -> None:
        content = dict(self._open_fact(operation.id)[1])
        changes = operation.changes
        names: list[tuple[str, str, int]] = []
        if "object" in changes:
            content["object"] = self._object(changes["object"], names)
            content["zone"] = _zone(changes["object"])
            say.check_range(content["predicate"], content["object"])
        start, end = content["valid"]
        if "start" in changes:
            start = changes["start"]
        if "end" in changes:
            end = changes["end"]
        content["valid"] = list(check_interval(start, end, "valid"))
        if "evidence" in changes:
            content["evidence"] = [self.memory(id) for id in changes["evidence"]]
        if "mentions" in changes:
            content["mentions"] = [each.to_json() for each in changes["mentions"]]
        if "source" in changes:
            source = changes["source"]
            content["source"] = source.to_json() if source else None
        if "confidence" in changes:
            content["confidence"] = float(changes["confidence"])
        if "uncertainty" in changes:
            content["uncertainty"] = changes["uncertainty"]
        self._open("retro_correct", operation.id, filled(content), names)

    def _undo(self, operation: say.Undo) -> None:
        for former in former_state(self.columns, operation.op):
            if former.kind != "fact":
                self._events.restore(former.kind, former.id, former.content)
                continue
            found = self._staging.fact(former.id)
            assert found is not None
            if former.content is None:
                self._close_version(former.id, found[0])
            elif found[1] is None:
                self._open("upsert_edge", former.id, former.content)
            else:
                self._open("retro_correct", former.id, former.content)

    def _open(self, kind: str, id: str, content: dict[str, Any], names: Sequence[Any] = ()) -> None:
        """Stage the next version of a fact, and close its open version."""
        named = {"names": names} if names else {}
        self._open_record(kind, {"id": id, **content, **named})

    def _open_record(self, kind: str, record: dict[str, Any], embed: bool = True) -> None:
        found = self._staging.fact(record["id"])
        if found is not None:
            if found[1] is not None and same(found[1], content_in(record)):
                return
            record["previous"] = found[0]
            if found[1] is not None:
                record["closes"] = found[0]
        if record["predicate"] == ALIAS_OF:
            self._entities.alias(record["subject"], record["object"]["entity"])
        self._staging.add_version(record)
        self._staging.record(kind, record, embed)
        self._name_phrases(record, embed)

    def _name_phrases(self, record: dict[str, Any], embed: bool) -> None:
        """Note the entities of a fact that have no surface yet, and make those of words alone."""
        phrases = self.draft.phrases
        head = self._phrase_head
        subject = record["subject"]
        for name, entity in (subject, record["object"].get("entity", subject)):
            if (
                (entity >= len(head) or head[entity] == NONE)
                and entity not in phrases
                and has_name(self.columns, entity)
            ):
                phrases[entity] = name, record, embed
                if not embed:
                    phrase = {"version": entity, "name": name, **self._staging.plain((name,))}
                    record.setdefault(PHRASES, []).append(phrase)

    def _archive_edge(self, operation: say.ArchiveEdge) -> None:
        version, content = self._open_fact(operation.id)
        start, end = content["valid"]
        first, last = operation.during
        if last <= start or end <= first:
            return
        if first <= start and end <= last:
            self._close_version(operation.id, version)
        elif first <= start:
            self._open("retro_correct", operation.id, content | {"valid": [last, end]})
        else:
            self._open("retro_correct", operation.id, content | {"valid": [start, first]})
            if last < end:
                rest = content_id("rest", operation.id, last)
                self._open("upsert_edge", rest, content | {"valid": [last, end]})

    def _close_version(self, id: str, version: int) -> None:
        self._staging.close_version(id, version)
        self._staging.record("archive_edge", {"id": id, "closes": version})


def _zone(value: FactObject) -> str | None:
    return zone_of(value) if isinstance(value, datetime) else None

"""What goes with a name that becomes an entity of its own? What was recorded by that name.

A name joins a known entity while a text is retained (`text.names`), or as an alias. A record
names its entities by number, so the columns do not say by which name. It is found again:

    a memory    a name in its text, or one that its record writes out
    a fact      the name in the records of its versions; a correction keeps the subject of the one
                before it, and writes the entity's first name
    an event    likewise; an entity's own record by the name that it gives

Each is recorded again with the new entity: a memory as an amendment, so its text, its vectors and
its id stay, and no earlier cut changes.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recollex_engine.clock import OPEN_END
from recollex_engine.domain.fields import LABELS
from recollex_engine.domain.literals import ENTITY
from recollex_engine.domain.operations import SplitEntity
from recollex_engine.domain.schema import CALLED
from recollex_engine.domain.statement import Statement
from recollex_engine.domain.trust import role_of_speaker
from recollex_engine.errors import InputError
from recollex_engine.log.reader import read_operations
from recollex_engine.state.column_set import NONE
from recollex_engine.state.columns import Columns
from recollex_engine.state.view import View
from recollex_engine.text.names import find_names, fold_name
from recollex_engine.writing.preparation import Computed, computed_of


# Which statement would record a memory again?
def recorded_statement(columns: Columns, memory: int, id: str) -> Statement:
    """Return the statement that would record a memory again."""
    valid_end = int(columns.array("valid_end")[memory])
    labels: dict[str, Any] = {field.key: columns.label_in(field.key, memory) for field in LABELS}
    return Statement(
        columns.text(memory),
        said_at=int(columns.array("said_at")[memory]),
        id=id,
        network=int(columns.array("network")[memory]),
        entities=_given_entities(columns, memory),
        tags=tuple(columns.tags(memory)),
        metadata=columns.metadata(memory),
        valid_until=None if valid_end == OPEN_END else valid_end,
        role=int(columns.array("role")[memory]),
        trust=int(columns.array("trust")[memory]),
        **labels,
    )


def _given_entities(columns: Columns, memory: int) -> tuple[str, ...]:
    """Return the entities of a memory that its text does not name."""
    first, end = columns.array("mention_offset")[memory : memory + 2].tolist()
    entities = columns.array("mention_entity")[first:end].tolist()
    speaker = columns.label_in("speaker", memory)
    found = {columns.entity(name, columns.op) for name in find_names(columns.text(memory), speaker)}
    return tuple(columns.entity_name(entity) for entity in entities if entity not in found)


_Payload = dict[str, Any]


@dataclass(frozen=True, slots=True)
class NameSplit:
    """A name that is to be an entity of its own, and what is recorded again with it.

    name: as the caller writes it. entity: the number of the entity that has it so far. memories:
    each with what the model computed of it. facts: id -> which of "subject" and "object" the name
    is. events: ids. records: entries of the entity's own records, by this name.
    """

    name: str
    entity: int
    memories: tuple[tuple[Statement, Computed], ...]
    facts: dict[str, tuple[str, ...]]
    events: tuple[str, ...]
    records: tuple[int, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the memories."""
        return tuple(statement.id for statement, _ in self.memories if statement.id is not None)


def find_name_split(
    view: View, log: Path, operation: SplitEntity, merged: Iterable[str]
) -> NameSplit | None:
    """Return what a split of a name records; None if it is a merge that the operation parts.

    ``view``: of the last operation. ``merged``: the sources of merges before it in the transaction.
    Raises `InputError` if the name is none of the entity's.
    """
    columns = view.columns
    name = operation.source if operation.name is None else operation.name
    source = columns.entity(operation.source, columns.op)
    entity = columns.entity(name, columns.op)
    if source is None or (entity is None and operation.name is None):
        return None  # refused later: it is unknown
    if entity is None or not set(view.same_entities(source)) & {entity}:
        raise InputError(
            f"{name!r} is no name of {operation.source!r}: its names are "
            f"{', '.join(map(repr, names_of(columns, view.same_entities(source))))}"
        )
    own = fold_name(columns.entity_name(entity)) == fold_name(name)
    if own or (operation.name is None and _is_merged(columns, entity, merged)):
        return None
    found = _NameSearch(view, log, fold_name(name), entity)
    return NameSplit(
        name,
        entity,
        tuple(found.memories()),
        dict(found.facts()),
        tuple(found.events()),
        tuple(found.records()),
    )


def names_of(columns: Columns, entities: Iterable[int]) -> list[str]:
    """Return the names of entities: the first of each as it was written, the others folded."""
    found: dict[str, str] = {}
    numbers = {each for each in entities if each < columns.entities}
    for entity in sorted(numbers):
        name = columns.entity_name(entity)
        found[fold_name(name)] = name
    for number, entity in enumerate(columns.array("name_entity").tolist()):
        if entity in numbers:
            folded = columns.dictionary["names"].string(number)
            if columns.entity(folded, columns.op) in numbers:
                found.setdefault(folded, folded)
    return list(found.values())


def _is_merged(columns: Columns, entity: int, merged: Iterable[str]) -> bool:
    if any(columns.entity(name, columns.op) == entity for name in merged):
        return True
    merges = columns.facts.merges(columns.op)
    return any(source == entity and end is None for _, source, _, end in merges)


class _NameSearch:
    """Looks for what was recorded of an entity by one of its names, of what is open now."""

    def __init__(self, view: View, log: Path, folded: str, entity: int) -> None:
        self.view = view
        self.columns = view.columns
        self.log = log
        self.folded = folded
        self.entity = entity
        self.first_name = fold_name(self.columns.entity_name(entity))

    def _payloads(self, ops: Iterable[int]) -> dict[int, _Payload]:
        return {each.op: each.payload or {} for each in read_operations(self.log, list(ops))}

    # -- memories --------------------------------------------------------------------------------

    def memories(self) -> Iterator[tuple[Statement, Computed]]:
        """Yield the open memories that say the name, as they are to be recorded again."""
        columns = self.columns
        ops = columns.array("op")
        closed = columns.array("closed_by")
        versions = {memory: self._same_text(memory) for memory in self._naming(closed)}
        wanted = {int(ops[each]) for chain in versions.values() for each in chain}
        payloads = self._payloads(wanted)
        for memory, chain in versions.items():
            id = columns.dictionary["ids"].string(int(columns.array("id")[memory]))
            statement = recorded_statement(columns, memory, id)
            found = find_names(statement.text, statement.speaker)
            if role_of_speaker(statement.speaker):
                found = found[1:]
            said = {fold_name(each) for each in found}
            given = self._given([payloads[int(ops[each])] for each in chain], said)
            if self.folded not in said | {fold_name(each) for each in given}:
                continue
            others = [e for e in statement.entities if columns.entity(e, columns.op) != self.entity]
            yield replace(statement, entities=(*others, *given)), computed_of(self.view, memory)

    def _naming(self, closed: Any) -> list[int]:
        """Return the open memories that name the entity, ascending."""
        array = self.columns.array
        head = self.columns.mentions.head
        memory = array("mention_memory")
        previous = array("mention_previous")
        entry = int(head[self.entity]) if self.entity < len(head) else NONE
        found = []
        while entry != NONE:
            if not closed[at := int(memory[entry])]:
                found.append(at)
            entry = int(previous[entry])
        return found[::-1]

    def _same_text(self, memory: int) -> list[int]:
        """Return a memory and the versions that it amended, which have the same text."""
        columns = self.columns
        found = [memory]
        text = columns.text(memory)
        while (before := int(columns.array("previous")[found[-1]])) != NONE:
            if columns.text(before) != text:
                break
            found.append(before)
        return found

    def _given(self, payloads: Iterable[_Payload], said: set[str]) -> list[str]:
        """Return the names of the entity that a caller gave, beside those in the text."""
        found: dict[str, str] = {}
        for payload in payloads:
            written = [(name, entity) for name, _, entity in payload.get("names", ())]
            for name, entity in (*written, *payload.get(CALLED, ())):
                if entity == self.entity and (folded := fold_name(name)) not in said:
                    found.setdefault(folded, name)
        return list(found.values())

    # -- facts, events, records of entities ------------------------------------------------------

    def facts(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the open facts whose subject or object is the name, and which of them it is."""
        columns = self.columns
        entity = self.entity
        array = columns.array
        state = columns.facts
        versions = dict.fromkeys(self._chain("fact_subject", "fact_subject_previous"))
        objects = array("fact_entity_fact")
        for entry in self._chain("fact_entity", "fact_entity_previous"):
            versions[int(objects[entry])] = None
        for version in sorted(versions):
            key = int(array("fact_id")[version])
            if array("fact_closed_by")[version] or state.newest("fact", key) != version:
                continue
            records = self._records("fact", version)
            is_object = (
                array("fact_kind")[version] == ENTITY and array("fact_object")[version] == entity
            )
            parts = []
            if array("fact_subject")[version] == entity and self._is_name(
                each.get("subject") for each in records
            ):
                parts.append("subject")
            if is_object and self._is_name(
                each.get("object", {}).get("entity") for each in records
            ):
                parts.append("object")
            if parts:
                yield columns.dictionary["fact_ids"].string(key), tuple(parts)

    def events(self) -> Iterator[str]:
        """Yield the ids of the events in which the name takes part."""
        columns = self.columns
        found = dict[int, int]()
        array = columns.array
        head = columns.facts.incoming["entity"].head
        entry = int(head[self.entity]) if self.entity < len(head) else NONE
        while entry != NONE:
            key = int(array("edge_source")[entry])
            version = int(array("edge_version")[entry])
            if version != NONE and version == columns.facts.newest("event", key):
                found[key] = version
            entry = int(array("edge_target_previous")[entry])
        for key, version in sorted(found.items()):
            if array("event_closed_by")[version]:
                continue
            records = self._records("event", version)
            if self._is_name(_participant(each, self.entity) for each in records):
                yield columns.dictionary["event_ids"].string(key)

    def records(self) -> Iterator[int]:
        """Yield the entries of the entity's own records that give it the name, oldest first."""
        columns = self.columns
        names = columns.array("node_name")
        for entry in sorted(self._chain("node_entity", "node_previous")):
            if fold_name(str(columns.label(int(names[entry])))) == self.folded:
                yield entry

    def _chain(self, keys: str, previous: str) -> Iterator[int]:
        entry = self.columns.facts.head(keys, self.entity)
        before = self.columns.array(previous)
        while entry != NONE:
            yield entry
            entry = int(before[entry])

    def _records(self, kind: str, version: int) -> list[_Payload]:
        """Return the records of a version and of those before it with its id, newest first."""
        array = self.columns.array
        ops = []
        while version != NONE:
            ops.append(int(array(f"{kind}_op")[version]))
            version = int(array(f"{kind}_previous")[version])
        payloads = self._payloads(ops)
        return [payloads[op] for op in ops]

    def _is_name(self, called: Iterable[Any]) -> bool:
        """Return whether an entity was said by the name, given how its versions say it.

        That is the newest of its names that is not the first, which a correction writes instead.
        """
        for each in called:
            if each is None or each[1] != self.entity:
                return False
            if fold_name(each[0]) != self.first_name:
                return fold_name(each[0]) == self.folded
        return False


def _participant(record: _Payload, entity: int) -> Any:
    """Return [name, number] of the participant that is an entity; None if it is none."""
    for relation, target, _ in record.get("edges", ()):
        if relation == "has_participant" and target[1] == entity:
            return target
    return None

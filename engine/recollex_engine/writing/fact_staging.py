"""The entities, facts and records that a transaction has staged so far.

The content of a recorded version of a fact or event, in the form of a log record.
A field that says nothing is left out: an empty list, None, and a confidence of 1.
"""

from collections.abc import Callable, Sequence
from typing import Any

from recollex_engine.domain.fact_schema import RELATIONS
from recollex_engine.domain.literals import ENTITY, KINDS, NUMBER, from_column
from recollex_engine.domain.surfaces import EVENTS, FACTS, SURFACE, fact_parts
from recollex_engine.errors import UnknownIdError
from recollex_engine.state.column_set import NONE
from recollex_engine.state.columns import Columns
from recollex_engine.text.names import EntityTable, fold_name
from recollex_engine.writing.draft import Draft

CONTENT = (
    "subject",
    "predicate",
    "object",
    "valid",
    "evidence",
    "mentions",
    "source",
    "confidence",
    "uncertainty",
    "zone",
)
"""The fields of the content of a fact."""


def content_of(columns: Columns, version: int) -> dict[str, Any]:
    """Return the content of a version of a fact, as in its log record."""
    data = columns.facts.tables().data

    def value(name: str) -> Any:
        return data(f"fact_{name}")[version]

    def part(name: str) -> list[int]:
        ends = data(f"fact_{name}_end")
        first = ends[version - 1] if version else 0
        found: list[int] = data(f"fact_{name}")[first : ends[version]].tolist()
        return found

    kind = value("kind")
    number = value("object")
    record: Any = [columns.entity_name(number), number] if kind == ENTITY else number
    if kind == NUMBER:
        record = float(from_column(kind, number, str, str))  # type: ignore[arg-type]
    elif KINDS[kind] in ("text", "mention"):
        record = columns.label(number)
    elif KINDS[kind] == "boolean":
        record = bool(number)
    subject = value("subject")
    return filled(
        {
            "subject": [columns.entity_name(subject), subject],
            "predicate": columns.label(value("predicate")),
            "object": {KINDS[kind]: record},
            "valid": [value("start"), value("end")],
            "evidence": part("evidence"),
            "mentions": [columns.label(label) for label in part("mention")],
            "source": columns.label(value("source")),
            "confidence": value("confidence"),
            "uncertainty": columns.label(value("uncertainty")),
            "zone": columns.label(value("zone")),
        }
    )


def filled(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a fact without the fields that say nothing."""
    return {
        name: value
        for name, value in content.items()
        if (value != 1.0 if name == "confidence" else value)
    }


def content_in(record: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a fact that is in its log record."""
    return {name: record[name] for name in CONTENT if name in record}


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether two contents of facts are equal, whatever names their entities had."""
    return _plain(one) == _plain(other)


def _plain(content: dict[str, Any]) -> dict[str, Any]:
    plain = content | {"subject": content["subject"][1]}
    if "entity" in content["object"]:
        plain["object"] = {"entity": content["object"]["entity"][1]}
    return plain


def event_fields(columns: Columns, version: int) -> dict[str, Any]:
    """Return the content of an event's version but its edges, as in its log record."""
    array = columns.array
    return {
        "summary": columns.label_in("event_summary", version),
        "span": [int(array("span_start")[version]), int(array("span_end")[version])],
        "status": columns.label_in("event_status", version),
    }


def edges_of(columns: Columns, key: int, version: int) -> list[tuple[str, Any, str | None]]:
    """Return (relation, target, qualifier) of an event's edges, oldest first, as in a log record.

    ``key``: the event's number in `event_ids`; ``version``: the version that has the edges, NONE
    for links. An entity is given by its number.
    """
    array = columns.array
    entry = columns.facts.head("edge_source", key)
    found: list[tuple[str, Any, str | None]] = []
    while entry != NONE:
        if int(array("edge_version")[entry]) == version:
            relation = RELATIONS[int(array("edge_relation")[entry])]
            target: Any = int(array("edge_target")[entry])
            if relation == "includes_fact":
                target = columns.dictionary["fact_ids"].string(target)
            elif relation == "has_time":
                if (zone := columns.label(int(array("edge_zone")[entry]))) is not None:
                    target = (target, zone)
            elif relation in ("has_time_text", "mentioned_in"):
                target = columns.label(target)
            elif relation != "has_participant":
                target = columns.dictionary["event_ids"].string(target)
            qualifier = columns.label(int(array("edge_qualifier")[entry]))
            found.append((relation, target, qualifier))
        entry = int(array("edge_source_previous")[entry])
    return found[::-1]


Plain = Callable[[Sequence[str]], dict[str, Any]]
"""Makes a surface of words alone, those of the parts of a text."""


class FactStaging:
    """Staged state of a transaction, which its later operations look up before recorded state.

    ``plain``: makes a surface of words alone. ``note``: who makes the current operation, and why.
    """

    def __init__(self, draft: Draft, agent: str, plain: Plain) -> None:
        self.draft = draft
        self.columns = draft.columns
        self.agent = agent
        self.plain = plain
        self.note: dict[str, str] = {}
        self._names: EntityTable | None = None  # once there is a name to look up
        self._versions = self.columns.column["fact_id"].count
        self._facts: dict[str, tuple[int, dict[str, Any] | None]] = {}  # looked up, or staged
        self._keys: dict[str, int] = {}  # the numbers of ids

    def look_up(self, ids: Sequence[str]) -> None:
        """Look up the ids of facts together, so that `fact` is quick."""
        self._keys.update(zip(ids, self.columns.dictionary["fact_ids"].look_up(ids), strict=True))

    def record(self, kind: str, payload: dict[str, Any], embed: bool = True) -> None:
        """Stage one record of the log, its note, and its surface if it is that of a version.

        embed: whether the surface gets a vector; then it is made later.
        """
        payload |= self.note
        if (names := payload.get("names")) and (typed := self.draft.type_names(names)):
            payload["typed"] = typed
        self.draft.operations.append((kind, payload))
        if kind in FACTS or kind in EVENTS:
            self.draft.tells = True
            if embed:
                self.draft.surfaces.append((payload, kind))
            else:
                payload[SURFACE] = self.plain(fact_parts(payload))

    def entity(self, name: str, names: list[tuple[str, str, int]]) -> list[Any]:
        """Return [name, number] of an entity; a new entity is also added to ``names``."""
        table = self._names
        if table is None:
            table = self._names = self.draft.lexicon.names(self.columns)
        entity = table.get(name)
        if entity is None:
            draft = self.draft
            entity = draft.entities
            draft.entities += 1
            table.add(name, entity)
            names.append((name, fold_name(name), entity))
        return [name, entity]

    def known_entity(self, name: str) -> int:
        """Return the number of an existing entity. Raises `UnknownIdError`."""
        entity = self.draft.lexicon.names(self.columns).get(name)
        if entity is None:
            raise UnknownIdError(name, self.agent, "entity")
        return entity

    def fact(self, id: str) -> tuple[int, dict[str, Any] | None] | None:
        """Return a fact's newest version and its content (None if closed); None if unknown."""
        if id in self._facts:
            version, record = self._facts[id]
            return version, None if record is None else content_in(record)
        key = self._keys.get(id)
        if key is None:
            (key,) = self.columns.dictionary["fact_ids"].look_up((id,))
        version = NONE if key == NONE else self.columns.facts.newest("fact", key)
        if version == NONE:
            return None
        closed = int(self.columns.array("fact_closed_by")[version])
        content = None if closed else content_of(self.columns, version)
        self._facts[id] = version, content
        return version, content

    def add_version(self, record: dict[str, Any]) -> None:
        """Stage the next version of a fact, which a record makes."""
        self._facts[record["id"]] = self._versions, record
        self._versions += 1

    def close_version(self, id: str, version: int) -> None:
        """Stage that a version of a fact is closed and not replaced."""
        self._facts[id] = version, None

"""How do operations on facts, events and entities become columns? Called by `applying`."""

from collections.abc import Callable, Sequence
from typing import Any

from recollex_engine.domain import records
from recollex_engine.domain.fact_schema import (
    ALIAS_OF,
    EDGE,
    EVENT,
    EVENT_KINDS,
    FACT,
    MERGE,
    NODE,
    PHRASE,
    RELATIONS,
    SPLIT,
    SYNONYM,
    TYPE,
)
from recollex_engine.domain.literals import BOOLEAN, ENTITY, to_column
from recollex_engine.domain.schema import PLACEHOLDER
from recollex_engine.domain.surfaces import PHRASES, SURFACE
from recollex_engine.state.column_set import NONE, check_below, check_earlier
from recollex_engine.state.columns import Columns
from recollex_engine.state.surfaces import StagedSurfaces
from recollex_engine.storage.dictionary import BatchInterner
from recollex_engine.text.entity_types import ENTITY_TYPES, EntityType

_PARTICIPANT = RELATIONS.index("has_participant")
KINDS = frozenset(
    {
        "upsert_entity",
        "merge_entity",
        "upsert_edge",
        "archive_edge",
        "retro_correct",
        "upsert_event",
        "link",
        "upsert_episode",
        "split_entity",
        SURFACE,
    }
)
"""The kinds of operations that this module applies."""


class StagedFacts:
    """The items that a run of operations adds, gathered in lists and appended together.

    ``labels`` interns the labels of the run. `applying` adds the new names of an operation.
    """

    def __init__(self, columns: Columns, labels: BatchInterner) -> None:
        self.columns = columns
        self.labels = labels
        self.fact: list[tuple[Any, ...]] = []  # with ids
        self.keys: list[int] = []  # the numbers of these ids, as far as they are known
        self.event: list[tuple[Any, ...]] = []
        self.edge: list[tuple[Any, ...]] = []
        self.node: list[tuple[Any, ...]] = []
        self.type: list[tuple[int, int, int]] = []
        self.phrase: list[tuple[int, int]] = []
        self.synonym: list[tuple[int, int, float, int]] = []
        self.merge: list[tuple[int, ...]] = []
        self.split: list[tuple[int, int]] = []
        self.evidence: list[int] = []
        self.evidence_fact: list[int] = []
        self.mention: list[int] = []
        self.entity: list[int] = []
        self.entity_fact: list[int] = []
        self.node_label: list[int] = []
        self.aliases: dict[int, None] = {}  # in their order
        self.identity_ops: list[int] = []
        self.linked: list[int] = []
        self.closed: dict[str, list[tuple[int, int]]] = {"fact": [], "event": []}
        self.fact_ids = BatchInterner(columns.dictionary["fact_ids"])
        self.surfaces = StagedSurfaces(columns.column, columns.dictionary["surface_terms"])
        self.first = {kind: columns.column[f"{kind}_id"].count for kind in ("fact", "event")}
        self.at = {name: columns.column[name].count for name in ("fact_evidence", "fact_mention")}
        self.node_labels = columns.column["node_label"].count

    def _label(self, prefix: str, text: str | None) -> int:
        return NONE if text is None else self.labels[prefix + text]

    def add(self, op: int, kind: str, payload: dict[str, Any]) -> None:
        """Gather the items of one operation of `KINDS`."""
        _GATHER[kind](self, op, payload)

    def type_entities(self, op: int, typed: Sequence[tuple[int, EntityType]]) -> None:
        """Gather what an operation says that entities are."""
        self.type += [(entity, op, ENTITY_TYPES.index(kind)) for entity, kind in typed]

    def tombstone(self, op: int, kind: str, payload: dict[str, Any]) -> None:
        """Gather the version of a fact or event that was erased: closed by its own operation.

        It still closes the version before it, unless that was erased too.
        """
        labels = self.labels
        ids = self.columns.dictionary
        closes = payload.get("closes")
        if kind in ("upsert_edge", "retro_correct"):
            version = self.first["fact"] + len(self.fact)
            id = f"{PLACEHOLDER}{version}"
            predicate = labels[f"p:{PLACEHOLDER}"]
            ends = (
                self.at["fact_evidence"] + len(self.evidence),
                self.at["fact_mention"] + len(self.mention),
            )
            if closes is not None:
                self._close_fact(closes, op)
            self.closed["fact"].append((version, op))
            self.fact.append(
                (id, NONE, op, 0, 0, predicate, BOOLEAN, 0, 0, 1, 0.0, NONE, NONE, *ends, NONE)
            )
        elif kind in ("upsert_event", "upsert_episode"):
            version = self.first["event"] + len(self.event)
            key = ids["event_ids"].intern(f"{PLACEHOLDER}{version}")
            if closes is not None:
                self.closed["event"].append((closes, op))
            self.closed["event"].append((version, op))
            number = EVENT_KINDS.index(kind.removeprefix("upsert_"))
            summary = labels[f"z:{PLACEHOLDER}"]
            self.event.append((key, NONE, op, 0, number, 0, 1, labels["q:"], summary))

    def _upsert_entity(self, op: int, payload: records.UpsertEntityRecord) -> None:
        labels = [self._label("n:", each) for each in payload.get("types", ())]
        labels += [self._label("a:", each) for each in payload.get("aliases", ())]
        self.node_label += labels
        name, entity = payload["entity"]
        end = self.node_labels + len(self.node_label)
        self.node.append((entity, op, self._label("e:", name), end))

    def _merge_entity(self, op: int, payload: records.MergeEntityRecord) -> None:
        source = payload["source"][1]
        target = payload["target"][1]
        self.merge.append((source, target, op))
        self.linked += (source, target)
        self.identity_ops.append(op)

    def _split_entity(self, op: int, payload: records.SplitEntityRecord) -> None:
        self.split.append((payload["source"][1], op))
        self.identity_ops.append(op)

    def _upsert_edge(self, op: int, payload: dict[str, Any]) -> None:
        get = payload.get
        labels = self.labels
        version = self.first["fact"] + len(self.fact)
        if (closes := get("closes")) is not None:
            self._close_fact(closes, op)
        kind, number = to_column(payload["object"], self._text)
        subject = payload["subject"][1]
        if kind == ENTITY:
            self.entity.append(number)
            self.entity_fact.append(version)
        if evidence := get("evidence"):
            self.evidence += evidence
            self.evidence_fact += [version] * len(evidence)
        for mention in get("mentions", ()):
            self.mention.append(labels[f"x:{mention}"])
        predicate = payload["predicate"]
        if predicate == ALIAS_OF:
            self.aliases[version] = None
            self.linked += (subject, number)
            self.identity_ops.append(op)
        relation = labels[f"p:{predicate}"]
        start, end = payload["valid"]
        uncertainty = NONE if (said := get("uncertainty")) is None else labels[f"u:{said}"]
        source = NONE if (said := get("source")) is None else labels[f"o:{said}"]
        zone = NONE if (said := get("zone")) is None else labels[f"i:{said}"]
        self.fact.append(
            (
                payload["id"],
                get("previous", NONE),
                op,
                0,
                subject,
                relation,
                kind,
                number,
                start,
                end,
                get("confidence", 1.0),
                uncertainty,
                source,
                self.at["fact_evidence"] + len(self.evidence),
                self.at["fact_mention"] + len(self.mention),
                zone,
            )
        )
        if (surface := get(SURFACE)) is not None:
            self.surfaces.add("fact", version, surface)
        for phrase in get(PHRASES, ()):
            self._phrase(op, phrase)

    _retro_correct = _upsert_edge

    def _text(self, text: str) -> int:
        return self.labels[text]

    def _number_facts(self) -> None:
        """Give numbers to the ids of the facts so far."""
        self.keys += self.fact_ids.many([line[0] for line in self.fact[len(self.keys) :]])

    def _archive_edge(self, op: int, payload: records.ArchiveEdgeRecord) -> None:
        self._close_fact(payload["closes"], op)

    def _close_fact(self, version: int, op: int) -> None:
        self.closed["fact"].append((version, op))
        if version < self.first["fact"]:
            predicate = int(self.columns.array("fact_predicate")[version])
            is_alias = predicate == self.columns.dictionary["labels"].get(f"p:{ALIAS_OF}")
        else:  # the dictionary does not have the labels of this run yet
            is_alias = version in self.aliases
        if is_alias:
            self.identity_ops.append(op)

    def _upsert_event(self, op: int, payload: dict[str, Any], kind: str = "event") -> None:
        get = payload.get
        version = self.first["event"] + len(self.event)
        if (closes := get("closes")) is not None:
            self.closed["event"].append((closes, op))
        key = self.columns.dictionary["event_ids"].intern(payload["id"])
        start, end = payload["span"]
        self.event.append(
            (
                key,
                get("previous", NONE),
                op,
                0,
                EVENT_KINDS.index(kind),
                start,
                end,
                self._label("q:", get("status", "")),
                self._label("z:", payload["summary"]),
            )
        )
        for relation, target, qualifier in payload["edges"]:
            self._edge(op, key, version, relation, target, qualifier)
        if (surface := get(SURFACE)) is not None:
            self.surfaces.add("event", version, surface)

    def _surface(self, op: int, payload: dict[str, Any]) -> None:
        if payload["of"] == "entity":
            self._phrase(op, payload)
        else:
            self.surfaces.add(payload["of"], payload["version"], payload)

    def _phrase(self, op: int, phrase: dict[str, Any]) -> None:
        entity = phrase["version"]
        self.surfaces.add("entity", entity, phrase)
        self.phrase.append((entity, op))
        for other, weight in phrase.get("synonyms", ()):
            self.synonym += [(entity, other, weight, op), (other, entity, weight, op)]

    def _upsert_episode(self, op: int, payload: dict[str, Any]) -> None:
        self._upsert_event(op, payload, "episode")

    def _link(self, op: int, payload: records.LinkRecord) -> None:
        key = self.columns.dictionary["event_ids"].intern(payload["source"])
        edge = (payload["relation"], payload["target"], payload.get("qualifier"))
        self._edge(op, key, NONE, *edge)

    def _edge(
        self, op: int, key: int, version: int, relation: str, target: Any, qualifier: str | None
    ) -> None:
        zone = None
        if relation == "has_participant":
            number = int(target[1])
        elif relation == "has_time":
            number, zone = (target, None) if isinstance(target, int) else target
        elif relation == "has_time_text":
            number = self._text(f"v:{target}")
        elif relation == "mentioned_in":
            number = self._text(f"x:{target}")
        elif relation == "includes_fact":
            self._number_facts()
            number = self.fact_ids[target]
        else:
            number = self.columns.dictionary["event_ids"].intern(target)
        code = RELATIONS.index(relation)
        labels = self._label("r:", qualifier), self._label("i:", zone)
        self.edge.append((key, version, code, number, labels[0], op, labels[1]))

    def check(self, entities: int, memories: int) -> None:
        """Raise `ValueError` for a number that names nothing, of so many entities and memories."""
        begins = [self.first[kind] for kind in ("fact", "event")]
        facts = begins[0] + len(self.fact)
        events = begins[1] + len(self.event)
        named = [*self.entity, *(source for source, _ in self.split)]
        named += [line[0] for lines in (self.node, self.type, self.phrase) for line in lines]
        named += [
            each for lines in (self.merge, self.synonym) for line in lines for each in line[:2]
        ]
        named += [line[3] for line in self.edge if line[2] == _PARTICIPANT]
        check_below("an entity", named, entities)
        check_below("an entity", [line[4] for line in self.fact], max(1, entities))  # 0: erased
        check_below("a memory", self.evidence, memories)
        for what, first, lines, end in (
            ("fact", begins[0], self.fact, facts),
            ("event", begins[1], self.event, events),
        ):
            closed = [version for version, _ in self.closed[what]]
            check_below(f"a version of a {what}", closed, end)
            previous = [line[1] for line in lines]
            check_earlier(f"a version of a {what}", previous, range(first, end), none=True)
        recorded = [line[1] for line in self.edge if line[1] != NONE]
        check_below("a version of an event", recorded, events)
        self.surfaces.check({"fact": facts, "event": events, "entity": entities})

    def finish(self) -> None:
        """Append everything, the heads last: no head may name an entry not yet stored."""
        columns = self.columns
        state = self.columns.facts
        self._number_facts()
        self.fact_ids.add()
        if self.fact:
            table: dict[str, Any] = dict(zip(FACT, zip(*self.fact, strict=True), strict=True))
            table["fact_id"] = self.keys
            subjects = table.pop("fact_subject")
            for name, items in table.items():
                columns.column[name].extend(items)
            columns.column.extend("fact_mention", self.mention)
            state.extend_chain("fact_subject", subjects, {})
            state.extend_newest("fact", self.first["fact"], table["fact_id"])
        state.extend_chain("fact_entity", self.entity, {"fact_entity_fact": self.entity_fact})
        evidence = {"fact_evidence_fact": self.evidence_fact}
        state.extend_chain("fact_evidence", self.evidence, evidence)
        if self.event:
            table = dict(zip(EVENT, zip(*self.event, strict=True), strict=True))
            for name, items in table.items():
                columns.column.extend(name, items)
            state.extend_newest("event", self.first["event"], table["event_id"])
        if self.edge:
            table = dict(zip(EDGE, zip(*self.edge, strict=True), strict=True))
            sources = table.pop("edge_source")
            state.extend_chain("edge_source", sources, table)
            pairs = zip(table["edge_relation"], table["edge_target"], strict=True)
            state.extend_incoming(list(pairs))
        if self.node:
            table = dict(zip(NODE, zip(*self.node, strict=True), strict=True))
            columns.column.extend("node_label", self.node_label)
            state.extend_chain("node_entity", table.pop("node_entity"), table)
        if self.type:
            table = dict(zip(TYPE, zip(*self.type, strict=True), strict=True))
            state.extend_chain("type_entity", table.pop("type_entity"), table)
        if self.phrase:
            table = dict(zip(PHRASE, zip(*self.phrase, strict=True), strict=True))
            state.extend_chain("phrase_entity", table.pop("phrase_entity"), table)
        if self.synonym:
            table = dict(zip(SYNONYM, zip(*self.synonym, strict=True), strict=True))
            state.extend_chain("synonym_entity", table.pop("synonym_entity"), table)
        columns.extend_table(tuple(MERGE), self.merge)
        columns.extend_table(tuple(SPLIT), self.split)
        for kind, closed in self.closed.items():
            column = columns.column[f"{kind}_closed_by"]
            for version, op in closed:
                if not column.array[version]:  # an erased version is closed from its beginning
                    column.set(version, op)
        state.note_identities(self.identity_ops, self.aliases, self.linked)
        if self.surfaces.finish(columns.dimension):
            columns.drop_surfaces()
        state.applied += 1


_GATHER: dict[str, Callable[[StagedFacts, int, dict[str, Any]], None]] = {
    kind: getattr(StagedFacts, f"_{kind}") for kind in KINDS
}

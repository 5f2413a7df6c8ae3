"""The nodes of an agent's graph that a page draws, with the times from and to which each was known.

A drawing holds every version of its nodes, so that a page can draw the cut of any moment up to its
own. At a moment, a page shows the newest version recorded by then that is not closed; an event, if
all the facts that it includes are shown; merged entities as one from the time of their merge.
Memories that were forgotten by the drawing's own cut are never shown.

::

    {"until": us, "facts": [{"id", "versions": [...]}], "events": [...], "episodes": [...],
     "memories": [{"id", "from", "to", ...}], "entities": [{"number", "name", "records": [...]}],
     "merges": [{"from", "to", "op", "source", "target"}],
     "left_out": {"facts": int, "memories": int}}

Times are microseconds UTC; ``to`` is None while a version is open. A version has "from", "to" and
the fields of `Fact.to_dict` or `Event.to_dict`; "start" and "end" are its times of the world, None
where it has no such end. Left out are older facts and events, together, and older memories.
Entities are numbered in the order in which they were first named.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from recollex_engine.clock import OPEN_END, iso_moments
from recollex_engine.domain.fact_schema import RELATIONS, TARGETS
from recollex_engine.domain.intervals import OPEN_START, to_moments
from recollex_engine.domain.literals import ENTITY, Mention
from recollex_engine.domain.schema import NONE
from recollex_engine.facts.events import AGGREGATES, EPISODE, EVENT, INCLUDES, PARTICIPANT, edges_to
from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.facts import read_fact
from recollex_engine.recall.memory import read_memories
from recollex_engine.state.mentions import Identities
from recollex_engine.state.view import View


@dataclass(frozen=True)
class Chosen:
    """The nodes of a drawing: numbers in `fact_ids` and `event_ids`, ordinals of memories.

    left_out: how many older facts and events, together, and how many older memories.
    """

    facts: set[int] = field(default_factory=set)
    events: set[int] = field(default_factory=set)
    memories: set[int] = field(default_factory=set)
    left_out: tuple[int, int] = (0, 0)


def newest(view: View, facts: FactView, limit: int) -> Chosen:
    """Return the newest ``limit`` facts and events together, and the newest ``limit`` memories.

    Cost: O(versions that are newer than the last one chosen).
    """
    keys = {"fact": set[int](), "event": set[int]()}
    at = {kind: facts.count_of(kind) - 1 for kind in keys}
    while max(at.values()) >= 0 and sum(map(len, keys.values())) < limit:
        kind = max(
            (kind for kind in keys if at[kind] >= 0),
            key=lambda kind: int(facts.data(f"{kind}_op")[at[kind]]),
        )
        keys[kind].add(int(facts.data(f"{kind}_id")[at[kind]]))
        at[kind] -= 1
    left = sum(
        len(set(facts.data(f"{kind}_id")[: at[kind] + 1].tolist()) - keys[kind]) for kind in keys
    )
    recent = _kept(view, range(view.memories - 1, max(-1, view.memories - 1 - limit), -1))
    older = max(0, view.memories - limit)
    return Chosen(keys["fact"], keys["event"], set(recent), (left, older))


def draw(view: View | None, facts: FactView, chosen: Chosen) -> dict[str, Any]:
    """Return the drawing of ``chosen``, with the facts that its events include, and evidence."""
    return _Drawing(view, facts, chosen).drawn()


def _kept(view: View, memories: Iterable[int]) -> list[int]:
    """Return the ``memories`` that are not forgotten in the view."""
    wanted = sorted(set(memories))
    return [
        ordinal
        for ordinal, memory in zip(wanted, read_memories(view, wanted), strict=True)
        if memory.closed is None or memory.closed.how != "forgotten"
    ]


class _Drawing:
    def __init__(self, view: View | None, facts: FactView, chosen: Chosen) -> None:
        self.view = view
        self.facts = facts
        self.chosen = chosen
        self.entities: set[int] = set()
        self.until = int(facts.data("op_recorded_at")[facts.op - 1]) if facts.op else 0

    def drawn(self) -> dict[str, Any]:
        chosen = self.chosen
        events = [self._event(key) for key in sorted(chosen.events)]
        wanted = set(chosen.facts)
        for event in events:
            wanted.update(number for version in event["versions"] for number in version["includes"])
        facts = [self._fact(key) for key in sorted(wanted)]
        cited = {
            memory for fact in facts for version in fact["versions"] for memory in version["cites"]
        }
        memories = self._memories(chosen.memories | cited, cited)
        drawn = {memory["number"] for memory in memories}
        for fact in facts:
            for version in fact["versions"]:
                version["cites"] = [memory for memory in version["cites"] if memory in drawn]
        merges = self._merges()
        return {
            "until": self.until,
            "facts": [fact for fact in facts if fact["versions"]],
            "events": [event for event in events if event["versions"]],
            "episodes": self._episodes(),
            "memories": memories,
            "merges": merges,
            "entities": [self._entity(number) for number in sorted(self.entities)],
            "left_out": {
                # Without those that are drawn because an event or a fact needs them.
                "facts": chosen.left_out[0] - len(wanted - chosen.facts),
                "memories": chosen.left_out[1] - len(drawn - chosen.memories),
            },
        }

    def _versions(self, kind: str, key: int) -> list[int]:
        return self.facts.versions_up_to(self.facts.version_of(key, kind), kind)

    def _recorded(self, kind: str, version: int) -> dict[str, int | None]:
        start, end = self.facts.recorded(version, kind)
        return {"from": start, "to": end}

    def _fact(self, key: int) -> dict[str, Any]:
        data = self.facts.data
        versions = []
        for version in self._versions("fact", key):
            fact = read_fact(self.facts, version)
            subject = data("fact_subject")[version]
            kind = data("fact_kind")[version]
            target = data("fact_object")[version] if kind == ENTITY else None
            self.entities.update({subject} if target is None else {subject, target})
            said = fact.to_dict()
            start = data("fact_start")[version]
            end = data("fact_end")[version]
            value = said["object"]
            versions.append(
                self._recorded("fact", version)
                | {
                    "subject": subject,
                    "predicate": fact.predicate,
                    "object": target,
                    "value": value["text"] if isinstance(fact.object, Mention) else value,
                    "kind": fact.kind,
                    "start": None if start == OPEN_START else start,
                    "end": None if end == OPEN_END else end,
                    "cites": self.facts.numbers("fact_evidence", "fact_evidence_end", version),
                    "said": {
                        name: said[name]
                        for name in (
                            "valid",
                            "confidence",
                            "uncertainty",
                            "source",
                            "mentions",
                            "by",
                            "why",
                        )
                    },
                }
            )
        return {
            "number": key,
            "id": self.facts.columns.dictionary["fact_ids"].string(key),
            "versions": versions,
        }

    def _edges(self, key: int) -> Iterator[tuple[int, int, int, str | None, int, int]]:
        """Yield (relation, target, version, qualifier, from, op) of an event's edges, in order."""
        facts = self.facts
        data = facts.data
        at = facts.data("op_recorded_at")
        for entry in reversed(list(facts.entries("edge_source", key))):
            op = data("edge_op")[entry]
            if op <= facts.op:
                yield (
                    data("edge_relation")[entry],
                    data("edge_target")[entry],
                    data("edge_version")[entry],
                    facts.columns.label(data("edge_qualifier")[entry]),
                    at[op - 1],
                    op,
                )

    def _event(self, key: int) -> dict[str, Any]:
        facts = self.facts
        label = self.facts.columns.label
        edges = list(self._edges(key))
        versions = []
        links = []
        for relation, target, version, qualifier, start, _ in edges:
            name = RELATIONS[relation]
            if version == NONE and name in TARGETS:
                if relation == PARTICIPANT:
                    self.entities.add(target)
                links.append(
                    {"relation": name, "target": target, "qualifier": qualifier, "from": start}
                )
        for version in self._versions("event", key):
            if facts.data("event_kind")[version] != EVENT:
                continue
            own = [edge for edge in edges if edge[2] == version]
            who = [(target, role) for kind, target, _, role, *_ in own if kind == PARTICIPANT]
            self.entities.update(target for target, _ in who)
            by, why = facts.note(facts.data("event_op")[version])
            span = to_moments(facts.data("span_start")[version], facts.data("span_end")[version])
            versions.append(
                self._recorded("event", version)
                | {
                    "summary": label(facts.data("event_summary")[version]),
                    "start": None if span[0] is None else facts.data("span_start")[version],
                    "includes": [target for kind, target, *_ in own if kind == INCLUDES],
                    "participants": [{"entity": who, "role": role} for who, role in who],
                    "said": {
                        "status": label(facts.data("event_status")[version]),
                        "span": iso_moments(span),
                        "by": by,
                        "why": why,
                    },
                }
            )
        id = facts.columns.dictionary["event_ids"].string(key)
        return {"number": key, "id": id, "versions": versions, "links": links}

    def _episodes(self) -> list[dict[str, Any]]:
        facts = self.facts
        keys = {
            edge.source
            for key in self.chosen.events
            for edge in edges_to(facts, "event", key)
            if edge.relation == AGGREGATES
        }
        found = []
        for key in sorted(keys):
            edges = list(self._edges(key))
            versions = [
                self._recorded("event", version)
                | {
                    "summary": facts.columns.label(facts.data("event_summary")[version]),
                    "events": [
                        target
                        for kind, target, of, *_ in edges
                        if kind == AGGREGATES and of == version
                    ],
                }
                for version in self._versions("event", key)
                if facts.data("event_kind")[version] == EPISODE
            ]
            id = facts.columns.dictionary["event_ids"].string(key)
            found.append({"number": key, "id": id, "versions": versions})
        return found

    def _memories(self, wanted: set[int], cited: set[int]) -> list[dict[str, Any]]:
        view = self.view
        if view is None:
            return []
        ordinals = _kept(view, (each for each in wanted if each < view.memories))
        found = []
        for ordinal, memory in zip(ordinals, read_memories(view, ordinals), strict=True):
            first, end = view.offsets("mention_offset")[ordinal : ordinal + 2].tolist()
            names = (
                view.buffer("mention_entity")[first:end].tolist() if ordinal not in cited else []
            )
            self.entities.update(names)
            closed = int(view.buffer("closed_by")[ordinal])
            at = view.buffer("op_recorded_at")
            ended = int(view.buffer("valid_end")[ordinal])
            found.append(
                {
                    "number": ordinal,
                    "id": memory.id,
                    "text": memory.text,
                    "from": int(at[int(view.buffer("op")[ordinal]) - 1]),
                    "to": int(at[closed - 1]) if 0 < closed <= view.op else None,
                    "start": int(view.buffer("event_start")[ordinal]),
                    "end": None if ended == OPEN_END else ended,
                    "names": names,
                    "said": {
                        "event_at": memory.event_at.isoformat(),
                        "speaker": memory.speaker,
                        "document": memory.document_id,
                        "network": memory.network,
                        "tags": list(memory.tags),
                    },
                }
            )
        return found

    def _merges(self) -> list[dict[str, Any]]:
        """Return the merges and aliases of drawn entities, in their order."""
        facts = self.facts
        data = facts.data
        at = facts.data("op_recorded_at")
        links: list[tuple[int, int, int, int | None]] = []
        for op, source, target, parted in facts.state.merges(facts.op):
            links.append((op, source, target, None if parted is None else at[parted - 1]))
        for version in facts.state.aliases:
            if data("fact_op")[version] <= facts.op:
                closed = facts.recorded(version)[1]
                subject = data("fact_subject")[version]
                target = data("fact_object")[version]
                links.append((data("fact_op")[version], subject, target, closed))
        ever = Identities((source, target) for _, source, target, _ in links)
        roots = {ever.root(number) for number in self.entities}
        links = [link for link in links if ever.root(link[1]) in roots]
        self.entities.update(number for _, *ends, _ in links for number in ends)
        return [
            {"op": op, "from": at[op - 1], "to": end, "source": source, "target": target}
            for op, source, target, end in sorted(links, key=lambda link: link[:3])
        ]

    def _entity(self, number: int) -> dict[str, Any]:
        facts = self.facts
        at = facts.data("op_recorded_at")
        label = facts.columns.label
        records = []
        for entry in sorted(facts.entries("node_entity", number)):
            op = facts.data("node_op")[entry]
            if op <= facts.op:
                records.append({"from": at[op - 1], "name": label(facts.data("node_name")[entry])})
        return {
            "number": number,
            "name": facts.columns.entity_name(number),
            "records": records,
        }

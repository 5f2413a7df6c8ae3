"""The events, facts and memories that may be packed for a question: their lines, and their needs.

A pack is closed: an event brings all the facts that it includes, and a fact brings one memory that
it cites: the heaviest, then the shortest, then the oldest.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

import numpy as np

from recollex_engine.facts.events import INCLUDES, Event, edges_from, read_event
from recollex_engine.facts.facts import Conflict, Fact, read_conflict, read_fact
from recollex_engine.ranking.ranking import Ranking
from recollex_engine.recall.memory import Memory, read_memories
from recollex_engine.recall.neighbourhood import (
    EVENT,
    FACT,
    MEMORY,
    Neighbourhood,
    Node,
    ReachedNode,
)
from recollex_engine.recall.subgraph import SHOWN, event_line, fact_line, has_source, memory_line
from recollex_engine.state.view import View


class Packable:
    """The nodes that were reached around a question, and the nodes that those need.

    events, facts, memories: by key, version and ordinal. facts_of: the facts that each event
    includes. evidence: the memories that each fact cites and the cut shows; proof: the one that is
    packed with it. conflicts: of each fact. at: the moment at which facts are called active.
    """

    def __init__(
        self,
        near: Neighbourhood,
        reached: Mapping[Node, ReachedNode],
        ranking: Ranking,
        at: datetime,
    ) -> None:
        self.near = near
        self.reached = reached
        self.at = at
        self.evidence: dict[int, list[int]] = {}
        self.facts_of = {
            number: self._included(number) for kind, number in reached if kind == EVENT
        }
        versions = {number for kind, number in reached if kind == FACT}
        versions.update(fact for facts in self.facts_of.values() for fact in facts)
        self.facts = {version: self._fact(version) for version in sorted(versions)}
        self.conflicts = {version: self._conflicts(version) for version in self.facts}
        self.events = {key: self._event(key) for key in sorted(self.facts_of)}
        self.proof = {version: self._proof(version) for version in self.facts}
        ordinals = {number for kind, number in reached if kind == MEMORY}
        ordinals.update(memory for memory in self.proof.values() if memory is not None)
        self.memories = self._read(sorted(ordinals), ranking)
        self._marked = has_source(self.memories.values())
        self.terms = {
            (MEMORY, each): near.terms_in(memory.text) for each, memory in self.memories.items()
        }
        self.terms |= {(FACT, version): near.terms_of((FACT, version)) for version in self.facts}
        self.terms |= {(EVENT, key): near.terms_of((EVENT, key)) for key in self.events}

    @property
    def nodes(self) -> list[Node]:
        """Every node that has a line."""
        found = [*((EVENT, key) for key in self.events), *((FACT, each) for each in self.facts)]
        return [*found, *((MEMORY, each) for each in self.memories)]

    def weight(self, node: Node) -> float:
        """Return the weight of a node (see `packing`); 0 if it is needed but was not reached."""
        reached = self.reached.get(node)
        if reached is None:
            return 0.0
        held = len(self.near.terms_of(node)) / (len(self.near.terms) or 1)
        return reached.weight * (1 + held)

    def closure(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes that are packed with a node; the node itself is first."""
        kind, number = node
        if kind == MEMORY:
            return (node,)
        facts = self.facts_of[number] if kind == EVENT else (number,)
        found: dict[Node, None] = {node: None}
        found |= {(FACT, fact): None for fact in facts}
        proofs = (self.proof[fact] for fact in facts)
        found |= {(MEMORY, memory): None for memory in proofs if memory is not None}
        return tuple(found)

    def covered(self, nodes: Iterable[Node]) -> set[Node | str]:
        """Return the needs that nodes cover: terms, the nodes, and the memories that facts cite."""
        found: set[Node | str] = set()
        for node in nodes:
            found.add(node)
            found |= self.terms[node]
            if node[0] == FACT:
                found |= {(MEMORY, memory) for memory in self.evidence[node[1]]}
        return found

    def line(self, node: Node) -> str:
        """Return the longest line of a node, with labels of the usual length."""
        kind, number = node
        if kind == EVENT:
            event = self.events[number]
            return event_line(
                "E10", event, dict.fromkeys(event.facts, "F10"), self.at, self._marked
            )
        if kind == FACT:
            cited = [memory for memory in self.evidence[number] if memory in self.memories]
            labels = dict.fromkeys(self._ids(cited[:SHOWN]), "M10")
            return fact_line(
                "F10", self.facts[number], labels, self.conflicts[number], self.at, self._marked
            )
        return memory_line("M10", self.memories[number], self._marked)

    # -- reading it ------------------------------------------------------------------------------

    def _included(self, key: int) -> tuple[int, ...]:
        facts = self.near.facts
        versions = [
            facts.version_of(edge.target)
            for edge in edges_from(facts, key)
            if edge.relation == INCLUDES
        ]
        return tuple(dict.fromkeys(version for version in versions if version is not None))

    def _fact(self, version: int) -> Fact:
        cited = self.evidence[version] = self.near.evidence(version)
        return replace(read_fact(self.near.facts, version), evidence=self._ids(cited))

    def _conflicts(self, version: int) -> tuple[Conflict, ...]:
        near = self.near
        return tuple(
            replace(
                read_conflict(near.facts, version, other), evidence=self._ids(near.evidence(other))
            )
            for other in near.conflicts(version)
        )

    def _event(self, key: int) -> Event:
        event = read_event(self.near.facts, key)
        assert event is not None  # only events that the cut sees are reached
        return event

    def _ids(self, memories: Iterable[int]) -> tuple[str, ...]:
        view = self.near.view
        ids = view.buffer("id")
        return tuple(view.columns.dictionary["ids"].strings([int(ids[each]) for each in memories]))

    def _proof(self, version: int) -> int | None:
        tokens = self.near.view.buffer("tokens")
        return min(
            self.evidence[version],
            key=lambda memory: (-self.weight((MEMORY, memory)), int(tokens[memory]), memory),
            default=None,
        )

    def _read(self, ordinals: list[int], ranking: Ranking) -> dict[int, Memory]:
        """Return memories; of a long one, the recall's passage, else the one with most terms."""
        view = self.near.view
        cut: dict[int, tuple[int, ...]] = {}
        scores = dict(zip(ranking.memories.tolist(), ranking.scores.tolist(), strict=True))
        first_row = view.buffer("first_row")
        for place, memory in enumerate(ordinals):
            first = int(first_row[memory])
            end = int(first_row[memory + 1])
            if end - first > 1:
                row = ranking.best_row(memory)
                if row is None:
                    rows = {place: (row,) for place, row in enumerate(range(first, end))}
                    parts = _read_passages(view, [memory] * len(rows), {}, rows)
                    held = [len(self.near.terms_in(part.passage)) for part in parts]
                    row = first + held.index(max(held))
                cut[place] = (row,)
        memories = _read_passages(view, ordinals, scores, cut)
        return dict(zip(ordinals, memories, strict=True))


def _read_passages(
    view: View,
    ordinals: list[int],
    scores: Mapping[int, float],
    rows: Mapping[int, tuple[int, ...]],
) -> list[Memory]:
    """Return memories; those at the given places have only the text of one row."""
    given = [scores.get(memory, 0.0) for memory in ordinals]
    ranking = Ranking(np.array(ordinals, np.uint32), np.array(given, np.float64), {}, rows)
    return read_memories(view, ordinals, ranking)

"""The subgraph of a packed recall: events first, then the evidence that proves them.

A subgraph is closed: it holds all the facts that its events include, and for each fact one of the
memories that it cites, if the cut shows one. Episodes name events that did not fit; they are never
evidence (MemoTrace, "Retrieval and packing").
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollex_engine.facts.episodes import Episode
from recollex_engine.facts.events import Event
from recollex_engine.facts.facts import Conflict, Fact
from recollex_engine.recall.memory import Memory
from recollex_engine.recall.subgraph_text import write


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgraph:
    """The events, facts and memories for a question, best first, as one cut shows them.

    at: the moment for which facts are called active: `as_world`, else the recall's ``now``. facts:
    those of the events first; their evidence names memories that the cut shows. memories: the
    evidence, and found memories that no fact cites; of a long one, the passage. episodes: each
    holds a reached event that did not fit. conflicts: id of a fact -> the facts that contradict it,
    packed or not.

    tokens: of `to_prompt`, counted by `token_counter`, at most max_tokens. coverage: see `packing`.
    stopped: "coverage" if enough was covered, "budget" if more did not fit, "all" if there was no
    more.
    """

    query: str
    at: datetime
    events: tuple[Event, ...]
    facts: tuple[Fact, ...]
    memories: tuple[Memory, ...]
    episodes: tuple[Episode, ...]
    conflicts: Mapping[str, tuple[Conflict, ...]]
    coverage: float
    stopped: str
    tokens: int
    max_tokens: int
    token_counter: str
    op: int

    def to_prompt(self) -> str:
        """Return the subgraph as text for a language model; an empty string if it is empty.

        Every event, fact and memory is a line; lines refer to each other as [E1], [F1], [M1].
        """
        return write(self.events, self.facts, self.memories, self.episodes, self.conflicts, self.at)

    @property
    def edges(self) -> tuple[tuple[str, str, str], ...]:
        """(source, relation, target) between packed nodes and the entities that they name.

        Events, facts, memories and episodes by their ids, entities by their names.
        """
        facts = {fact.id for fact in self.facts}
        events = {event.id for event in self.events}
        memories = {memory.id for memory in self.memories}
        found: dict[tuple[str, str, str], None] = {}
        for event in self.events:
            found |= {(event.id, "includes_fact", id): None for id in event.facts if id in facts}
            for participant in event.participants:
                found[event.id, "has_participant", participant.name] = None
            for link in event.links:
                if link.event in events:
                    found[event.id, link.relation, link.event] = None
        for fact in self.facts:
            found[fact.id, "subject", fact.subject] = None
            if fact.kind == "entity":
                found[fact.id, "object", str(fact.object)] = None
            found |= {(fact.id, "evidence", id): None for id in fact.evidence if id in memories}
            for conflict in self.conflicts[fact.id]:
                if conflict.id in facts:
                    found[fact.id, "conflicts_with", conflict.id] = None
        for episode in self.episodes:
            found |= {(episode.id, "aggregates", id): None for id in episode.events if id in events}
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Return the subgraph as JSON values, times in ISO 8601.

        As `Event.to_dict` and the others. An event also has ``active_fact_count``, and a fact
        ``active_at``: whether it is valid ``at``.
        """
        return {
            "query": self.query,
            "at": self.at.isoformat(),
            "events": [
                event.to_dict() | {"active_fact_count": event.active_fact_count(self.at)}
                for event in self.events
            ],
            "facts": [
                fact.to_dict()
                | {
                    "active_at": fact.active_at(self.at),
                    "conflicts": [each.to_dict() for each in self.conflicts[fact.id]],
                }
                for fact in self.facts
            ],
            "memories": [memory.to_dict() for memory in self.memories],
            "episodes": [episode.to_dict() for episode in self.episodes],
            "edges": [list(edge) for edge in self.edges],
            "coverage": self.coverage,
            "stopped": self.stopped,
            "tokens": self.tokens,
            "max_tokens": self.max_tokens,
            "token_counter": self.token_counter,
        }

"""The subgraph of a packed recall: events first, then the evidence that proves them.

A subgraph is closed: it holds all the facts that its events include, and for each fact one of the
memories that it cites, if the cut shows one. Episodes name events that did not fit; they are never
evidence (MemoTrace, "Retrieval and packing").
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollex_engine.domain.intervals import Moments
from recollex_engine.domain.literals import Mention
from recollex_engine.domain.prompt_marks import written_short
from recollex_engine.domain.trust import FULL, LEVELS, mark
from recollex_engine.facts.events import Episode, Event
from recollex_engine.facts.facts import Conflict, Fact, Value
from recollex_engine.recall.memory import Memory

# A subgraph as text: one line for each event, fact, memory or episode.
EVENTS, FACTS, MEMORIES, EPISODES = SECTIONS = range(4)
SHOWN = 3
"""Conflicts of a fact, and memories that it cites, that are named; the others are counted."""


def heading(section: int, at: datetime) -> str:
    """Return the heading of a section."""
    if section == FACTS:
        return f"Facts (active: on {at.date().isoformat()}):"
    return ("Events:", "", "Evidence:", "Episodes (more events):")[section]


def write(
    events: Sequence[Event],
    facts: Sequence[Fact],
    memories: Sequence[Memory],
    episodes: Sequence[Episode],
    conflicts: Mapping[str, Sequence[Conflict]],
    at: datetime,
) -> str:
    """Return all lines, under the headings of the sections that are not empty.

    If a memory has a source, lines below full trust say so first.
    """
    marked = has_source(memories)
    fact_label = {fact.id: f"F{place}" for place, fact in enumerate(facts, 1)}
    memory_label = {memory.id: f"M{place}" for place, memory in enumerate(memories, 1)}
    event_label = {event.id: f"E{place}" for place, event in enumerate(events, 1)}
    sections = (
        [event_line(event_label[event.id], event, fact_label, at, marked) for event in events],
        [
            fact_line(fact_label[fact.id], fact, memory_label, conflicts[fact.id], at, marked)
            for fact in facts
        ],
        [memory_line(memory_label[memory.id], memory, marked) for memory in memories],
        [
            episode_line(f"P{place}", episode, event_label)
            for place, episode in enumerate(episodes, 1)
        ],
    )
    return "\n".join(
        line
        for section, lines in enumerate(sections)
        if lines
        for line in (heading(section, at), *lines)
    )


def has_source(memories: Iterable[Memory]) -> bool:
    """Return whether one of the memories has a source, so that the others are marked."""
    return any(memory.source is not None for memory in memories)


def event_line(
    label: str, event: Event, facts: Mapping[str, str], at: datetime, marked: bool
) -> str:
    """Return an event as a line; ``facts``: id -> label. ``marked``: whether it says its trust."""
    who = [
        each.name if each.role is None else f"{each.name} ({each.role})"
        for each in event.participants
    ]
    count = len(event.facts)
    said = [facts[id] for id in event.facts if id in facts]
    parts = [
        _trust(event.trust, marked),
        event.summary,
        event.status,
        _interval(event.span),
        _recorded(event.recorded),
        f"with {', '.join(who)}" if who else "",
        f"{event.active_fact_count(at)} of {count} facts active: {', '.join(said)}"
        if count
        else "",
    ]
    return _line(label, parts)


def fact_line(
    label: str,
    fact: Fact,
    memories: Mapping[str, str],
    conflicts: Sequence[Conflict],
    at: datetime,
    marked: bool,
) -> str:
    """Return a fact as a line; ``memories``: id -> label of the packed ones."""
    packed = [memories[id] for id in fact.evidence if id in memories][:SHOWN]
    more = len(fact.evidence) - len(packed)
    parts = [
        _trust(fact.trust, marked),
        f"{fact.subject} {fact.predicate} {_value(fact.object)}",
        f"valid {_interval(fact.valid) or 'always'}",
        _recorded(fact.recorded),
        "active" if fact.active_at(at) else "not active",
        fact.uncertainty or "",
        f"confidence {fact.confidence:g}" if fact.confidence < 1 else "",
        f"evidence {', '.join(packed)}" + (f" and {more} more" if more else "") if packed else "",
        *(
            f"CONFLICTS with {_value(each.object)}, valid {_interval(each.valid) or 'always'}"
            + _cited(each.evidence)
            for each in conflicts[:SHOWN]
        ),
        f"and {len(conflicts) - SHOWN} conflicts more" if len(conflicts) > SHOWN else "",
    ]
    return _line(label, parts)


def memory_line(label: str, memory: Memory, marked: bool) -> str:
    """Return a memory as a line, with its day and who said it."""
    said = f"{memory.speaker} said: {memory.text}" if memory.speaker else memory.text
    about = mark(memory.source, memory.trust) if marked else ""
    return _line(label, [memory.event_at.date().isoformat(), about, said])


def episode_line(label: str, episode: Episode, events: Mapping[str, str]) -> str:
    """Return an episode as a line; ``events``: id -> label of the packed ones."""
    packed = [events[id] for id in episode.events if id in events]
    more = len(episode.events) - len(packed)
    count = f"{len(packed)} events: {', '.join(packed)}, and {more} more" if packed else ""
    parts = [episode.title, _interval(episode.window), count or f"{more} events"]
    return _line(label, parts)


def _line(label: str, parts: Iterable[str]) -> str:
    """Return the parts as one line; line breaks in the parts become spaces."""
    return f"[{label}] " + " | ".join(written_short(part) for part in parts if part)


def _trust(trust: str | None, marked: bool) -> str:
    if not marked or trust == LEVELS[FULL]:
        return ""
    return "trust: unknown" if trust is None else f"trusted as {trust}"


def _cited(evidence: Sequence[str]) -> str:
    if not evidence:
        return ""
    more = f" and {len(evidence) - 1} more" if len(evidence) > 1 else ""
    return f", evidence {evidence[0]}{more}"


def _interval(moments: Moments) -> str:
    """Return an interval in words; an empty string if it is open at both ends."""
    start, end = moments
    if start is None:
        return "" if end is None else f"until {_moment(end)}"
    return f"since {_moment(start)}" if end is None else f"{_moment(start)} to {_moment(end)}"


def _recorded(recorded: Moments) -> str:
    """Return the days from and to which something was recorded."""
    days = [each.date().isoformat() for each in recorded if each is not None]
    return f"recorded {' to '.join(days)}"


def _moment(moment: datetime) -> str:
    """Return a day, or a time in seconds if it is not midnight."""
    day = moment.date().isoformat()
    if moment.hour or moment.minute or moment.second:
        return f"{day} {moment.time().isoformat('seconds')}"
    return day


def _value(value: Value) -> str:
    if isinstance(value, Mention):
        return f'"{value.text}" ({value.document})'
    return _moment(value) if isinstance(value, datetime) else str(value)


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

"""A subgraph as text: one line for each event, fact, memory or episode."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from recollex_engine.domain.intervals import Moments
from recollex_engine.domain.literals import Mention
from recollex_engine.domain.prompt_lines import written_short
from recollex_engine.domain.trust import FULL, LEVELS, mark
from recollex_engine.facts.episodes import Episode
from recollex_engine.facts.events import Event
from recollex_engine.facts.facts import Conflict, Fact, Value
from recollex_engine.recall.memory import Memory

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

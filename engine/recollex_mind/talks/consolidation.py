"""Which old events become an episode, and which facts say the same? Compression of what is kept.

MemoTrace ("Budgets & GC"): "consolidate low-salience Events into Episodes with stats only;
deduplicate facts via alias merges (append-only)". It gives no formula for the salience of an event,
and the condition under which it archives is empty in print. Here::

    salience   = (recency + frequency + centrality) / 3
    recency    = 2 ** -(age of the event / 14 days), by its recorded time
    frequency  = min(1, documents that mention a participant / 5)
    centrality = min(1, ln(1 + facts that name a participant) / ln(21))

The best known participant counts, and of its mentions and facts the newest `LOOKED`. Events of a
calendar month (UTC) that are old enough and below the threshold become one episode, whose title
counts them, and get the status "archived". Nothing leaves the log: one `Undo` brings all of it
back. Observations (`mind.observations`) are not archived: they end with their facts.
"""

import math
from calendar import monthrange
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

import numpy as np

from recollex_engine.clock import DAY, from_micros, to_micros
from recollex_engine.domain.checks import MAX_IDS, is_reserved
from recollex_engine.domain.fact_schema import ARCHIVED, OBSERVATION
from recollex_engine.domain.ids import content_id
from recollex_engine.domain.literals import ENTITY
from recollex_engine.domain.operations import (
    ArchiveEdge,
    Operation,
    RetroCorrect,
    UpsertEpisode,
    UpsertEvent,
)
from recollex_engine.facts.events import INCLUDES, Event, edges_to, find_events, read_event
from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.facts import Fact, read_fact
from recollex_engine.state.column_set import NONE
from recollex_engine.state.view import View

LOOKED = 64
"""Limit of the mentions, and of the facts, that are looked at for one participant."""
DOCUMENTS_ENOUGH = 5
HALF_LIFE = 14 * DAY
FACTS_ENOUGH = 20
SHOWN = 3
"""Number of the participants that a title counts."""


@dataclass(frozen=True, slots=True)
class EpisodeMade:
    """An episode over the events of one month that are worth little by themselves."""

    id: str
    title: str
    window: tuple[datetime, datetime]
    events: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A fact that says what another one says. kept, closed: ids."""

    kept: str
    closed: str


@dataclass(frozen=True, slots=True)
class ObservationMade:
    """What several facts of an entity show together. id: of the event; facts: the ids it cites."""

    id: str
    entity: str
    text: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Consolidation:
    """What was consolidated, or would be.

    episodes: over the events that are archived. duplicates: facts that were closed in favour of
    another, which has the evidence of both. considered: number of events that were old enough.
    observations: made by the language model. unobserved: names of entities with enough new facts
    for an observation that was not made: in a preview, without a model, where the model failed, and
    where its answer cited fewer than two of the facts.
    """

    episodes: tuple[EpisodeMade, ...] = ()
    duplicates: tuple[Duplicate, ...] = ()
    considered: int = 0
    observations: tuple[ObservationMade, ...] = ()
    unobserved: tuple[str, ...] = ()

    @property
    def archived(self) -> int:
        """The number of events that are archived."""
        return sum(len(episode.events) for episode in self.episodes)

    def to_dict(self) -> dict[str, object]:
        """Return it as JSON values."""
        return {
            "episodes": [
                {
                    "id": each.id,
                    "title": each.title,
                    "window": [moment.isoformat() for moment in each.window],
                    "events": list(each.events),
                }
                for each in self.episodes
            ],
            "duplicates": [{"kept": each.kept, "closed": each.closed} for each in self.duplicates],
            "considered": self.considered,
            "archived": self.archived,
            "observations": [
                {"id": each.id, "entity": each.entity, "text": each.text, "facts": list(each.facts)}
                for each in self.observations
            ],
            "unobserved": list(self.unobserved),
        }


def consolidate(
    view: View | None, facts: FactView, now: int, age: int, threshold: float
) -> tuple[Consolidation, list[Operation]]:
    """Return what to consolidate at a time, and the operations that do it.

    age: microseconds; events recorded later than ``now - age`` stay. threshold: of salience.
    Cost: 0.2 ms an event, and a sort of the open facts.
    """
    pairs, operations = _duplicates(facts)
    moved = {closed.id: kept.id for kept, closed in pairs}
    old = 0
    low = []
    for key in find_events(facts):
        event = read_event(facts, key)
        assert event is not None
        if event.status == OBSERVATION:
            continue
        if to_micros(event.freshness, "freshness") > now - age:
            continue
        old += 1
        if event_salience(view, facts, event, now) < threshold:
            low.append(event)
    made = list(_episodes(low))
    gone = {id for episode in made for id in episode.events}
    for event in low:
        if event.id in gone:
            operations.append(_recorded_again(event, moved, ARCHIVED))
    for event in _including(facts, moved):
        if event.id not in gone:
            operations.append(_recorded_again(event, moved, event.status))
    for episode in made:
        start, end = (to_micros(moment, "window") for moment in episode.window)
        operations.append(UpsertEpisode(episode.title, episode.events, start, end, episode.id))
    duplicates = tuple(Duplicate(kept.id, closed.id) for kept, closed in pairs)
    operations += [ArchiveEdge(each.closed) for each in duplicates]
    return Consolidation(tuple(made), duplicates, old), operations


def event_salience(view: View | None, facts: FactView, event: Event, now: int) -> float:
    """Return the salience of an event in [0, 1]: see this module's docstring."""
    age = max(0, now - to_micros(event.freshness, "freshness"))
    recency = float(2.0 ** -(age / HALF_LIFE))
    frequency = centrality = 0.0
    for participant in event.participants:
        assert view is not None  # the facts are of an agent that has recorded something
        entity = view.columns.entity(participant.name, view.op)
        if entity is not None:
            frequency = max(frequency, _frequency(view, entity))
            centrality = max(centrality, _centrality(facts, entity))
    return (recency + frequency + centrality) / 3


def _frequency(view: View, entity: int) -> float:
    of = view.of_memories("document")
    documents = {int(of[memory]) for memory in islice(_mentions(view, entity), LOOKED)}
    return min(1.0, len(documents) / DOCUMENTS_ENOUGH)


def _centrality(facts: FactView, entity: int) -> float:
    root = facts.root(entity)
    count = sum(
        1
        for keys in ("fact_subject", "fact_entity")
        for _ in islice(facts.entries(keys, root), LOOKED)
    )
    return min(1.0, math.log1p(count) / math.log1p(FACTS_ENOUGH))


def _mentions(view: View, entity: int) -> Iterator[int]:
    """Yield the memories of a view that mention an entity, newest first."""
    memories = view.buffer("mention_memory")
    previous = view.buffer("mention_previous")
    head = view.entity_head
    for member in view.same_entities(entity):
        entry = int(head[member]) if member < len(head) else NONE
        while entry != NONE:
            if (memory := int(memories[entry])) < view.memories:
                yield memory
            entry = int(previous[entry])


def _episodes(events: Sequence[Event]) -> Iterator[EpisodeMade]:
    """Yield an episode for each calendar month that has two events or more."""
    months: dict[tuple[int, int], list[Event]] = {}
    for event in events:
        at = event.span[0] or event.recorded[0]
        months.setdefault((at.year, at.month), []).append(event)
    for (year, month), those in sorted(months.items()):
        for first in range(0, len(those), MAX_IDS):
            part = those[first : first + MAX_IDS]
            if len(part) < 2:
                continue
            start = datetime(year, month, 1, tzinfo=UTC)
            end = from_micros(to_micros(start, "window") + monthrange(year, month)[1] * DAY)
            ids = tuple(event.id for event in part)
            title = _title(start, part)
            id = f"{year}-{month:02}/{content_id('episode', ids)}"  # an event's id may be erased
            yield EpisodeMade(id, title, (start, end), ids)


def _title(start: datetime, events: Sequence[Event]) -> str:
    """Return the statistics of events: how many, and who took part most often."""
    counts = Counter(each.name for event in events for each in event.participants)
    named = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:SHOWN]
    said = ", ".join(f"{name} ({count})" for name, count in named)
    return f"{start:%B %Y}: {len(events):,} events" + (f", with {said}" if said else "")


def _duplicates(facts: FactView) -> tuple[list[tuple[Fact, Fact]], list[Operation]]:
    """Return pairs of facts that say the same, and the corrections that unite their evidence."""
    versions = facts.all()
    if len(versions) < 2:
        return [], []
    columns = [facts.array(f"fact_{name}")[versions] for name in _SAME]
    subjects = columns[0].astype(np.int64)
    objects = columns[3].astype(np.int64)
    if facts.identities:
        roots = facts.identities.roots(facts.columns.entities)
        subjects = roots[subjects].astype(np.int64)
        named = columns[2] == ENTITY
        objects[named] = roots[objects[named]]
    keys = np.stack([subjects, *(c.astype(np.int64) for c in columns[1:3]), objects, *columns[4:]])
    _, first, group = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    again = np.flatnonzero(first[group] != np.arange(len(versions)))
    pairs: list[tuple[Fact, Fact]] = []
    evidence: dict[str, tuple[str, ...]] = {}
    for place in again.tolist():
        kept = read_fact(facts, int(versions[first[group[place]]]))
        closed = read_fact(facts, int(versions[place]))
        if is_reserved(kept.id) or is_reserved(closed.id):
            continue  # the profile keeps its own facts
        pairs.append((kept, closed))
        evidence[kept.id] = (*evidence.get(kept.id, kept.evidence), *closed.evidence)
    united = {id: tuple(dict.fromkeys(cited))[:MAX_IDS] for id, cited in evidence.items()}
    return pairs, [
        RetroCorrect(kept.id, {"evidence": united[kept.id]})
        for kept in {kept.id: kept for kept, _ in pairs}.values()
        if united[kept.id] != kept.evidence
    ]


_SAME = ("subject", "predicate", "kind", "object", "start", "end")


def _including(facts: FactView, moved: dict[str, str]) -> list[Event]:
    """Return the visible events that include one of the facts that are closed."""
    keys: dict[int, None] = {}
    for closed in moved:
        number = facts.columns.dictionary["fact_ids"].get(closed)
        if number is not None:
            found = edges_to(facts, "fact", number)
            keys |= dict.fromkeys(edge.source for edge in found if edge.relation == INCLUDES)
    events = (read_event(facts, key) for key in sorted(keys))
    return [event for event in events if event is not None]


def _recorded_again(event: Event, moved: dict[str, str], status: str) -> UpsertEvent:
    """Return the operation that records an event with a status, and without closed facts."""
    start, end = (None if each is None else to_micros(each, "span") for each in event.span)
    return UpsertEvent(
        event.summary,
        participants=tuple((each.name, each.role) for each in event.participants),
        facts=tuple(dict.fromkeys(moved.get(id, id) for id in event.facts)),
        start=start,
        end=end,
        status=status,
        times=tuple(
            each if isinstance(each, str) else to_micros(each, "times") for each in event.times
        ),
        mentions=event.mentions,
        given_id=event.id,
    )


def why_consolidated(now: int, age: int, threshold: float) -> str:
    """Return the reason that the log keeps.

    >>> why_consolidated(0, 86_400_000_000, 0.25)
    'consolidated at 1970-01-01T00:00:00+00:00: older than 1 days, salience below 0.25'
    """
    days = age / 86_400_000_000
    return (
        f"consolidated at {from_micros(now).isoformat()}: older than {days:g} days, "
        f"salience below {threshold:g}"
    )

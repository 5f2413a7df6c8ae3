"""Which events and episodes does a cut see? Events whose facts are all visible.

An event summarises facts; it never adds a fact. A cut shows an event if the event's own record and
every fact that it includes are visible in the cut. The event's freshness is the latest recorded
start of these facts; without facts, the recorded start of the event. Under As-World an event with a
start must also have begun.

An event with the status "observation" says what several facts show together. The facts that prove
it are those that the cut shows as they were when the event was recorded; a corrected one proves it
no more. A cut shows the event with these facts alone, and only while there are two or more. It is
trusted as the least trusted of them, and at most as "assistant", because a model has written it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import from_micros, in_zone, iso_moments, to_micros
from recollex_engine.domain.fact_schema import (
    ARCHIVED,
    BETWEEN_EVENTS,
    EVENT_KINDS,
    OBSERVATION,
    RELATIONS,
)
from recollex_engine.domain.intervals import (
    OPEN_START,
    Moments,
    Span,
    overlapping,
    to_moments,
    within,
)
from recollex_engine.domain.literals import Mention
from recollex_engine.domain.trust import LEVELS, trust_number
from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.facts import FactList
from recollex_engine.state.column_set import NONE

EVENT, EPISODE = range(len(EVENT_KINDS))
INCLUDES, PARTICIPANT, TIME, TIME_TEXT = range(4)
MENTIONED = RELATIONS.index("mentioned_in")
AGGREGATES = RELATIONS.index("aggregates")
LEAST_PROOFS = 2
"""Facts that an observation needs."""
_MOST_TRUST = trust_number("assistant")
"""The trust of an observation."""
_CLAIM = tuple(
    f"fact_{name}" for name in ("subject", "predicate", "kind", "object", "start", "end")
)
"""The columns of a fact that say what it claims."""


@dataclass(frozen=True, slots=True)
class Participant:
    """An entity that took part in an event, and its role."""

    name: str
    role: str | None


@dataclass(frozen=True, slots=True)
class EventLink:
    """An edge to another event that the cut sees: its id, the relation, a qualifier."""

    event: str
    relation: str
    qualifier: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event, as one cut sees it.

    span: when it happened, [start, end), as told by its author; the facts keep their own valid
    times. facts: ids of the facts that it includes. times: further moments, and texts that describe
    times. links: to other events; linked_from: from other events. freshness: see this module's
    docstring.
    """

    id: str
    summary: str
    span: Moments
    status: str
    recorded: tuple[datetime, datetime | None]
    freshness: datetime
    participants: tuple[Participant, ...]
    facts: tuple[str, ...]
    times: tuple[datetime | str, ...]
    mentions: tuple[Mention, ...]
    links: tuple[EventLink, ...]
    linked_from: tuple[EventLink, ...]
    by: str | None
    why: str | None
    version: int = field(repr=False)
    view: FactView = field(repr=False, compare=False)

    @property
    def evidence(self) -> FactList:
        """The facts that it includes, in recorded order: the evidence for the event."""
        versions = [self.view.version(id) for id in self.facts]
        found = [version for version in versions if version is not None]
        return FactList(self.view, np.array(sorted(found), np.int64))

    @property
    def proof_count(self) -> int:
        """The number of facts that it rests on in this cut."""
        return len(self.facts)

    @property
    def trust(self) -> str | None:
        """The least trust of its facts, see `Fact.trust`; None if that is unknown."""
        trust = self.view.trust
        level = min(map(trust, self.evidence.versions.tolist()), default=0)
        return LEVELS[min(level, _MOST_TRUST) if self.status == OBSERVATION else level]

    def active_fact_count(self, moment: datetime) -> int:
        """Return how many of its facts are valid at ``moment``."""
        at = to_micros(moment, "moment")
        versions = self.evidence.versions
        starts, ends = (self.view.array(f"fact_{name}")[versions] for name in ("start", "end"))
        return int(np.count_nonzero((starts <= at) & (ends > at)))

    def to_dict(self) -> dict[str, Any]:
        """Return the event as JSON values, times in ISO 8601."""
        return {
            "id": self.id,
            "summary": self.summary,
            "span": iso_moments(self.span),
            "status": self.status,
            "recorded": iso_moments(self.recorded),
            "freshness": self.freshness.isoformat(),
            "participants": [{"name": each.name, "role": each.role} for each in self.participants],
            "facts": list(self.facts),
            "trust": self.trust,
            "times": [each if isinstance(each, str) else each.isoformat() for each in self.times],
            "mentions": [
                {"document": each.document, "span": list(each.span), "text": each.text}
                for each in self.mentions
            ],
            "links": [_link(each) for each in self.links],
            "linked_from": [_link(each) for each in self.linked_from],
            "by": self.by,
            "why": self.why,
        }


@dataclass(frozen=True, slots=True)
class Edge:
    """One edge, as numbers of the columns."""

    source: int
    relation: int
    target: int
    qualifier: int
    zone: int


def event_visible_at(view: FactView, key: int) -> int | None:
    """Return the freshness of an event in microseconds, or None if the cut does not see it.

    ``key``: its number in `event_ids`. Cost: its edges.
    """
    version = view.version_of(key, "event")
    if version is None or view.data("event_kind")[version] != EVENT:
        return None
    if not view.is_open(version, "event"):
        return None
    start = view.data("span_start")[version]
    if view.world is not None and start != OPEN_START and start > view.world:
        return None
    own: int = view.recorded(version, "event")[0]
    latest: int | None = None
    proofs = 0
    for edge in edges_from(view, key):
        if edge.relation == INCLUDES:
            fact = view.version_of(edge.target)
            if fact is None or not view.is_visible(fact):
                return None
            proofs += 1
            recorded = view.recorded(fact)[0]
            latest = recorded if latest is None else max(latest, recorded)
    few = proofs < LEAST_PROOFS or view.least_trust > _MOST_TRUST
    if few and is_observation(view, version):
        return None
    if latest is None:
        return None if view.least_trust else own
    return latest


def event_status(view: FactView, key: int) -> str:
    """Return the status of the newest covered version of an event or episode."""
    return str(view.columns.label(view.data("event_status")[view.version_of(key, "event")]))


def edges_from(view: FactView, key: int) -> list[Edge]:
    """Return the edges of an event's or episode's newest version, and its links, oldest first.

    Of an observation's facts, those that still prove it.
    """
    current = view.version_of(key, "event")
    recorded = view.data("edge_op")
    versions = view.data("edge_version")
    found = [
        _edge(view, entry)
        for entry in view.entries("edge_source", key)
        if recorded[entry] <= view.op and versions[entry] in (current, NONE)
    ]
    if current is not None and is_observation(view, current):
        found = [edge for edge in found if _counts(view, edge, current)]
    return found[::-1]


def edges_to(view: FactView, kind: str, target: int) -> Iterator[Edge]:
    """Yield the edges to a fact, event or entity that still hold, newest first."""
    versions = view.data("edge_version")
    sources = view.data("edge_source")
    for entry in view.edges_to(kind, target):
        current = view.version_of(sources[entry], "event")
        if versions[entry] in (current, NONE):
            edge = _edge(view, entry)
            if (
                kind != "fact"
                or current is None
                or not is_observation(view, current)
                or _counts(view, edge, current)
            ):
                yield edge


def is_observation(view: FactView, version: int) -> bool:
    """Return whether a version of an event is an observation."""
    status = view.data("event_status")[version]
    return bool(status == view.columns.dictionary["labels"].get(f"q:{OBSERVATION}"))


def _counts(view: FactView, edge: Edge, version: int) -> bool:
    """Return whether an edge of an observation counts: not to a fact that proves it no more."""
    return edge.relation != INCLUDES or _proves(view, edge.target, view.data("event_op")[version])


def _proves(view: FactView, fact: int, op: int) -> bool:
    """Return whether the cut sees a fact, and whether it claims what it claimed at an operation."""
    version = view.version_of(fact)
    if version is None or not view.is_visible(version):
        return False
    recorded = view.data("fact_op")
    previous = view.data("fact_previous")
    then = version
    while then != NONE and recorded[then] > op:
        then = previous[then]
    return then == version or (
        then != NONE and all(view.data(each)[then] == view.data(each)[version] for each in _CLAIM)
    )


def _edge(view: FactView, entry: int) -> Edge:
    names = ("edge_source", "edge_relation", "edge_target", "edge_qualifier", "edge_zone")
    return Edge(*(view.data(name)[entry] for name in names))


def read_event(view: FactView, key: int) -> Event | None:
    """Return an event, or None if the cut does not see it. Cost: about 30 us."""
    freshness = event_visible_at(view, key)
    if freshness is None:
        return None
    version = view.version_of(key, "event")
    assert version is not None
    columns = view.columns
    label = view.columns.label
    data = view.data
    participants: dict[Participant, None] = {}
    facts = []
    times = []
    mentions = []
    links = []
    for edge in edges_from(view, key):
        qualifier = label(edge.qualifier)
        if edge.relation == INCLUDES:
            facts.append(columns.dictionary["fact_ids"].string(edge.target))
        elif edge.relation == PARTICIPANT:
            participants[Participant(view.entity_name(edge.target), qualifier)] = None
        elif edge.relation == TIME:
            times.append(in_zone(edge.target, label(edge.zone)))
        elif edge.relation == TIME_TEXT:
            times.append(str(label(edge.target)))  # type: ignore[arg-type]
        elif edge.relation == MENTIONED:
            mentions.append(Mention.from_json(str(label(edge.target))))
        elif (link := _seen_link(view, edge, edge.target)) is not None:
            links.append(link)
    incoming = [
        link
        for edge in edges_to(view, "event", key)
        if (link := _seen_link(view, edge, edge.source)) is not None
    ]
    start, end = view.recorded(version, "event")
    by, why = view.note(data("event_op")[version])
    return Event(
        id=columns.dictionary["event_ids"].string(key),
        summary=str(label(data("event_summary")[version])),
        span=to_moments(data("span_start")[version], data("span_end")[version]),
        status=str(label(data("event_status")[version])),
        recorded=(from_micros(start), None if end is None else from_micros(end)),
        freshness=from_micros(freshness),
        participants=tuple(participants),
        facts=tuple(facts),
        times=tuple(times),
        mentions=tuple(mentions),
        links=tuple(links),
        linked_from=tuple(incoming[::-1]),
        by=by,
        why=why,
        version=version,
        view=view,
    )


def _seen_link(view: FactView, edge: Edge, other: int) -> EventLink | None:
    """Return an edge between events, or None if the cut does not see the other event."""
    if edge.relation not in BETWEEN_EVENTS or event_visible_at(view, other) is None:
        return None
    id = view.columns.dictionary["event_ids"].string(other)
    return EventLink(id, RELATIONS[edge.relation], view.columns.label(edge.qualifier))


def archived(view: FactView) -> npt.NDArray[np.bool_]:
    """Return bool[versions of events]: those that archive an event or an episode."""
    status = view.columns.column["event_status"].buffer[: view.count_of("event")]
    label = view.columns.dictionary["labels"].get(f"q:{ARCHIVED}")
    found: npt.NDArray[np.bool_] = status == (NONE if label is None else label)
    return found


def find_events(
    view: FactView,
    participant: str | None = None,
    fact: str | None = None,
    status: str | None = None,
    during: Span | None = None,
    overlaps: Span | None = None,
) -> list[int]:
    """Return the numbers of the visible events that meet every condition, in recorded order.

    Archived ones are returned only if ``status`` asks for them.

    An event keeps its place when it is recorded again. Cost: the events of the participant or fact,
    else all events.
    """
    keys: set[int] | None = None
    if participant is not None:
        entity = view.entity(participant)
        members = () if entity is None else view.identities.members(entity)
        keys = {
            edge.source
            for member in members
            for edge in edges_to(view, "entity", member)
            if edge.relation == PARTICIPANT
        }
    if fact is not None:
        number = view.columns.dictionary["fact_ids"].get(fact)
        of_fact = (
            set() if number is None else {edge.source for edge in edges_to(view, "fact", number)}
        )
        keys = of_fact if keys is None else keys & of_fact
    if keys is None:
        kinds = view.columns.column["event_kind"].buffer[: view.count_of("event")]
        ids = view.columns.column["event_id"].buffer[: view.count_of("event")]
        keys = set(ids[kinds == EVENT].tolist())
    return [
        key
        for key in sorted(keys)
        if event_visible_at(view, key) is not None and _meets(view, key, status, during, overlaps)
    ]


def _meets(
    view: FactView, key: int, status: str | None, during: Span | None, overlaps: Span | None
) -> bool:
    version = view.version_of(key, "event")
    if status is not None and event_status(view, key) != status:
        return False
    if status is None and event_status(view, key) == ARCHIVED:
        return False
    start = view.data("span_start")[version]
    end = view.data("span_end")[version]
    return all(
        span is None or test(span).holds(start, end)
        for span, test in ((during, within), (overlaps, overlapping))
    )


def _link(link: EventLink) -> dict[str, Any]:
    return {"event": link.event, "relation": link.relation, "qualifier": link.qualifier}


# What did an event say before? Its versions, each with the facts that it rested on then.
def event_history(view: FactView, id: str) -> list[Event]:
    """Return the versions of an event, oldest first, each as it was seen when it was recorded.

    Without those that were hidden then. ``recorded`` ends when the next version was recorded.
    """
    found = []
    for version in view.versions(id, "event"):
        then = FactView(view.columns, view.data("event_op")[version], None, view.least_trust)
        event = read_event(then, view.data("event_id")[version])
        if event is not None:
            end = view.recorded(version, "event")[1]
            closed = None if end is None else from_micros(end)
            found.append(replace(event, recorded=(event.recorded[0], closed)))
    return found


# Which episodes does a cut see? Those with a visible event. Episodes are never evidence.
@dataclass(frozen=True, slots=True)
class Episode:
    """A group of events, as one cut sees it.

    events: the ids of the events that the cut sees. window: the time that the episode is about.
    freshness: the latest freshness of its visible events.
    """

    id: str
    title: str
    window: Moments
    recorded: tuple[datetime, datetime | None]
    freshness: datetime
    events: tuple[str, ...]
    by: str | None
    why: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return the episode as JSON values, times in ISO 8601."""
        return {
            "id": self.id,
            "title": self.title,
            "window": iso_moments(self.window),
            "recorded": iso_moments(self.recorded),
            "freshness": self.freshness.isoformat(),
            "events": list(self.events),
            "by": self.by,
            "why": self.why,
        }


def read_episode(view: FactView, key: int) -> Episode | None:
    """Return an episode by its number in `event_ids`, or None if the cut does not see it."""
    version = view.version_of(key, "event")
    if version is None or view.data("event_kind")[version] != EPISODE:
        return None
    if event_status(view, key) == ARCHIVED:
        return None
    members = [edge.target for edge in edges_from(view, key) if edge.relation == AGGREGATES]
    seen = {
        event: fresh for event in members if (fresh := event_visible_at(view, event)) is not None
    }
    if not seen:
        return None
    columns = view.columns
    label = view.columns.label
    data = view.data
    start, end = view.recorded(version, "event")
    by, why = view.note(data("event_op")[version])
    return Episode(
        columns.dictionary["event_ids"].string(key),
        str(label(data("event_summary")[version])),
        to_moments(data("span_start")[version], data("span_end")[version]),
        (from_micros(start), None if end is None else from_micros(end)),
        from_micros(max(seen.values())),
        tuple(columns.dictionary["event_ids"].strings(seen)),
        by,
        why,
    )


def find_episodes(view: FactView, event: str | None = None) -> list[Episode]:
    """Return the visible episodes, only those with ``event`` if it is given, in recorded order."""
    if event is not None:
        number = view.columns.dictionary["event_ids"].get(event)
        keys = (
            set()
            if number is None
            else {
                edge.source
                for edge in edges_to(view, "event", number)
                if edge.relation == AGGREGATES
            }
        )
    else:
        kinds = view.columns.column["event_kind"].buffer[: view.count_of("event")]
        ids = view.columns.column["event_id"].buffer[: view.count_of("event")]
        keys = set(ids[kinds == EPISODE].tolist())
    found = (read_episode(view, key) for key in sorted(keys))
    return [episode for episode in found if episode is not None]

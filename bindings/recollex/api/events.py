"""Events and episodes: what happened, who took part, and which facts prove it."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from recollex.api import valid_times
from recollex.api.arguments import checked_id, one_or_more, optional_micros
from recollex.api.fact_operations import Submit
from recollex.api.valid_times import Interval
from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.clock import Moment, to_micros
from recollex_engine.domain.literals import Mention
from recollex_engine.domain.operations import Link, UpsertEpisode, UpsertEvent
from recollex_engine.errors import InputError, UnknownIdError
from recollex_engine.facts.episodes import Episode, find_episodes, read_episode
from recollex_engine.facts.events import Event, find_events, read_event
from recollex_engine.facts.fact_view import FactView

Participants = Mapping[str, str | None] | Sequence[str | tuple[str, str | None]]
"""Names, or names with roles: {"Ann": "host", "Ben": None}, ["Ann", ("Ben", "guest")]."""


class EventOperations:
    """The operations on events and episodes, of an agent or of one transaction.

    submit: records an operation. now: returns the present in microseconds. locale: returns the
    agent's locale.
    """

    def __init__(self, submit: Submit, now: Callable[[], int], locale: Callable[[], str]) -> None:
        self._submit = submit
        self._now = now
        self._locale = locale

    def add(
        self,
        summary: str,
        *,
        participants: Participants = (),
        facts: str | Sequence[str] = (),
        span: Interval | None = None,
        status: str = "happened",
        times: Sequence[datetime | str] = (),
        mentions: Sequence[Mention] = (),
        id: str | None = None,
        by: str | None = None,
        why: str | None = None,
        recorded_at: Moment | None = None,
    ) -> str:
        """Record an event and return its id (UPSERT_EVENT).

        participants: names, or names with roles. facts: ids of the facts that it sums up; a cut
        hides the event unless it sees all of them. span: (start, end), or words that are parsed as
        a time. status: a short text. id: the caller's own; without one, the id
        is made of summary and span, so recording the event again changes nothing. An event that has
        this id already is replaced, except for its links.

        Raises `errors.InputError` with nothing recorded.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> fact = alice.facts.add("Alice", "works_at", "Google")
        >>> id = alice.events.add("Alice joined Google.", participants={"Alice": "engineer"},
        ...                       facts=[fact], span="November 2023")
        >>> alice.events.get(id).participants
        (Participant(name='Alice', role='engineer'),)
        >>> alice.facts.archive(fact)
        >>> alice.events.find(participant="Alice")
        []
        """
        start, end, _ = valid_times.read(span, "span", self._now(), locale=self._locale)
        operation = UpsertEvent(
            summary,
            participants=_participants(participants),
            facts=one_or_more(facts, "facts"),
            start=start,
            end=end,
            status=status,
            times=tuple(
                each if isinstance(each, str) else to_micros(each, "times")
                for each in one_or_more(times, "times")
            ),
            mentions=one_or_more(mentions, "mentions"),
            given_id=id,
        )
        self._submit(operation, by, why, recorded_at)
        return operation.id

    def link(
        self,
        source: str,
        relation: str,
        target: str | datetime | Mention,
        *,
        qualifier: str | None = None,
        by: str | None = None,
        why: str | None = None,
        recorded_at: Moment | None = None,
    ) -> None:
        """Link an event to another event, a participant, a time or a mention (LINK).

        source: the id of the event. relation: "related_to", "subevent_of", "causes" or "corefers",
        with the id of another event as ``target``; "has_participant" with the name of an entity,
        whose role is ``qualifier``; "has_time" with a datetime or a text; "mentioned_in" with a
        `Mention`.

        Raises `errors.UnknownIdError` for an event that does not exist.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> cold, broken = alice.events.add("It froze."), alice.events.add("The boiler broke.")
        >>> alice.events.link(cold, "causes", broken)
        """
        end = to_micros(target, "target") if isinstance(target, datetime) else target
        self._submit(Link(source, relation, end, qualifier), by, why, recorded_at)

    def add_episode(
        self,
        title: str,
        events: str | Sequence[str],
        *,
        window: Interval | None = None,
        id: str | None = None,
        by: str | None = None,
        why: str | None = None,
        recorded_at: Moment | None = None,
    ) -> str:
        """Record an episode over events and return its id (UPSERT_EPISODE).

        events: ids. window: (start, end), or words that are parsed as a time. An episode is visible
        while one of its events is. It is never evidence for a fact.
        """
        start, end, _ = valid_times.read(window, "window", self._now(), locale=self._locale)
        operation = UpsertEpisode(title, one_or_more(events, "events"), start, end, id)
        self._submit(operation, by, why, recorded_at)
        return operation.id


class Events(EventOperations):
    """The events of an agent, from `Agent.events`: methods that record them, and that read a cut.

    as_recorded: what was known at that time. as_world: what was so in the world at that time.
    """

    def __init__(self, agent: AgentOrCut, submit: Submit) -> None:
        super().__init__(submit, agent.clock, agent.locale)
        self._agent = agent

    def get(
        self,
        id: str,
        *,
        as_recorded: Moment | None = None,
        as_world: Moment | None = None,
    ) -> Event:
        """Return an event. Raises `errors.UnknownIdError` if the cut does not show it."""
        view = self._view(as_recorded, as_world)
        key = view.columns.dictionary["event_ids"].get(checked_id(id))
        found = None if key is None else read_event(view, key)
        if found is None:
            raise UnknownIdError(id, self._agent.name, "event")
        return found

    def find(
        self,
        *,
        participant: str | None = None,
        fact: str | None = None,
        status: str | None = None,
        during: Interval | None = None,
        overlaps: Interval | None = None,
        as_recorded: Moment | None = None,
        as_world: Moment | None = None,
    ) -> list[Event]:
        """Return the events that meet all of the conditions, in the order of their first record.

        participant: a name. fact: an id. during: an interval that holds the event's span.
        overlaps: an interval that shares a moment with the span.
        """
        view = self._view(as_recorded, as_world)
        keys = find_events(
            view,
            participant,
            fact,
            status,
            None if during is None else valid_times.span(during, "during"),
            None if overlaps is None else valid_times.span(overlaps, "overlaps"),
        )
        return [event for key in keys if (event := read_event(view, key)) is not None]

    def get_episode(
        self,
        id: str,
        *,
        as_recorded: Moment | None = None,
        as_world: Moment | None = None,
    ) -> Episode:
        """Return an episode. Raises `errors.UnknownIdError` if the cut shows none of its events.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> event = alice.events.add("The boiler broke.")
        >>> id = alice.events.add_episode("A cold week", [event])
        >>> alice.events.get_episode(id).events == (event,)
        True
        """
        view = self._view(as_recorded, as_world)
        key = view.columns.dictionary["event_ids"].get(checked_id(id))
        found = None if key is None else read_episode(view, key)
        if found is None:
            raise UnknownIdError(id, self._agent.name, "episode")
        return found

    def episodes(
        self,
        *,
        event: str | None = None,
        as_recorded: Moment | None = None,
        as_world: Moment | None = None,
    ) -> list[Episode]:
        """Return the episodes that the cut shows; with ``event``, an id, those that hold it."""
        return find_episodes(self._view(as_recorded, as_world), event)

    def _view(self, as_recorded: Moment | None, as_world: Moment | None) -> FactView:
        recorded = optional_micros(as_recorded, "as_recorded")
        return self._agent.facts(recorded, optional_micros(as_world, "as_world"))


def _participants(given: Any) -> tuple[tuple[Any, Any], ...]:
    if isinstance(given, Mapping):
        return tuple(given.items())
    found = []
    for each in one_or_more(given, "participants"):
        name, role = (each, None) if isinstance(each, str) else _pair(each)
        found.append((name, role))
    return tuple(found)


def _pair(value: Any) -> tuple[Any, Any]:
    if isinstance(value, Sequence) and len(value) == 2:
        return value[0], value[1]
    raise InputError(f"participants must be names or (name, role), got {value!r}")

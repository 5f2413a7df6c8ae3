"""Events and episodes: what happened, who took part, and which facts prove it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from recollex.api import valid_times
from recollex.api.arguments import checked_id, checked_note, instant, one_or_more, optional_micros
from recollex.api.fact_operations import Submit
from recollex.api.searching import search
from recollex.api.valid_times import GivenInterval
from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.clock import Moment
from recollex_engine.domain.checks import MAX_IDS, check_count, check_flag, check_number
from recollex_engine.domain.literals import Mention
from recollex_engine.domain.operations import Link, UpsertEpisode, UpsertEvent
from recollex_engine.errors import InputError, UnknownIdError
from recollex_engine.facts.events import (
    Episode,
    Event,
    event_history,
    find_episodes,
    find_events,
    read_episode,
    read_event,
)
from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.hits import Hit
from recollex_mind.talks.consolidation import Consolidation, consolidate, why_consolidated

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
        span: GivenInterval | None = None,
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
        hides the event unless it sees all of them; one with the status "observation" unless it sees
        two of them as they are now. span: (start, end), or words that are parsed as
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
        start, end, _ = valid_times.read(span, "span", self._now, locale=self._locale)
        operation = UpsertEvent(
            summary,
            participants=_participants(participants),
            facts=one_or_more(facts, "facts"),
            start=start,
            end=end,
            status=status,
            times=tuple(
                each if isinstance(each, str) else instant(each, "times")
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
        end = instant(target, "target") if isinstance(target, datetime) else target
        self._submit(Link(source, relation, end, qualifier), by, why, recorded_at)

    def add_episode(
        self,
        title: str,
        events: str | Sequence[str],
        *,
        window: GivenInterval | None = None,
        id: str | None = None,
        by: str | None = None,
        why: str | None = None,
        recorded_at: Moment | None = None,
    ) -> str:
        """Record an episode over events and return its id (UPSERT_EPISODE).

        events: ids. window: (start, end), or words that are parsed as a time. An episode is visible
        while one of its events is. It is never evidence for a fact.
        """
        start, end, _ = valid_times.read(window, "window", self._now, locale=self._locale)
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

    def history(self, id: str, *, as_recorded: Moment | None = None) -> list[Event]:
        """Return every version of an event, oldest first, with the facts that it rested on then.

        Raises `errors.UnknownIdError`.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> for text in ("It froze.", "It froze hard."):
        ...     id = alice.events.add(text, id="cold")
        >>> [event.summary for event in alice.events.history("cold")]
        ['It froze.', 'It froze hard.']
        """
        found = event_history(self._view(as_recorded, None), checked_id(id))
        if not found:
            raise UnknownIdError(id, self._agent.name, "event")
        return found

    def find(
        self,
        *,
        participant: str | None = None,
        fact: str | None = None,
        status: str | None = None,
        during: GivenInterval | None = None,
        overlaps: GivenInterval | None = None,
        as_recorded: Moment | None = None,
        as_world: Moment | None = None,
    ) -> list[Event]:
        """Return the events that meet all of the conditions, in the order of their first record.

        participant: a name. fact: an id. status: without it, archived events are left out.
        during: an interval that holds the event's span. overlaps: an interval that shares a moment
        with it.
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

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        participant: str | None = None,
        status: str | None = None,
        overlaps: GivenInterval | None = None,
        query_embedding: Any = None,
        as_recorded: Moment | None = None,
        as_world: Moment | None = None,
    ) -> list[Hit[Event]]:
        """Return the ``limit`` events that say most of what ``query`` asks for, best first.

        The summary of an event, with its participants and its span, is compared with the question
        by words and by meaning; see `Facts.search`. participant, status, overlaps: as for `find`.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> ids = [alice.events.add(each) for each in ("The boiler broke.", "Ann moved to Rome.")]
        >>> alice.events.search("Who has changed house?")[0].item.summary
        'Ann moved to Rome.'
        """
        view = self._view(as_recorded, as_world)
        only = []
        if any(each is not None for each in (participant, status, overlaps)):
            span = None if overlaps is None else valid_times.span(overlaps, "overlaps")
            keys = find_events(view, participant, status=status, overlaps=span)
            only = [("event", np.array([view.version_of(key, "event") for key in keys], np.int64))]
        return search(
            self._agent,
            view,
            query,
            "event",
            limit,
            only=only,
            query_embedding=query_embedding,
            as_recorded=as_recorded,
        )

    def search_episodes(
        self,
        query: str,
        *,
        limit: int = 10,
        query_embedding: Any = None,
        as_recorded: Moment | None = None,
        as_world: Moment | None = None,
    ) -> list[Hit[Episode]]:
        """Return the ``limit`` episodes whose title says most of what ``query`` asks for.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> event = alice.events.add("The boiler broke.")
        >>> id = alice.events.add_episode("A cold week without heating", [event])
        >>> alice.events.search_episodes("When did we freeze?")[0].item.title
        'A cold week without heating'
        """
        return search(
            self._agent,
            self._view(as_recorded, as_world),
            query,
            "episode",
            limit,
            only=(),
            query_embedding=query_embedding,
            as_recorded=as_recorded,
        )

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

    def consolidate(
        self,
        *,
        age: timedelta = timedelta(days=90),
        threshold: float = 0.25,
        least_facts: int | None = 3,
        preview: bool = False,
        by: str | None = None,
        recorded_at: Moment | None = None,
    ) -> Consolidation:
        """Compress old events into episodes, and unite facts that say the same; return what.

        Events recorded more than ``age`` ago, whose salience (recency, frequency across documents
        and centrality of the participants, in [0, 1]) is below ``threshold``, become one episode a
        calendar month, and are archived: `find` leaves them out. Of facts that are equal, also by a
        merge of entities, the first stays, with the evidence of all. All of this is one
        transaction, which `Facts.undo` takes back.

        Then the language model of the store writes an observation for each entity that is the
        subject of ``least_facts`` facts or more (at least 2; None for no observations), if these
        have changed since its last one: an event that cites facts, see `Event.proof_count` and
        docs/facts-and-events.md. Each is a transaction of its own, a microsecond later if
        ``recorded_at`` is given. Without a model, or if it fails (then with a warning), the names
        of these entities are returned as ``unobserved``. preview: only say what would be done, and
        ask no model.

        >>> import recollex, tempfile
        >>> from datetime import timedelta
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> ids = [alice.events.add(text, span="May 2024") for text in ("It froze.", "It rained.")]
        >>> done = alice.events.consolidate(age=timedelta(0), threshold=1.0)
        >>> [episode.title for episode in done.episodes], alice.events.find()
        (['May 2024: 2 events'], [])
        """
        check_number(threshold, "threshold", 0, 1)
        check_flag(preview, "preview")
        if least_facts is not None:
            check_count(least_facts, "least_facts", 2, MAX_IDS)
        if not isinstance(age, timedelta) or age < timedelta(0):
            raise InputError(f"age must be a timedelta of at least 0, got {age!r}")
        now = self._agent.clock()
        micros = age // timedelta(microseconds=1)
        agent = self._agent if preview else self._agent.writable()
        note = checked_note(by, why_consolidated(now, micros, threshold))
        at = optional_micros(recorded_at, "recorded_at")
        done, operations = consolidate(agent.view(), agent.facts(), now, micros, threshold)
        if not preview:
            self._agent.writable().transact(operations, [note] * len(operations), at)
        if least_facts is None:
            return done
        later = None if at is None else at + bool(operations)
        return self._observed(done, least_facts, preview, by, later)

    def _observed(
        self, done: Consolidation, least: int, preview: bool, by: str | None, at: int | None
    ) -> Consolidation:
        """Return what was consolidated with the observations that were made, or would be."""
        from recollex_mind.observations import entities_due, observe

        if not preview:
            agent = self._agent.writable()
            if (model := agent.context.llm) is not None:
                made, left = observe(agent, least, model, by, at)
                return replace(done, observations=made, unobserved=left)
        due = entities_due(self._agent.facts(), least)
        return replace(done, unobserved=tuple(each.name for each in due))

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

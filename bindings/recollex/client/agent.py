"""One agent's memory at a server: the methods of `recollex.Agent`, carried out there."""

import functools
from collections.abc import Callable
from datetime import datetime
from typing import Any, Self, cast

from recollex.api import agent as embedded
from recollex.api import events, facts, sessions
from recollex.api.transaction import Transaction
from recollex.client.binding import remote
from recollex.client.recorder import Recorder
from recollex.client.terms import Terms
from recollex_engine.agents import agent as engine

Carry = Callable[[str, str | None, dict[str, Any], Terms], Any]
"""Carries a call to the server: method, agent, arguments, and what is said of the call."""


class Facts:
    """The facts of an agent at a server; each method is `recollex.facts.Facts`'s."""

    def __init__(self, call: Callable[[str, dict[str, Any]], Any]) -> None:
        self._call = call

    get = remote(facts.Facts.get, "facts.get")
    history = remote(facts.Facts.history, "facts.history")
    find = remote(facts.Facts.find, "facts.find")
    snapshot = remote(facts.Facts.snapshot, "facts.snapshot")
    conflicts = remote(facts.Facts.conflicts, "facts.conflicts")
    entity = remote(facts.Facts.entity, "facts.entity")
    entities = remote(facts.Facts.entities, "facts.entities")
    add = remote(facts.Facts.add, "facts.add")
    correct = remote(facts.Facts.correct, "facts.correct")
    archive = remote(facts.Facts.archive, "facts.archive")
    add_entity = remote(facts.Facts.add_entity, "facts.add_entity")
    merge = remote(facts.Facts.merge, "facts.merge")


class Events:
    """The events of an agent at a server; each method is `recollex.events.Events`'s."""

    def __init__(self, call: Callable[[str, dict[str, Any]], Any]) -> None:
        self._call = call

    get = remote(events.Events.get, "events.get")
    find = remote(events.Events.find, "events.find")
    get_episode = remote(events.Events.get_episode, "events.get_episode")
    episodes = remote(events.Events.episodes, "events.episodes")
    add = remote(events.Events.add, "events.add")
    link = remote(events.Events.link, "events.link")
    add_episode = remote(events.Events.add_episode, "events.add_episode")


class Sessions:
    """The talks of an agent at a server; each method is `recollex.sessions.Sessions`'s.

    They live in the server's process, and end with it.
    """

    def __init__(self, call: Callable[[str, dict[str, Any]], Any]) -> None:
        self._call = call

    short_term = remote(sessions.Sessions.short_term, "sessions.short_term")
    working = remote(sessions.Sessions.working, "sessions.working")
    end = remote(sessions.Sessions.end, "sessions.end")
    recall = remote(cast(Any, sessions.Sessions.recall), "sessions.recall")
    backfill = remote(sessions.Sessions.backfill, "sessions.backfill")
    forget_expired = remote(sessions.Sessions.forget_expired, "sessions.forget_expired")


class Agent:
    """One agent's memory at a server, from `Store.agent`; each method is `recollex.Agent`'s.

    What it returns and raises is the same. Threads: any number may use it at once.
    """

    def __init__(self, name: str, carry: Carry, terms: Terms) -> None:
        self._name = name
        self._carry = carry
        self._terms = terms
        self.facts = Facts(self._call)
        self.events = Events(self._call)
        self.sessions = Sessions(self._call)

    @property
    def name(self) -> str:
        """The agent's id."""
        return self._name

    def within(self, seconds: float) -> Self:
        """Return this agent with calls that may take so long, or raise `errors.DeadlineError`.

        A write whose time was over while it ran may have happened.
        """
        return type(self)(self._name, self._carry, self._terms.within(seconds))

    @functools.wraps(embedded.Agent.at)
    def at(self, as_recorded: datetime) -> Self:  # noqa: D102  # documented by what it wraps
        cut = type(self)(self._name, self._carry, self._terms.past(as_recorded))
        cut.list(limit=1)  # refuses a time that is still to come
        return cut

    @functools.wraps(embedded.Agent.transaction)
    def transaction(  # noqa: D102  # documented by what it wraps
        self,
        *,
        by: str | None = None,
        why: str | None = None,
        recorded_at: datetime | None = None,
    ) -> Transaction:
        recorder = Recorder(lambda operations: self._call("transact", operations))
        return Transaction(cast(engine.Agent, recorder), by, why, recorded_at)

    def _call(self, method: str, named: dict[str, Any]) -> Any:
        return self._carry(method, self._name, named, self._terms)

    def __repr__(self) -> str:
        return f"<recollex.client.Agent {self._name!r}{self._terms.moment}>"

    retain = remote(embedded.Agent.retain, "retain")
    retain_dialogue = remote(embedded.Agent.retain_dialogue, "retain_dialogue")
    recall = remote(embedded.Agent.recall, "recall")
    recall_many = remote(cast(Any, embedded.Agent.recall_many), "recall_many")
    get = remote(embedded.Agent.get, "get")
    list = remote(embedded.Agent.list, "list")
    forget = remote(embedded.Agent.forget, "forget")
    archive = remote(embedded.Agent.archive, "archive")
    correct = remote(embedded.Agent.correct, "correct")
    history = remote(embedded.Agent.history, "history")
    log = remote(embedded.Agent.log, "log")
    diff = remote(embedded.Agent.diff, "diff")
    apply = remote(embedded.Agent.apply, "apply")
    stats = remote(embedded.Agent.stats, "stats")
    checkpoint = remote(embedded.Agent.checkpoint, "checkpoint")
    verify = remote(embedded.Agent.verify, "verify")

"""One agent's memory at a server, for asyncio: the methods of `recollex.Agent`, awaited."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from types import TracebackType
from typing import Any, Self, cast

import recollex
from recollex.api import agent as embedded
from recollex.api import events, facts, sessions
from recollex.client.binding import awaited
from recollex.client.recorder import Recorder
from recollex.client.terms import Terms
from recollex_engine.agents import agent as engine

Carry = Callable[[str, str | None, dict[str, Any], Terms], Awaitable[Any]]
"""Carries a call to the server: method, agent, arguments, and the terms of the call."""
_Call = Callable[[str, dict[str, Any]], Awaitable[Any]]


class Facts:
    """The facts of an agent at a server; each method is `recollex.facts.Facts`'s, awaited."""

    def __init__(self, call: _Call) -> None:
        self._call = call

    get = awaited(facts.Facts.get, "facts.get")
    history = awaited(facts.Facts.history, "facts.history")
    find = awaited(facts.Facts.find, "facts.find")
    snapshot = awaited(facts.Facts.snapshot, "facts.snapshot")
    conflicts = awaited(facts.Facts.conflicts, "facts.conflicts")
    entity = awaited(facts.Facts.entity, "facts.entity")
    entities = awaited(facts.Facts.entities, "facts.entities")
    add = awaited(facts.Facts.add, "facts.add")
    correct = awaited(facts.Facts.correct, "facts.correct")
    archive = awaited(facts.Facts.archive, "facts.archive")
    add_entity = awaited(facts.Facts.add_entity, "facts.add_entity")
    merge = awaited(facts.Facts.merge, "facts.merge")


class Events:
    """The events of an agent at a server; each method is `recollex.events.Events`'s, awaited."""

    def __init__(self, call: _Call) -> None:
        self._call = call

    get = awaited(events.Events.get, "events.get")
    find = awaited(events.Events.find, "events.find")
    get_episode = awaited(events.Events.get_episode, "events.get_episode")
    episodes = awaited(events.Events.episodes, "events.episodes")
    add = awaited(events.Events.add, "events.add")
    link = awaited(events.Events.link, "events.link")
    add_episode = awaited(events.Events.add_episode, "events.add_episode")


class Sessions:
    """The talks of an agent at a server; each method is `recollex.sessions.Sessions`'s, awaited."""

    def __init__(self, call: _Call) -> None:
        self._call = call

    short_term = awaited(sessions.Sessions.short_term, "sessions.short_term")
    working = awaited(sessions.Sessions.working, "sessions.working")
    end = awaited(sessions.Sessions.end, "sessions.end")
    recall = awaited(cast(Any, sessions.Sessions.recall), "sessions.recall")
    backfill = awaited(sessions.Sessions.backfill, "sessions.backfill")
    forget_expired = awaited(sessions.Sessions.forget_expired, "sessions.forget_expired")


class Agent:
    """One agent's memory at a server; each method is `recollex.Agent`'s, awaited."""

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
        """Return this agent with calls that may take so long, or raise `errors.DeadlineError`."""
        return type(self)(self._name, self._carry, self._terms.within(seconds))

    async def at(self, as_recorded: datetime) -> Self:
        """Return this agent as of a recorded time; see `recollex.Agent.at`."""
        cut = type(self)(self._name, self._carry, self._terms.past(as_recorded))
        await cut.list(limit=1)  # refuses a time that is still to come
        return cut

    def transaction(
        self,
        *,
        by: str | None = None,
        why: str | None = None,
        recorded_at: datetime | None = None,
    ) -> "Transaction":
        """Return an `async with` block; see `recollex.Agent.transaction`."""
        return Transaction(self._call, by, why, recorded_at)

    def _call(self, method: str, named: dict[str, Any]) -> Awaitable[Any]:
        return self._carry(method, self._name, named, self._terms)

    def __repr__(self) -> str:
        return f"<recollex.client.Agent {self._name!r}{self._terms.moment}>"

    retain = awaited(embedded.Agent.retain, "retain")
    retain_dialogue = awaited(embedded.Agent.retain_dialogue, "retain_dialogue")
    recall = awaited(embedded.Agent.recall, "recall")
    recall_many = awaited(cast(Any, embedded.Agent.recall_many), "recall_many")
    get = awaited(embedded.Agent.get, "get")
    list = awaited(embedded.Agent.list, "list")
    forget = awaited(embedded.Agent.forget, "forget")
    archive = awaited(embedded.Agent.archive, "archive")
    correct = awaited(embedded.Agent.correct, "correct")
    history = awaited(embedded.Agent.history, "history")
    log = awaited(embedded.Agent.log, "log")
    diff = awaited(embedded.Agent.diff, "diff")
    apply = awaited(embedded.Agent.apply, "apply")
    stats = awaited(embedded.Agent.stats, "stats")
    checkpoint = awaited(embedded.Agent.checkpoint, "checkpoint")
    verify = awaited(embedded.Agent.verify, "verify")


class Transaction:
    """Operations that are recorded together when the block ends; giving them is not awaited."""

    def __init__(
        self, call: _Call, by: str | None, why: str | None, recorded_at: datetime | None
    ) -> None:
        self._call = call
        self._told: list[dict[str, Any]] = []
        recorder = cast(engine.Agent, Recorder(self._told.append))
        self._transaction = recollex.Transaction(recorder, by, why, recorded_at)

    async def __aenter__(self) -> recollex.Transaction:
        return self._transaction

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._transaction.__exit__(kind, error, trace)
        for told in self._told:
            await self._call("transact", told)

"""One agent's memory at a server: the methods of `recollex.Agent`, executed there."""

import functools
from collections.abc import Callable
from typing import Any, Self, cast

from recollex.api import agent as embedded
from recollex.api.conversation import Conversing
from recollex.api.methods import (
    AgentMethods,
    EventMethods,
    FactMethods,
    JobMethods,
    OpinionMethods,
    ProfileMethods,
    SessionMethods,
    ToolMethods,
)
from recollex.api.transaction import Transaction
from recollex.remote.client.call_options import CallOptions
from recollex.remote.client.recorder import Recorder
from recollex.remote.client.stubs import Remote
from recollex_engine.agents import agent as engine
from recollex_engine.clock import Moment
from recollex_engine.dates.locales import DAY_FIRST

Carry = Callable[[str, str | None, dict[str, Any], CallOptions], Any]
"""Sends a call to the server: method, agent, arguments and the options of the call."""


class Facts(Remote, FactMethods):
    """The facts of an agent at a server; each method is `recollex.api.facts.Facts`'s."""


class Events(Remote, EventMethods):
    """The events of an agent at a server; each method is `recollex.api.events.Events`'s."""


class Sessions(Remote, SessionMethods):
    """The conversations of an agent; each method is `recollex.api.sessions.Sessions`'s.

    They live in the server's process, and end with it.
    """


class AgentProfile(Remote, ProfileMethods):
    """The profile of an agent at a server."""


class Tools(Remote, ToolMethods):
    """The tools over the gists and facts of an agent at a server."""


class Opinions(Remote, OpinionMethods):
    """The opinions of an agent at a server."""


class Jobs(Remote, JobMethods):
    """The jobs of an agent at a server."""


class Agent(Remote, AgentMethods, Conversing):
    """One agent's memory at a server, from `Store.agent`; each method is `recollex.Agent`'s.

    Results and errors are the same. Threads: any number may use it at once.
    """

    def __init__(self, name: str, carry: Carry, options: CallOptions) -> None:
        def send(method: str, named: dict[str, Any]) -> Any:
            return carry(method, name, named, options)

        super().__init__(send)
        self._name = name
        self._carry = carry
        self._options = options
        self.facts: Facts = Facts(send)
        self.events: Events = Events(send)
        self.sessions: Sessions = Sessions(send)
        self.profile: AgentProfile = AgentProfile(send)
        self.opinions: Opinions = Opinions(send)
        self.jobs: Jobs = Jobs(send)
        self.tools: Tools = Tools(send)

    @property
    def name(self) -> str:
        """The agent's id."""
        return self._name

    def within(self, seconds: float) -> Self:
        """Return this agent with a timeout for each call; then it raises `errors.DeadlineError`.

        A write that timed out while it ran may have been executed.
        """
        return type(self)(self._name, self._carry, self._options.within(seconds))

    @functools.wraps(embedded.Agent.at)
    def at(self, as_recorded: Moment) -> Self:  # noqa: D102  # documented by what it wraps
        cut = type(self)(self._name, self._carry, self._options.at_time(as_recorded))
        cut.list(limit=1)  # raises for a time in the future
        return cut

    @functools.wraps(embedded.Agent.transaction)
    def transaction(  # noqa: D102  # documented by what it wraps
        self,
        *,
        by: str | None = None,
        why: str | None = None,
        recorded_at: Moment | None = None,
    ) -> Transaction:
        recorder = Recorder(
            lambda operations: self._send("transact", operations),
            lambda: self.stats().locale or DAY_FIRST,
        )
        return Transaction(cast(engine.Agent, recorder), by, why, recorded_at)

    def __repr__(self) -> str:
        return f"<recollex.remote.client.Agent {self._name!r}{self._options.as_of}>"

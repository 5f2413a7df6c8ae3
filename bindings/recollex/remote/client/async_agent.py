"""One agent's memory at a server, for asyncio: the methods of `recollex.Agent`, awaited."""

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self, cast

from recollex.api import transaction as embedded
from recollex.api.conversation import AsyncConversing
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
from recollex.remote.client.call_options import CallOptions
from recollex.remote.client.recorder import Recorder
from recollex.remote.client.stubs import AsyncRemote
from recollex_engine.agents import agent as engine
from recollex_engine.clock import Moment
from recollex_engine.dates.locales import DAY_FIRST

AsyncCarry = Callable[[str, str | None, dict[str, Any], CallOptions], Awaitable[Any]]
"""Sends a call to the server: method, agent, arguments and the options of the call."""
_Send = Callable[[str, dict[str, Any]], Awaitable[Any]]


class Facts(AsyncRemote, FactMethods):
    """The facts of an agent at a server; each method is `recollex.api.facts.Facts`'s, awaited."""


class Events(AsyncRemote, EventMethods):
    """The events of an agent at a server; each is `recollex.api.events.Events`'s, awaited."""


class Sessions(AsyncRemote, SessionMethods):
    """The conversations of an agent; each is `recollex.api.sessions.Sessions`'s, awaited."""


class AgentProfile(AsyncRemote, ProfileMethods):
    """The profile of an agent at a server; its methods are awaited."""


class Tools(AsyncRemote, ToolMethods):
    """The tools over the gists and facts of an agent at a server; its methods are awaited."""


class Opinions(AsyncRemote, OpinionMethods):
    """The opinions of an agent at a server; its methods are awaited."""


class Jobs(AsyncRemote, JobMethods):
    """The jobs of an agent at a server; its methods are awaited."""


class Agent(AsyncRemote, AgentMethods, AsyncConversing):
    """One agent's memory at a server; each method is `recollex.Agent`'s, awaited."""

    def __init__(self, name: str, carry: AsyncCarry, options: CallOptions) -> None:
        def send(method: str, named: dict[str, Any]) -> Awaitable[Any]:
            return carry(method, name, named, options)

        super().__init__(send)
        self._name = name
        self._carry = carry
        self._options = options
        self._locale: str | None = None
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
        """Return this agent with a timeout for each call; then it raises `errors.DeadlineError`."""
        return type(self)(self._name, self._carry, self._options.within(seconds))

    async def at(self, as_recorded: Moment) -> Self:
        """Return this agent as of a recorded time; see `recollex.Agent.at`."""
        cut = type(self)(self._name, self._carry, self._options.at_time(as_recorded))
        await cut.list(limit=1)  # raises for a time in the future
        return cut

    def transaction(
        self,
        *,
        by: str | None = None,
        why: str | None = None,
        recorded_at: Moment | None = None,
    ) -> "Transaction":
        """Return an `async with` block; see `recollex.Agent.transaction`."""
        return Transaction(self._send, self._find_locale, by, why, recorded_at)

    async def _find_locale(self) -> str:
        """Return the agent's locale, which never changes once the agent has one."""
        if self._locale is None:
            self._locale = (await self.stats()).locale
        return self._locale or DAY_FIRST

    def __repr__(self) -> str:
        return f"<recollex.remote.client.Agent {self._name!r}{self._options.as_of}>"


class Transaction:
    """Operations that are recorded together when the block ends; its methods are not awaited."""

    def __init__(
        self,
        send: _Send,
        find_locale: Callable[[], Awaitable[str]],
        by: str | None,
        why: str | None,
        recorded_at: Moment | None,
    ) -> None:
        self._send = send
        self._find_locale = find_locale
        self._locale = DAY_FIRST
        self._transactions: list[dict[str, Any]] = []
        send_later = self._transactions.append
        recorder = cast(engine.Agent, Recorder(send_later, lambda: self._locale))
        self._transaction = embedded.Transaction(recorder, by, why, recorded_at)

    async def __aenter__(self) -> embedded.Transaction:
        self._locale = await self._find_locale()
        return self._transaction

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._transaction.__exit__(kind, error, trace)
        for transaction in self._transactions:
            await self._send("transact", transaction)

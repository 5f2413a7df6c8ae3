"""A store at a server, for asyncio: what `recollex.aio.connect` returns."""

import asyncio
import os
import ssl
import time
from collections.abc import Awaitable, Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import TracebackType
from typing import Any, Literal, Self, cast, overload

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
from recollex.remote.client import sockets
from recollex.remote.client.async_connection import AsyncConnection, open_async
from recollex.remote.client.calls import ClientCall, Retries
from recollex.remote.client.cluster import is_cluster
from recollex.remote.client.sockets import LostError, UnsendableError
from recollex.remote.client.store import (
    CONNECTIONS,
    PATIENCE,
    ConnectionSettings,
    cluster_caller,
    settings,
)
from recollex.remote.client.stubs import (
    ARGUMENTS,
    AsyncRemote,
    CallOptions,
    Recorder,
    raise_read_only,
    raise_refusal,
)
from recollex.remote.wire.methods import JOINT, METHODS
from recollex_engine import fork
from recollex_engine.agents import agent as engine
from recollex_engine.agents.summary import AgentSummary
from recollex_engine.clock import Moment
from recollex_engine.dates.locales import DAY_FIRST
from recollex_engine.errors import (
    ClosedError,
    DisconnectedError,
    OverloadedError,
    ProtocolError,
)
from recollex_engine.recall.joint_recall import JointRecall

# One agent's memory at a server, for asyncio: the methods of `recollex.Agent`, awaited.
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


class Store:
    """The agents of a server, from `recollex.aio.connect`; see `remote.client.store.Store`.

    Tasks: any number of one event loop may use it at once; their calls share a connection.
    Cancelling an awaited call cancels it at the server if it has not begun; a write that has begun
    is finished.
    """

    def __init__(self, given: ConnectionSettings) -> None:
        self._given = given
        self._line: AsyncConnection | None = None
        self._dialling = asyncio.Lock()
        self._closed = False
        fork.register(self)

    def after_fork(self) -> None:
        """Let a child connect anew; the inherited connection is kept, as its end would close it."""
        self._inherited = self._line
        self._line = None
        self._dialling = asyncio.Lock()

    @property
    def address(self) -> str:
        """Where the server listens."""
        return str(self._given.address)

    async def agent(self, agent_id: str) -> Agent:
        """Return one agent's memory; nothing is put on disk before it retains something."""
        agent = Agent(agent_id, self._carry, self._given.options)
        await agent.list(limit=1)  # raises for a name that is not valid or not allowed
        return agent

    @overload
    async def agents(self, *, counts: Literal[False] = False) -> list[str]: ...
    @overload
    async def agents(self, *, counts: Literal[True]) -> list[AgentSummary]: ...
    async def agents(self, *, counts: bool = False) -> list[str] | list[AgentSummary]:
        """Return the agents that hold something and that the token allows, sorted by id.

        counts: as for `recollex.Store.agents`.
        """
        named = {"counts": counts} if counts is not False else {}
        found: list[Any] = await self._carry("agents", None, named, self._given.options)
        return found

    async def delete_agent(self, agent_id: str) -> None:
        """Delete an agent with all that it holds; see `recollex.Store.delete_agent`."""
        await self._carry("delete_agent", agent_id, {}, self._given.options)

    async def recall(self, query: str, *, agents: Iterable[str], **options: Any) -> JointRecall:
        """Return the memories of several agents for a question; see `recollex.Store.recall`."""
        named = ARGUMENTS[JOINT].read((query,), {"agents": agents, **options})
        found: JointRecall = await self._carry(JOINT, None, named, self._given.options)
        return found

    async def ping(self) -> None:
        """Wait for an answer of the server."""
        await self._do(ClientCall("ping", None, {}, {}, self._given.options.seconds))

    async def close(self) -> None:
        """Close the connection; calls that wait raise `errors.ClosedError`.

        Closing twice does nothing more.
        """
        self._closed = True
        if self._line is not None:
            await self._line.close()

    async def open(self) -> "Store":
        """Connect, and return the store."""
        await self._connected(self._given.options.seconds)
        return self

    async def __aenter__(self) -> "Store":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<recollex.remote.client.Store at {self.address}>"

    async def _carry(
        self, method: str, agent: str | None, named: dict[str, Any], options: CallOptions
    ) -> Any:
        if options.at is not None and METHODS[method].scope == "write":
            raise_read_only(agent, options.at)
        try:
            return await self._do(
                ClientCall(method, agent, named, options.sent_options, options.seconds)
            )
        except (UnsendableError, ProtocolError) as error:
            raise_refusal(method, agent, named, error)

    async def _do(self, call: ClientCall) -> Any:
        """Return the result of a call, sent again if that is safe; as `calls.Caller.do`."""
        retries: Retries | None = None
        while True:
            left = None if call.deadline is None else call.deadline - time.monotonic()
            try:
                line = await self._connected(left)
            except DisconnectedError as error:
                retries = retries or call.retries(self._given.patience)
                pause = retries.after_failure(error)
            else:
                if retries is not None:
                    retries.check(line.instance)
                try:
                    return call.received(await line.exchange(call))
                except LostError as lost:
                    retries = retries or call.retries(self._given.patience)
                    pause = retries.after_loss(lost, line.instance)
                except OverloadedError as error:
                    retries = retries or call.retries(self._given.patience)
                    pause = retries.after_failure(error)
            await asyncio.sleep(pause)

    async def _connected(self, left: float | None) -> AsyncConnection:
        """Return the connection, or a new one if it broke."""
        if self._line is not None and self._line.is_open and not self._closed:
            return self._line
        async with self._dialling:
            self._check_open()
            if self._line is None or not self._line.is_open:
                seconds = (
                    sockets.CONNECT_SECONDS if left is None else min(left, sockets.CONNECT_SECONDS)
                )
                given = self._given
                line = await open_async(
                    given.address, given.token, given.trusted, max(0.001, seconds)
                )
                try:
                    self._check_open()  # another task may have closed it
                except ClosedError:
                    await line.close()
                    raise
                self._line = line
            return self._line

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError("the connection was closed: connect again")


class ClusterStore(Store):
    """The agents of a cluster: each call looks in a thread for the node that has its agent."""

    def __init__(self, address: str, given: ConnectionSettings) -> None:
        super().__init__(given)
        self._nodes = address
        self._caller = cluster_caller(address, given, CONNECTIONS)
        self._threads = ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="recollex cluster")

    @property
    def address(self) -> str:
        """The nodes that were named."""
        return self._nodes

    async def open(self) -> "Store":
        """Wait for a node that answers, and return the store."""
        await self.ping()
        return self

    async def close(self) -> None:
        """Close the connections; calls that run are finished."""
        self._closed = True
        self._caller.close()
        self._threads.shutdown(wait=False)

    async def _do(self, call: ClientCall) -> Any:
        self._check_open()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._caller.do, call)


class Connecting:
    """A store that is not connected yet: ``await`` it, or enter it with ``async with``."""

    def __init__(self, make: Callable[[], Store]) -> None:
        self._make = make
        self._store: Store | None = None

    def __await__(self) -> Generator[Any, None, Store]:
        return self._make().open().__await__()

    async def __aenter__(self) -> Store:
        self._store = await self._make().open()
        return self._store

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._store is not None:
            await self._store.close()


def connect(
    address: str | os.PathLike[str],
    *,
    token: str | None = None,
    timeout: float | None = None,
    patience: float = PATIENCE,
    certificates: str | os.PathLike[str] | ssl.SSLContext | None = None,
) -> Connecting:
    """Return a `Store` when awaited or entered; see `recollex.connect` for the options.

    One connection carries all calls of one event loop at once.
    """
    given = settings(address, token, timeout, patience, certificates)
    if is_cluster(address):
        return Connecting(partial(ClusterStore, str(address), given))
    return Connecting(partial(Store, given))

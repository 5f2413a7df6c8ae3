"""A store at a server, for asyncio: what `recollex.aio.connect` returns."""

import asyncio
import os
import ssl
import time
from collections.abc import Generator, Iterable
from types import TracebackType
from typing import Any, Literal, overload

from recollex.remote.client import sockets
from recollex.remote.client.argument_errors import raise_read_only, raise_refusal
from recollex.remote.client.async_agent import Agent
from recollex.remote.client.async_connection import AsyncConnection, open_async
from recollex.remote.client.call_options import CallOptions
from recollex.remote.client.calls import ClientCall
from recollex.remote.client.channel import LostError, UnsendableError
from recollex.remote.client.retries import Retries
from recollex.remote.client.store import PATIENCE, ConnectionSettings, settings
from recollex.remote.client.stubs import ARGUMENTS
from recollex.remote.wire.methods import JOINT, METHODS
from recollex_engine import fork
from recollex_engine.agents.summary import AgentSummary
from recollex_engine.errors import (
    ClosedError,
    DisconnectedError,
    OverloadedError,
    ProtocolError,
)
from recollex_engine.recall.joint_recall import JointRecall


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


class Connecting:
    """A store that is not connected yet: ``await`` it, or enter it with ``async with``."""

    def __init__(self, given: ConnectionSettings) -> None:
        self._given = given
        self._store: Store | None = None

    def __await__(self) -> Generator[Any, None, Store]:
        return Store(self._given).open().__await__()

    async def __aenter__(self) -> Store:
        self._store = await Store(self._given).open()
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
    return Connecting(settings(address, token, timeout, patience, certificates))

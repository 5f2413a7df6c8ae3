"""Many calls at once over one socket: MessagePack-RPC for asyncio, each call by its id."""

import asyncio
import ssl
import time
from pathlib import Path
from typing import Any, cast

from recollex.remote.client import sockets
from recollex.remote.client.calls import ClientCall
from recollex.remote.client.connection import (
    GRACE,
    Inbox,
    ServerAnswer,
    greeting,
    hello,
    packed_request,
    read_welcome,
    result_of,
)
from recollex.remote.client.sockets import Address, LostError
from recollex.remote.wire.messages import MOST_ID, notification
from recollex_engine.errors import DeadlineError, DisconnectedError, InputError, RecollexError

GOODBYE = 1.0
"""Seconds that a server has to answer the close of a TLS session."""


class AsyncConnection(asyncio.Protocol):
    """A connection to a server. Tasks: any number of one loop may call at once.

    If a task is cancelled, its call is cancelled at the server; a write that has begun is finished.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._inbox = Inbox()
        self._waiting: dict[int, asyncio.Future[ServerAnswer]] = {}
        self._last = -1
        self._most = MOST_ID
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._gone = asyncio.Event()
        self._transport = cast(asyncio.Transport, None)
        self.instance: str = ""
        self.is_open: bool = False

    async def greet(self, token: str | None, seconds: float) -> None:
        """Send hello, the first call of a connection, and read the answer."""
        call = ClientCall("hello", None, hello(token), {}, seconds)
        with greeting():
            welcome = await self.exchange(call)
        self.instance, self._most, _ = read_welcome(welcome)

    async def exchange(self, call: ClientCall) -> Any:
        """Return the result of a call, or raise its error; see `channel.Channel.exchange`."""
        if not self.is_open:
            raise LostError("the server hung up", False)
        self._last = id = (self._last + 1) & MOST_ID
        message = packed_request(id, call.method, call.params(reports_progress=False), self._most)
        answer: asyncio.Future[ServerAnswer] = self._loop.create_future()
        self._waiting[id] = answer
        try:
            left = None if call.deadline is None else call.deadline + GRACE - time.monotonic()
            async with asyncio.timeout(left):
                await self._flowing.wait()
                self._transport.write(message)
                return result_of(await answer)
        except RecollexError:  # some are a TimeoutError or an OSError too
            raise
        except TimeoutError:
            self._cancel(id)
            raise DeadlineError(call.method, True) from None
        except asyncio.CancelledError:
            self._cancel(id)
            raise
        finally:
            self._waiting.pop(id, None)

    async def close(self) -> None:
        """Close the connection, and wait until TLS and the socket are closed."""
        self._close_transport()
        try:
            async with asyncio.timeout(GOODBYE):
                await self._gone.wait()
        except TimeoutError:
            self._transport.abort()
            await self._gone.wait()

    def _close_transport(self) -> None:
        self.is_open = False
        self._transport.close()

    def _cancel(self, id: int) -> None:
        if self.is_open and id in self._waiting:
            self._transport.write(notification("cancel", [id]))

    # -- the transport's calls -------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast(asyncio.Transport, transport)
        self.is_open = True

    def data_received(self, data: bytes) -> None:
        """Give the answers to the tasks that wait for them."""
        try:
            self._inbox.feed(data)
            while (answer := self._inbox.take()) is not None:
                waiting = self._waiting.pop(answer.id, None)
                if waiting is not None and not waiting.done():
                    waiting.set_result(answer)
        except RecollexError as error:
            self._inbox.closing = error
            self._close_transport()
        if self._inbox.closing is not None:
            self.is_open = False

    def pause_writing(self) -> None:
        """Hold calls back: the server does not read at the moment."""
        self._flowing.clear()

    def resume_writing(self) -> None:
        """Send calls again."""
        self._flowing.set()

    def connection_lost(self, error: Exception | None) -> None:
        """Raise an error in every call that waits."""
        self.is_open = False
        self._gone.set()
        self._flowing.set()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(self._inbox.hung_up())
        self._waiting.clear()


async def open_async(
    address: Address, token: str | None, trusted: ssl.SSLContext | Path | None, seconds: float
) -> AsyncConnection:
    """Return a connection after its hello. Raises the errors of `open_channel`."""
    loop = asyncio.get_running_loop()
    if address.scheme in ("http", "https"):
        raise InputError(
            f"{address}: asyncio speaks unix://, tcp:// and tls://; recollex.connect speaks HTTP"
        )
    try:
        async with asyncio.timeout(seconds):
            if address.scheme == "unix":
                _, made = await loop.create_unix_connection(AsyncConnection, address.path)
            else:
                tls = sockets.tls_context(trusted) if address.scheme == "tls" else None
                _, made = await loop.create_connection(
                    AsyncConnection, address.host, address.port, ssl=tls
                )
    except OSError as error:  # TimeoutError is one
        raise DisconnectedError(sockets.explain(address, error)) from error
    try:
        await made.greet(token, seconds)
    except BaseException:
        await made.close()
        raise
    return made

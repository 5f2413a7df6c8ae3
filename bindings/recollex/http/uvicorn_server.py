"""How does uvicorn serve here? Within the server's limits, and without a say in signals."""

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from recollex.server.limits import Limits

MAX_HEAD = 65_536
"""Bytes of a request before its body."""


class LimitedProtocol(HttpToolsProtocol):
    """Uvicorn's protocol within the server's limits; `limited_protocol` returns it with limits.

    Beyond what uvicorn sees to: a connection must begin a request within `handshake` seconds, send
    its head within `stall` seconds and `MAX_HEAD` bytes, and take what waits for it within `part`
    seconds a time; there are at most `connections`.
    """

    limits = Limits()

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._timer: asyncio.TimerHandle | None = None
        self._head = 0
        self._in_head = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a connection, unless there are too many."""
        super().connection_made(cast(asyncio.Transport, transport))
        if len(self.connections) > self.limits.connections:
            self.transport.abort()
            return
        self._await(self.limits.handshake)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._await(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes; a head that grows too long ends the connection."""
        if self._in_head:
            self._head += len(data)
        super().data_received(data)
        if self._in_head and self._head > MAX_HEAD and not self.transport.is_closing():
            self.send_400_response(f"The head of a request may have {MAX_HEAD} bytes.")

    def on_message_begin(self) -> None:
        """Begin to read a request."""
        super().on_message_begin()
        self._in_head = True
        self._await(self.limits.stall)

    def on_headers_complete(self) -> None:
        """Begin to answer a request; its body has its own time."""
        self._await(None)
        self._in_head = False
        self._head = 0
        super().on_headers_complete()

    def pause_writing(self) -> None:
        """Give a client that does not read its time."""
        self._await(self.limits.stall)
        super().pause_writing()

    def resume_writing(self) -> None:
        """Go on answering."""
        self._await(None)
        super().resume_writing()

    def _await(self, seconds: float | None) -> None:
        """Give the client so many seconds for what it has to do; None for as long as it likes."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if seconds is not None:
            self._timer = self.loop.call_later(seconds, self.transport.abort)


def limited_protocol(limits: Limits) -> type[LimitedProtocol]:
    """Return the protocol within these limits."""
    return type("LimitedProtocol", (LimitedProtocol,), {"limits": limits})


class UvicornServer(uvicorn.Server):
    """Uvicorn's server, which leaves signals to whoever runs the process."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield

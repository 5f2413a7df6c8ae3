"""Uvicorn's protocol within the server's limits."""

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from recollex.server.limits import Limits

MAX_HEAD = 65_536
"""The most bytes of a request before its body."""


class LimitedProtocol(HttpToolsProtocol):
    """Uvicorn's protocol within the server's limits; `limited_protocol` returns it with limits.

    In addition to uvicorn's own checks, a connection must begin a request within `handshake`
    seconds, send the head within `stall` seconds and `MAX_HEAD` bytes, and read some of its answer
    within `stall` seconds. At most `connections` are open.
    """

    limits: Limits = Limits()

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._timer: asyncio.TimerHandle | None = None
        self._head = 0
        self._in_head = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept a connection, unless there are too many."""
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
        """Start the clock of a request's head."""
        super().on_message_begin()
        self._in_head = True
        self._await(self.limits.stall)

    def on_headers_complete(self) -> None:
        """Start to answer a request; its body has a clock of its own."""
        self._await(None)
        self._in_head = False
        self._head = 0
        super().on_headers_complete()

    def pause_writing(self) -> None:
        """Start the clock of a client that does not read."""
        self._await(self.limits.stall)
        super().pause_writing()

    def resume_writing(self) -> None:
        """Stop the clock, and answer on."""
        self._await(None)
        super().resume_writing()

    def _await(self, seconds: float | None) -> None:
        """Abort the connection after so many seconds, unless called again; None: never."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if seconds is not None:
            self._timer = self.loop.call_later(seconds, self.transport.abort)


def limited_protocol(limits: Limits) -> type[LimitedProtocol]:
    """Return the protocol with these limits."""
    return type("LimitedProtocol", (LimitedProtocol,), {"limits": limits})

"""Uvicorn's server without its signal handlers, and its protocol within the server's limits."""

import asyncio
import contextlib
import math
import time
from collections.abc import Iterator, MutableMapping
from http import HTTPStatus
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from recollex.remote.http.problems import RequestError, problem
from recollex.remote.server.limits import ADMIT, Client, ConnectionLimiter

MAX_HEAD = 65_536
"""The most bytes of a request before its body."""
KEEP_ALIVE = 75.0
"""Seconds for which a connection without a request is kept, or `Limits.idle` if that is less."""


class UvicornServer(uvicorn.Server):
    """Uvicorn's server, which leaves signals to the process that runs it.

    Uvicorn's own handlers end the process by the signal again.
    """

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


class LimitedProtocol(HttpToolsProtocol):
    """Uvicorn's protocol within the limits of a `ConnectionLimiter`; see `limited_protocol`.

    From the moment it is accepted a connection has a clock, whoever reads it: a request must begin
    within `Limits.handshake` seconds (after an answer: `KEEP_ALIVE`), must be whole, with its body,
    within `stall` seconds, and some of its answer must be read within `stall` seconds. A body may
    have `message_bytes`, whether or not the application reads it. The clock stands still while the
    server reads nothing, because it answers.
    """

    limiter: ConnectionLimiter

    def __init__(self, *args: Any, instead_of: Client | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self._instead_of = instead_of
        self._reading_until = math.inf
        self._late = ""
        self._writing_until = math.inf
        self._head = 0
        self._body = 0
        self._in_head = True
        self._in_message = False

    # -- the transport's calls -------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept a connection, unless there are too many."""
        super().connection_made(cast(asyncio.Transport, transport))
        self._await(self.limiter.limits.handshake, "no request was begun")
        if not self.limiter.join(self, transport.get_extra_info("peername"), self._instead_of):
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.limiter.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes; a head that grows too long ends the connection."""
        if self._in_head:
            self._head += len(data)
        super().data_received(data)
        if self._in_head and self._head > MAX_HEAD and not self.transport.is_closing():
            self.send_400_response(f"The head of a request may have {MAX_HEAD} bytes.")

    def pause_writing(self) -> None:
        """Start the clock of a client that does not read."""
        self._writing_until = time.monotonic() + self.limiter.limits.stall
        super().pause_writing()

    def resume_writing(self) -> None:
        """Stop that clock, and answer on."""
        self._writing_until = math.inf
        super().resume_writing()

    # -- the parser's calls ----------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """Start the clock of a request."""
        super().on_message_begin()
        cast(MutableMapping[str, Any], self.scope)[ADMIT] = self._admit
        self._in_head = self._in_message = True
        self._body = 0
        self._await(self.limiter.limits.stall, "a request was begun and not finished")

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; what comes after a body in pieces is dropped."""
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start to answer a request, unless it says that its body is too long."""
        self._in_head = False
        self._head = 0
        super().on_headers_complete()
        for name, value in self.headers:
            if name == b"content-length" and int(value) > self.limiter.limits.message_bytes:
                self._refuse_body()

    def on_body(self, body: bytes) -> None:
        """Take a piece of a body."""
        self._body += len(body)
        if self._body > self.limiter.limits.message_bytes:
            self._refuse_body()
        if not self.transport.is_closing():
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Stop the clock of a request."""
        super().on_message_complete()
        self._in_message = False
        self._await_request()

    # -- answers and clocks ----------------------------------------------------------------------

    def on_response_complete(self) -> None:
        """Wait for the next request, or for the rest of this one."""
        super().on_response_complete()
        self._await_request()

    def _await_request(self) -> None:
        if self._in_message:
            return  # its clock goes on, although it is answered
        answered = self.cycle is None or self.cycle.response_complete
        seconds = min(KEEP_ALIVE, self.limiter.limits.idle) if answered else math.inf
        self._await(seconds, "no further request came")

    def _await(self, seconds: float, late: str) -> None:
        self._reading_until = time.monotonic() + seconds
        self._late = late

    def overdue(self, now: float) -> str | None:
        """Return why the client keeps the server waiting too long; see `Client`."""
        if now > self._writing_until:
            return "the client takes no answers"
        if now <= self._reading_until:
            return None
        if self.flow.read_paused:
            self._reading_until = now + self.limiter.limits.stall
            return None
        if self._in_message and not self._in_head and self._may_refuse:
            seconds = self.limiter.limits.stall
            self._refuse(408, "TooSlow", f"a request must be whole within {seconds:g} s")
            return None
        return self._late

    def abort(self, why: str) -> None:
        """Close the connection at once; see `Client`."""
        self.transport.abort()

    def _admit(self) -> None:
        self.limiter.admit(self)

    @property
    def _may_refuse(self) -> bool:
        """Whether an answer of the protocol's own would be the answer to the last request."""
        return not (self.pipeline or self.cycle.response_started or self.transport.is_closing())

    def _refuse_body(self) -> None:
        most = self.limiter.limits.message_bytes
        if self._may_refuse:
            self._refuse(413, "TooLong", f"a body may have {most:,} bytes: send several")
        elif not self.transport.is_closing():
            self.transport.abort()

    def _refuse(self, status: int, title: str, detail: str) -> None:
        """Answer in place of the application, which is told that its client has left."""
        refusal = RequestError(status, title, detail, connection="close")
        _, headers, body = problem(refusal)
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", f"content-length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.transport.write("\r\n".join([*lines, "", ""]).encode() + body)
        self.cycle.disconnected = True
        self.cycle.message_event.set()
        self.transport.close()
        self._in_head = True  # what is late now is the client's leaving
        self._await(self.limiter.limits.stall, detail)


def limited_protocol(limiter: ConnectionLimiter) -> type[LimitedProtocol]:
    """Return the protocol within the limits of ``limiter``."""
    return type("LimitedProtocol", (LimitedProtocol,), {"limiter": limiter})

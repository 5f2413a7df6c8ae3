"""How is one client served? Its bytes become calls, and what they come to becomes bytes again."""

import asyncio
import time
from collections import OrderedDict, deque
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from recollex.server.access import Principal
from recollex.server.calls import NO_OPTIONS, Call, Options
from recollex.server.forms import DEFLATED, WHOLE, InParts, Packed
from recollex.wire import messages
from recollex.wire.failures import tell_error
from recollex.wire.messages import PROTOCOL, Notification, Request
from recollex.wire.packing import MAX_DEPTH, RECORD, Unpacking, pack
from recollex.wire.records import ARGUMENTS
from recollex_engine.errors import (
    CancelledError,
    InputError,
    OverloadedError,
    ProtocolError,
    RecollexError,
    UnauthorizedError,
)
from recollex_kernels import message
from recollex_kernels.message import AT, FRAMES, INCOMPLETE, value_end

if TYPE_CHECKING:
    from recollex.server.listener import Listener

WINDOW = 8
"""Calls of one client that are in the service's hands at once; the others wait here."""
MOST_GREETING = 64 << 10
"""Bytes of a message of somebody who has not said hello yet."""
MOST_ITEMS = 1_000_000
"""Values in one message: each takes memory, whatever its bytes."""
_WRONG = {
    message.MALFORMED: "a message is not MessagePack",
    message.TOO_DEEP: f"a message may be nested {MAX_DEPTH} deep",
    message.TOO_MANY: f"a message may hold {MOST_ITEMS:,} values",
}


class Connection(asyncio.Protocol):
    """One client: reads messages, passes calls on a few at a time, and writes answers.

    It is read no further while it has ``in_flight`` calls here, and served no further while
    ``unread_bytes`` of answers wait for it: so a client that sends and does not read costs that
    much memory, and no work. Threads: the event loop's.
    """

    def __init__(self, listener: "Listener", number: int) -> None:
        self._listener = listener
        self._service = listener.service
        self._limits = listener.service.limits
        self.number = number
        self.name = f"connection {number}"
        self._principal: Principal | None = None
        self._deflate = False
        self._unpacking = Unpacking(ARGUMENTS)
        self._buffer = bytearray()
        self._state = np.zeros(FRAMES + 2 * MAX_DEPTH, np.int64)
        self._backlog: OrderedDict[int, Request] = OrderedDict()
        self._calls: dict[int, Call] = {}
        self._parts: deque[bytes] = deque()
        self._full = False  # the client does not take what waits for it
        self._reading = True
        self._ended = False  # the client will send nothing more
        self._leaving = False  # nothing more is read or begun
        self.lost = False
        self.why = "the client left"
        self.heard_at = self.begun_at = self.full_since = 0.0
        self._transport: asyncio.Transport = cast(Any, None)

    # -- the transport's calls -------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin with a client."""
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=self._limits.unread_bytes)
        self.heard_at = time.monotonic()
        if not self._listener.joined(self):
            self.leave(OverloadedError("too many clients are connected", 1.0))

    def data_received(self, data: bytes) -> None:
        """Read the messages that are whole; keep the beginning of the last."""
        self.heard_at = time.monotonic()
        if self._buffer:
            self._keep(data)
            if self._leaving or self._found(self._buffer) == INCOMPLETE:
                return
            data = bytes(self._buffer)
            self._drop_buffer()
        self._read(data)

    def eof_received(self) -> bool:
        """Answer what the client has asked, though it asks no more."""
        self._ended = True
        self._close_if_done()
        return self._transport.get_extra_info("sslcontext") is None  # TLS has no half a connection

    def connection_lost(self, error: Exception | None) -> None:
        """Take back what nobody waits for; what has begun is finished."""
        self.lost = True
        self._drop_buffer()
        self._backlog.clear()
        self._parts.clear()
        for call in list(self._calls.values()):
            self._service.cancel(call)
        self._listener.left(self)

    def pause_writing(self) -> None:
        """Stop: the client does not take its answers."""
        self._full = True
        self.full_since = time.monotonic()
        self._read_or_pause()

    def resume_writing(self) -> None:
        """Go on with what waited for the client to take its answers."""
        self._full = False
        while self._parts and not self._full:
            self._transport.write(self._parts.popleft())
        self._go_on()

    # -- reading ---------------------------------------------------------------------------------

    def _keep(self, data: bytes | memoryview) -> None:
        """Keep what has come of a message, unless too much is kept for all clients together."""
        self._buffer += data
        if not self._listener.kept(len(data)):
            self.leave(OverloadedError("too many unfinished messages are kept", 1.0))

    def _drop_buffer(self) -> None:
        self._listener.kept(-len(self._buffer))
        self._buffer.clear()

    def _found(self, data: bytes | bytearray | memoryview) -> int:
        """Look at the value at the beginning of ``data``; leave if it is none."""
        most = MOST_GREETING if self._principal is None else self._limits.message_bytes
        found = value_end(np.frombuffer(data, np.uint8), most, MOST_ITEMS, RECORD, self._state)
        if found == message.TOO_LARGE:
            self.leave(ProtocolError(f"a message may have {most:,} bytes: send less at once"))
        elif found not in (INCOMPLETE, message.WHOLE):
            self.leave(ProtocolError(_WRONG[found]))
        return found

    def _read(self, data: bytes) -> None:
        view = memoryview(data)
        start = 0
        while start < len(data) and not self._leaving:
            self._state[:] = 0
            found = self._found(view[start:])
            if found == INCOMPLETE:
                self._keep(view[start:])
                self.begun_at = self.heard_at
                break
            if found != message.WHOLE:
                break
            end = start + int(self._state[AT])
            self._take(view[start:end])
            start = end
        if not self._buffer:
            self.begun_at = 0.0
        self._read_or_pause()

    def _take(self, data: memoryview) -> None:
        """Take one message."""
        try:
            value = messages.read_message(self._unpacking.unpack(data))
            if isinstance(value, Notification):
                self._notice(value)
            elif self._principal is None:
                self._greet(value)
            elif value.method == "ping":
                self._transport.write(messages.response(value.id, b"\xc0"))
            elif value.id in self._calls or value.id in self._backlog:
                raise ProtocolError(f"id {value.id} is that of a request without an answer yet")
            elif self._unpacking.refused is not None:
                self._transport.write(messages.refusal(value.id, self._unpacking.refused))
            else:
                self._backlog[value.id] = value
                self._pass_on()
        except RecollexError as error:
            self.leave(error)
        except Exception as error:
            self._service.observer.failed(None, error)
            self.leave(ProtocolError("a message could not be read"))

    def _greet(self, request: Request) -> None:
        """Answer the first request, which says who the client is and what it speaks."""
        if request.method != "hello":
            raise ProtocolError(f"the first request must be hello, got {request.method[:80]!r}")
        told = request.arguments
        if told.get("protocol") != PROTOCOL:
            raise ProtocolError(
                f"this server speaks protocol {PROTOCOL}, got {str(told.get('protocol'))[:40]}"
            )
        try:
            self._principal = self._service.access.principal(told.get("token"))
        except UnauthorizedError as error:
            self._transport.write(messages.refusal(request.id, error))
            self.leave(error)
            return
        self._deflate = told.get("deflate") is True
        self._transport.write(messages.response(request.id, pack(self._listener.greeting)))

    def _notice(self, notification: Notification) -> None:
        """Cancel a call; other notifications are of later versions, and mean nothing here."""
        if notification.method != "cancel" or len(notification.parameters) != 1:
            return
        id = notification.parameters[0]
        if not isinstance(id, int):
            return
        if (request := self._backlog.pop(id, None)) is not None:
            error = CancelledError(f"{request.method[:80]} was cancelled before it began")
            self._transport.write(messages.refusal(id, error))
        elif (call := self._calls.get(id)) is not None:
            self._service.cancel(call)

    def _read_or_pause(self) -> None:
        """Read on, or not, as the client's calls and unread answers have it."""
        if self.lost or self._leaving:
            return
        held = len(self._backlog) + len(self._calls)
        wanted = not self._full and held < self._limits.in_flight
        if wanted != self._reading:
            self._reading = wanted
            if wanted:
                self._transport.resume_reading()
            else:
                self._transport.pause_reading()

    # -- calls and answers -----------------------------------------------------------------------

    def _pass_on(self) -> None:
        """Give calls to the service, while the client takes its answers."""
        while self._backlog and len(self._calls) < WINDOW and not self._full:
            _, request = self._backlog.popitem(last=False)
            options, form = NO_OPTIONS, DEFLATED if self._deflate else WHOLE
            if request.options:
                try:
                    options = _options(request.options)
                except InputError as error:
                    self._transport.write(messages.refusal(request.id, error))
                    continue
                if (items := request.options.get("parts")) is not None:
                    form = InParts(items, self._deflate)
            call = self._service.submit(
                cast(Principal, self._principal),
                request.method,
                request.agent,
                request.arguments,
                options,
                self,
                form,
                partial(self._answer, request.id),
            )
            if not call.over:
                self._calls[request.id] = call

    def _answer(self, id: int, call: Call) -> None:
        """Write what a call came to."""
        self._calls.pop(id, None)
        if self.lost:
            return
        if call.error is not None:
            self._write(messages.refusal(id, call.error))
        else:
            packed: Packed = call.result
            for items in packed.parts:
                self._write(messages.part(id, items))
            self._write(messages.response(id, packed.result))
        self._go_on()

    def _write(self, data: bytes) -> None:
        """Write an answer, behind the parts that wait for the client to take others."""
        if self._parts or (self._full and len(data) > 1024):
            self._parts.append(data)
        else:
            self._transport.write(data)

    def _go_on(self) -> None:
        if self._backlog:
            self._pass_on()
        if not self._reading:
            self._read_or_pause()
        if self._ended or self._leaving:
            self._close_if_done()

    # -- the end ---------------------------------------------------------------------------------

    def leave(self, why: RecollexError, finish: bool = False) -> None:
        """Say why, answer what has begun, and close; nothing more is read.

        finish: do as well what was asked and has not begun.
        """
        if self._leaving or self.lost:
            return
        self._leaving = True
        self.why = str(why)
        self._drop_buffer()
        self._transport.write(messages.notification("closing", tell_error(why)))
        if not finish:
            self._backlog.clear()
            for call in list(self._calls.values()):
                self._service.cancel(call)
        if self._reading:
            self._reading = False
            self._transport.pause_reading()
        self._close_if_done()

    def check(self, now: float) -> None:
        """Close if the client keeps the server waiting: with a message, a hello, its answers."""
        limits = self._limits
        if self._full and now - self.full_since > limits.part:
            self.abort("the client takes no answers")
        elif self.begun_at and now - self.begun_at > limits.part:
            self.abort("a message was begun and not finished")
        elif self._principal is None and now - self.heard_at > limits.handshake:
            self.abort("the client said no hello")
        elif now - self.heard_at > limits.idle and not (self._calls or self._backlog):
            self.abort("nothing was said for too long")
        elif self._leaving and now - self.heard_at > limits.part:
            self.abort(self.why)

    def abort(self, why: str) -> None:
        """Close at once: the client keeps the server waiting."""
        self.why = why
        self._transport.abort()

    def _close_if_done(self) -> None:
        if not (self._calls or self._backlog or self._parts):
            self._transport.close()


def _options(told: dict[str, Any]) -> Options:
    milliseconds = told.get("deadline_ms")
    seconds = None if milliseconds is None else milliseconds / 1000
    return Options(told.get("at"), seconds, told.get("key"))

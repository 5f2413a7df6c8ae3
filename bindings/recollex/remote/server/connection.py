"""The connection of one client: its bytes become calls, and their results become bytes."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Protocol, cast

from recollex.remote.server.access import Principal
from recollex.remote.server.calls import NO_OPTIONS, Call, Options
from recollex.remote.server.framing import (
    DEFLATED,
    UNDEFLATED,
    EncodedResult,
    MessageBuffer,
    ResultEncoder,
    check_recall,
)
from recollex.remote.server.limits import Client
from recollex.remote.server.response_writer import ResponseWriter, TlsResponseWriter
from recollex.remote.server.service import Service, check_protocol
from recollex.remote.wire import messages
from recollex.remote.wire.codec import Decoder, encode
from recollex.remote.wire.error_codec import encode_error
from recollex.remote.wire.messages import Notification, WireRequest
from recollex.remote.wire.records import ARGUMENTS
from recollex_engine.errors import (
    CancelledError,
    InputError,
    OverloadedError,
    ProtocolError,
    RecollexError,
    UnauthorizedError,
)

WINDOW = 8
"""Calls of one client that the service holds at once; the others wait in the connection."""


class ConnectionOwner(Protocol):
    """Counts connections and the bytes that they keep; `listener.Listener` is one."""

    service: Service
    hello_answer: dict[str, Any]

    def joined(self, connection: "ServedConnection", peer: object) -> bool:
        """Count a client in; returns whether there is room."""

    def left(self, connection: "ServedConnection") -> None:
        """Count a client out."""

    def kept(self, more: int) -> bool:
        """Count bytes of unfinished messages; returns whether they are few enough."""

    def later(self, work: Callable[[], None]) -> None:
        """Run something after the work that the event loop already has."""


class ServedConnection(asyncio.Protocol):
    """One client: reads messages, passes on a few calls at a time, and writes answers.

    Reading stops while the client has ``in_flight`` calls here. Passing calls on stops while
    answers wait for the client. So a client that sends and does not read costs the memory of
    `WINDOW` answers, and no work.

    Threads: the event loop's, except for `deliver` and `urgent`.
    """

    def __init__(self, owner: ConnectionOwner, number: int, shaking: Client | None = None) -> None:
        self._owner = owner
        self.shaking = shaking
        self._service = owner.service
        self._limits = owner.service.limits
        self.name: str = f"connection {number}"
        self._principal: Principal | None = None
        self._encoder = UNDEFLATED
        self._decoder = Decoder(ARGUMENTS)
        self._buffer = MessageBuffer(owner.kept)
        self._backlog: OrderedDict[int, WireRequest] = OrderedDict()
        self._calls: dict[int, Call] = {}
        self._reading = True
        self._ended = False  # the client will send nothing more
        self._leaving = False  # nothing more is read or begun
        self._passing = False
        self.lost: bool = False
        self.why: str = "the client left"
        self.heard_at: float = 0.0
        self.begun_at: float = 0.0
        self.full_since: float = 0.0
        self._transport: asyncio.Transport = cast(Any, None)
        self._writer: ResponseWriter | TlsResponseWriter = cast(Any, None)

    # -- the transport's calls -------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start to serve a client."""
        self._transport = cast(asyncio.Transport, transport)
        tls = transport.get_extra_info("sslcontext") is not None
        make = TlsResponseWriter if tls else ResponseWriter
        self._writer = make(self._transport, self._writer_changed)
        self.heard_at = time.monotonic()
        if not self._owner.joined(self, transport.get_extra_info("peername")):
            self.leave(OverloadedError("too many clients are connected", 1.0))

    def data_received(self, data: bytes) -> None:
        """Read the whole messages; keep the beginning of the last one."""
        if self._principal is not None:  # before a hello, notifications must not gain time
            self.heard_at = time.monotonic()
        try:
            whole = self._buffer.add(data)
        except RecollexError as error:
            self.leave(error)
            return
        if whole:
            self._read(whole)

    def eof_received(self) -> bool:
        """Answer what the client has asked; it will ask nothing more."""
        self._ended = True
        self._service.settle()
        self._close_if_done()
        return isinstance(self._writer, ResponseWriter)  # TLS cannot close one direction only

    def connection_lost(self, error: Exception | None) -> None:
        """Cancel the calls that have not begun; those that have begun are finished."""
        self.lost = True
        self._buffer.drop()
        self._backlog.clear()
        self._writer.close()
        self._service.settle()
        for call in list(self._calls.values()):
            self._service.cancel(call)
        self._owner.left(self)

    def pause_writing(self) -> None:
        """Record that TLS waits for the client to read its answers."""
        cast(TlsResponseWriter, self._writer).pause(True)

    def resume_writing(self) -> None:
        """Record that the client has read them."""
        cast(TlsResponseWriter, self._writer).pause(False)

    def _writer_changed(self) -> None:
        """Stop while the client does not read its answers; go on when it has read them."""
        if self._writer.full:
            self.full_since = time.monotonic()
            self._read_or_pause()
        else:
            self._go_on()

    # -- reading ---------------------------------------------------------------------------------

    def _read(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view and not self._leaving:
                end = self._buffer.end(view)
                if not end:
                    self._buffer.keep(view)
                    self.begun_at = self.heard_at
                    break
                self._take(view[:end])
                view = view[end:]
        except RecollexError as error:
            self.leave(error)
        if not self._buffer:
            self.begun_at = 0.0
        if self._backlog:
            self._pass_on()
        self._read_or_pause()

    def _take(self, data: memoryview) -> None:
        """Handle one message."""
        try:
            value = messages.read_message(self._decoder.decode(data))
            if isinstance(value, Notification):
                self._notice(value)
            elif self._principal is None:
                self._hello(value)
            elif value.method == "ping":
                self._writer.send(messages.response(value.id, b"\xc0"))
            elif value.method == "metrics":
                text = self._service.metrics_text()
                self._writer.send(messages.response(value.id, encode(text)))
            elif self._has(value.id):
                raise ProtocolError(f"id {value.id} is that of a request without an answer yet")
            elif self._decoder.refused is not None:
                self._writer.send(messages.refusal(value.id, self._decoder.refused))
            else:
                check_recall(value.arguments.get("recall"))
                self._backlog[value.id] = value
        except RecollexError as error:
            self.leave(error)
        except Exception as error:
            self._service.observer.failed(None, error)
            self.leave(ProtocolError("a message could not be read"))

    def _hello(self, request: WireRequest) -> None:
        """Answer the first request, which names the protocol version and holds the token."""
        if request.method != "hello":
            raise ProtocolError(f"the first request must be hello, got {request.method[:80]!r}")
        arguments = request.arguments
        check_protocol(arguments.get("protocol"))
        try:
            self._principal = self._service.access.principal(arguments.get("token"))
        except UnauthorizedError as error:
            self._writer.send(messages.refusal(request.id, error))
            self.leave(error)
            return
        self._service.limiter.admit(self)
        self._buffer.max_bytes = self._limits.message_bytes
        self._encoder = DEFLATED if arguments.get("deflate") is True else UNDEFLATED
        self._writer.send(messages.response(request.id, encode(self._owner.hello_answer)))

    def _has(self, id: int) -> bool:
        """Return whether a request of that id has no answer yet."""
        call = self._calls.get(id)
        return id in self._backlog or (call is not None and not call.over)

    def _notice(self, notification: Notification) -> None:
        """Cancel a call. Other notifications belong to later protocol versions and are ignored."""
        id = notification.parameters[0] if len(notification.parameters) == 1 else None
        if notification.method != "cancel" or not isinstance(id, int):
            return
        if (request := self._backlog.pop(id, None)) is not None:
            error = CancelledError(f"{request.method[:80]} was cancelled before it began")
            self._writer.send(messages.refusal(id, error))
        elif (call := self._calls.get(id)) is not None:
            self._service.cancel(call)

    def _read_or_pause(self) -> None:
        """Resume or pause reading, depending on the client's calls and unread answers."""
        if self.lost or self._leaving:
            return
        held = len(self._backlog) + len(self._calls)
        wanted = not self._writer.full and held < self._limits.in_flight
        if wanted != self._reading:
            self._reading = wanted
            if wanted:
                self._transport.resume_reading()
            else:
                self._transport.pause_reading()
                self._service.settle()

    # -- calls and answers -----------------------------------------------------------------------

    def _pass_on(self) -> None:
        """Give calls to the service, while the client reads its answers.

        Few are answered at once in each turn: others would wait for all that one client sends.
        """
        if self._passing:  # this is a nested call
            return
        self._service.settle()  # calls that were delivered must not count
        self._passing = True
        most = WINDOW
        while self._backlog and len(self._calls) < WINDOW and not self._writer.full and most:
            _, request = self._backlog.popitem(last=False)
            try:
                call = self._submit(request)
            except InputError as error:
                self._writer.send(messages.refusal(request.id, error))
                most -= 1
                continue
            if call.settled:
                most -= 1
            else:
                self._calls[request.id] = call
        self._passing = False
        if not most:
            self._owner.later(self._go_on)

    def _submit(self, request: WireRequest) -> Call:
        """Give a call to the service. Raises `InputError` for options that are not accepted."""
        options = NO_OPTIONS
        encoder = self._encoder
        if request.options:
            options = Options.from_message(request.options)
            if (items := request.options.get("parts")) is not None:
                encoder = ResultEncoder(items, encoder.deflate)
        return self._service.submit(
            cast(Principal, self._principal),
            request.method,
            request.agent,
            request.arguments,
            options,
            self,
            self,
            encoder,
            request.id,
        )

    def deliver(self, call: Call, error: BaseException | None) -> None:
        """Write the result or the error of a call, on the thread that did it."""
        id = call.tag
        if error is not None:
            self._writer.send(messages.refusal(id, error))
        else:
            encoded: EncodedResult = call.result
            for items in encoded.chunks:
                self._writer.send(messages.chunk(id, items))
            self._writer.send(messages.response(id, encoded.result))

    def progress(self, call: Call, done: int, total: int | None) -> None:
        """Send the progress of a call, on its worker's thread, unless answers wait."""
        if not (call.over or self._writer.full):
            self._writer.send(messages.notification("progress", [call.tag, done, total]))

    def urgent(self) -> bool:
        """Return whether something waits until an answer is settled."""
        return bool(self._backlog or not self._reading or self._ended or self._leaving)

    def done(self, call: Call) -> None:
        """Go on after an answer."""
        if self._calls.get(call.tag) is call:  # a later call may have its id by now
            del self._calls[call.tag]
        self._go_on()

    def _go_on(self) -> None:
        if self.lost:
            return
        if self._backlog:
            self._pass_on()
        if not self._reading:
            self._read_or_pause()
        if self._ended or self._leaving:
            self._close_if_done()

    def leave(self, why: RecollexError, finish: bool = False) -> None:
        """Send the reason, answer the calls that have begun, and close; nothing more is read.

        finish: also do the calls that have not begun.
        """
        if self._leaving or self.lost:
            return
        self._leaving = True
        self._service.settle()
        self.why = str(why)
        self._buffer.drop()
        self._writer.send(messages.notification("closing", encode_error(why)))
        if not finish:
            self._backlog.clear()
            for call in list(self._calls.values()):
                self._service.cancel(call)
        if self._reading:
            self._reading = False
            self._transport.pause_reading()
        self._close_if_done()

    def overdue(self, now: float) -> str | None:
        """Return why the client is too slow to send a message or a hello, or to read."""
        self._service.settle()  # calls that were delivered must not count
        if self._writer.full and now - self.full_since > self._limits.stall:
            return "the client takes no answers"
        if self.begun_at and now - self.begun_at > self._limits.stall:
            return "a message was begun and not finished"
        if self._principal is None and now - self.heard_at > self._limits.handshake:
            return "the client said no hello"
        if now - self.heard_at > self._limits.idle and not (self._calls or self._backlog):
            return "nothing was said for too long"
        return self.why if self._leaving and now - self.heard_at > self._limits.stall else None

    def abort(self, why: str) -> None:
        """Close at once, because the client keeps the server waiting."""
        self.why = why
        self._transport.abort()

    def _close_if_done(self) -> None:
        if not (self._calls or self._backlog or self._writer.full):
            self._transport.close()

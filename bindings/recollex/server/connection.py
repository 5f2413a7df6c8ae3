"""How is one client served? Its bytes become calls, and what they come to becomes bytes again."""

import asyncio
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, cast

from recollex.server.access import Principal
from recollex.server.calls import NO_OPTIONS, Call, Options
from recollex.server.forms import DEFLATED, WHOLE, InParts, Packed
from recollex.server.framing import Framing
from recollex.server.outlet import Outlet, TlsOutlet
from recollex.wire import messages
from recollex.wire.failures import tell_error
from recollex.wire.messages import PROTOCOL, Notification, Request
from recollex.wire.methods import METHODS
from recollex.wire.packing import Unpacking, pack
from recollex.wire.received import ReceivedRecall
from recollex.wire.records import ARGUMENTS
from recollex_engine.errors import (
    CancelledError,
    InputError,
    OverloadedError,
    ProtocolError,
    RecollexError,
    UnauthorizedError,
)

if TYPE_CHECKING:
    from recollex.server.listener import Listener

WINDOW = 8
"""Calls of one client that are in the service's hands at once; the others wait here."""
MOST_GREETING = 64 << 10
"""Bytes of a message of somebody who has not said hello yet."""
SHORT = 1024
"""Bytes that need not be looked at before they are unpacked."""
AT_ONCE = frozenset({*(name for name, method in METHODS.items() if method.brief), "recall"})
"""Methods that may be done where they are read."""


class Connection(asyncio.Protocol):
    """One client: reads messages, passes calls on a few at a time, and writes answers.

    It is read no further while it has ``in_flight`` calls here, and served no further while answers
    wait for it: so a client that sends and does not read costs memory for `WINDOW` answers, and no
    work. Threads: the event loop's, but for `deliver` and `urgent`.
    """

    def __init__(self, listener: "Listener", number: int) -> None:
        self._listener = listener
        self._service = listener.service
        self._limits = listener.service.limits
        self.number = number
        self.name = f"connection {number}"
        self._principal: Principal | None = None
        self._form = WHOLE
        self._unpacking = Unpacking(ARGUMENTS)
        self._buffer = bytearray()
        self._framing = Framing()
        self._backlog: OrderedDict[int, Request] = OrderedDict()
        self._calls: dict[int, Call] = {}
        self._reading = True
        self._ended = False  # the client will send nothing more
        self._leaving = False  # nothing more is read or begun
        self._passing = False
        self._turn = 0  # look-ups that may be done before others have theirs
        self.lost = False
        self.why = "the client left"
        self.heard_at = self.begun_at = self.full_since = 0.0
        self._transport: asyncio.Transport = cast(Any, None)
        self._outlet: Outlet | TlsOutlet = cast(Any, None)

    # -- the transport's calls -------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin with a client."""
        self._transport = cast(asyncio.Transport, transport)
        tls = transport.get_extra_info("sslcontext") is not None
        self._outlet = (TlsOutlet if tls else Outlet)(self._transport, self._outlet_changed)
        self.heard_at = time.monotonic()
        if not self._listener.joined(self):
            self.leave(OverloadedError("too many clients are connected", 1.0))

    def data_received(self, data: bytes) -> None:
        """Read the messages that are whole; keep the beginning of the last."""
        self.heard_at = time.monotonic()
        if len(data) <= SHORT and self._do_plain(data):
            return
        if self._buffer:
            self._keep(data)
            if self._leaving or not self._end(self._buffer, fresh=False):
                return
            data = bytes(self._buffer)
            self._drop_buffer()
        self._read(data)

    def eof_received(self) -> bool:
        """Answer what the client has asked, though it asks no more."""
        self._ended = True
        self._service.settle()
        self._close_if_done()
        return isinstance(self._outlet, Outlet)  # TLS has no half a connection

    def connection_lost(self, error: Exception | None) -> None:
        """Take back what nobody waits for; what has begun is finished."""
        self.lost = True
        self._drop_buffer()
        self._backlog.clear()
        self._outlet.close()
        for call in list(self._calls.values()):
            self._service.cancel(call)
        self._listener.left(self)

    def pause_writing(self) -> None:
        """Note that TLS waits for the client to take its answers."""
        cast(TlsOutlet, self._outlet).pause(True)

    def resume_writing(self) -> None:
        """Note that it has taken them."""
        cast(TlsOutlet, self._outlet).pause(False)

    def _outlet_changed(self) -> None:
        """Stop where the client does not take its answers; go on where it has."""
        if self._outlet.full:
            self.full_since = time.monotonic()
            self._read_or_pause()
        else:
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

    def _end(self, data: bytes | bytearray | memoryview, fresh: bool) -> int:
        """Return where the message at the beginning of ``data`` ends; leave if it is none."""
        most = MOST_GREETING if self._principal is None else self._limits.message_bytes
        try:
            return self._framing.end(data, most, fresh)
        except ProtocolError as error:
            self.leave(error)
            return 0

    def _read(self, data: bytes) -> None:
        view = memoryview(data)
        self._turn = WINDOW
        while view and not self._leaving:
            end = self._end(view, fresh=True)
            if not end:
                if not self._leaving:
                    self._keep(view)
                    self.begun_at = self.heard_at
                break
            self._take(view[:end])
            view = view[end:]
        if not self._buffer:
            self.begun_at = 0.0
        if self._backlog:
            self._pass_on()
        self._read_or_pause()

    def _do_plain(self, data: bytes) -> bool:
        """Do what one request asks that is all there is to do; return whether it was."""
        if self._principal is None or self._buffer or self._backlog or self._calls:
            return False
        request = messages.read_plain(data)
        if request is None or request.method not in AT_ONCE or self._leaving:
            return False
        self._turn = 1
        return self._do_at_once(request, self._principal)

    def _take(self, data: memoryview) -> None:
        """Take one message."""
        try:
            value = messages.read_message(self._unpacking.unpack(data))
            if isinstance(value, Notification):
                self._notice(value)
            elif self._principal is None:
                self._greet(value)
            elif value.method == "ping":
                self._outlet.send(messages.response(value.id, b"\xc0"))
            elif value.method == "metrics":
                text = self._service.measures()
                self._outlet.send(messages.response(value.id, pack(text)))
            elif self._has(value.id):
                raise ProtocolError(f"id {value.id} is that of a request without an answer yet")
            elif self._unpacking.refused is not None:
                self._outlet.send(messages.refusal(value.id, self._unpacking.refused))
            else:
                if value.method == "sessions.backfill":
                    self._check_recall(value.arguments.get("recall"))
                if not (value.method in AT_ONCE and self._do_at_once(value, self._principal)):
                    self._backlog[value.id] = value
        except RecollexError as error:
            self.leave(error)
        except Exception as error:
            self._service.observer.failed(None, error)
            self.leave(ProtocolError("a message could not be read"))

    def _check_recall(self, recall: object) -> None:
        """Look at a recall's memories, which are bytes in a message, as at a message."""
        if isinstance(recall, ReceivedRecall) and not self._framing.is_value(recall.packed):
            raise ProtocolError("the memories of a recall are not those of a server")

    def _do_at_once(self, request: Request, principal: Principal) -> bool:
        """Answer a request at once, unless others would wait for it; return whether it was."""
        if self._backlog or self._outlet.full or not self._turn:
            return False
        done = self._service.do_at_once(principal, request, self, self._form)
        self._turn -= done
        return done

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
            self._outlet.send(messages.refusal(request.id, error))
            self.leave(error)
            return
        self._form = DEFLATED if told.get("deflate") is True else WHOLE
        self._outlet.send(messages.response(request.id, pack(self._listener.greeting)))

    def _has(self, id: int) -> bool:
        """Return whether a request of that id has no answer yet."""
        call = self._calls.get(id)
        return id in self._backlog or (call is not None and not call.over)

    def _notice(self, notification: Notification) -> None:
        """Cancel a call; other notifications are of later versions, and mean nothing here."""
        if notification.method != "cancel" or len(notification.parameters) != 1:
            return
        id = notification.parameters[0]
        if not isinstance(id, int):
            return
        if (request := self._backlog.pop(id, None)) is not None:
            error = CancelledError(f"{request.method[:80]} was cancelled before it began")
            self._outlet.send(messages.refusal(id, error))
        elif (call := self._calls.get(id)) is not None:
            self._service.cancel(call)

    def _read_or_pause(self) -> None:
        """Read on, or not, as the client's calls and unread answers have it."""
        if self.lost or self._leaving:
            return
        held = len(self._backlog) + len(self._calls)
        wanted = not self._outlet.full and held < self._limits.in_flight
        if wanted != self._reading:
            self._reading = wanted
            if wanted:
                self._transport.resume_reading()
            else:
                self._transport.pause_reading()
                self._service.settle()

    # -- calls and answers -----------------------------------------------------------------------

    def _pass_on(self) -> None:
        """Give calls to the service, while the client takes its answers.

        Those that are answered at once are so many in one turn, or others would wait for all that a
        client sends.
        """
        if self._passing:  # in one of the calls that are passed on
            return
        self._service.settle()  # or what was delivered lately would count
        self._passing = True
        most = WINDOW
        while self._backlog and len(self._calls) < WINDOW and not self._outlet.full and most:
            _, request = self._backlog.popitem(last=False)
            try:
                call = self._submit(request)
            except InputError as error:
                self._outlet.send(messages.refusal(request.id, error))
                most -= 1
                continue
            if call.left:
                most -= 1
            else:
                self._calls[request.id] = call
        self._passing = False
        if not most:
            self._listener.later(self._go_on)

    def _submit(self, request: Request) -> Call:
        """Give a call to the service. Raises `InputError` for options that are not acceptable."""
        options, form = NO_OPTIONS, self._form
        if request.options:
            options = Options.told(request.options)
            if (items := request.options.get("parts")) is not None:
                form = InParts(items, form.deflate)
        return self._service.submit(
            cast(Principal, self._principal),
            request.method,
            request.agent,
            request.arguments,
            options,
            self,
            self,
            form,
            request.id,
        )

    def deliver(self, call: Call, error: BaseException | None) -> None:
        """Write what a call came to, on the thread that did it."""
        id = call.tag
        if error is not None:
            self._outlet.send(messages.refusal(id, error))
        else:
            packed: Packed = call.result
            for items in packed.parts:
                self._outlet.send(messages.part(id, items))
            self._outlet.send(messages.response(id, packed.result))

    def progress(self, call: Call, done: int, total: int | None) -> None:
        """Tell how far a call is, on the thread that does it, while the client takes it."""
        if not (call.over or self._outlet.full):
            self._outlet.send(messages.notification("progress", [call.tag, done, total]))

    def urgent(self) -> bool:
        """Return whether something waits for an answer to be settled."""
        return bool(self._backlog or not self._reading or self._ended or self._leaving)

    def done(self, call: Call) -> None:
        """Go on after an answer."""
        if self._calls.get(call.tag) is call:  # its id may be another's by now
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

    # -- the end ---------------------------------------------------------------------------------

    def leave(self, why: RecollexError, finish: bool = False) -> None:
        """Say why, answer what has begun, and close; nothing more is read.

        finish: do as well what was asked and has not begun.
        """
        if self._leaving or self.lost:
            return
        self._leaving = True
        self._service.settle()
        self.why = str(why)
        self._drop_buffer()
        self._outlet.send(messages.notification("closing", tell_error(why)))
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
        if self._outlet.full and now - self.full_since > limits.part:
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
        if not (self._calls or self._backlog or self._outlet.full):
            self._transport.close()

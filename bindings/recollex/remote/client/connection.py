"""One call at a time over a socket, by MessagePack-RPC; see `PROTOCOL.md`."""

import contextlib
import os
import socket
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgpack

from recollex.api.progress import ProgressListener
from recollex.remote.client import sockets
from recollex.remote.client.sockets import LostError, UnsendableError
from recollex.remote.wire.codec import Decoder, encode
from recollex.remote.wire.error_codec import decode_error
from recollex.remote.wire.messages import (
    MOST_ID,
    NOTIFICATION,
    PROTOCOL,
    REQUEST,
    RESPONSE,
    joined,
    notification,
)
from recollex_engine.errors import (
    CancelledError,
    ClosedError,
    DeadlineError,
    DisconnectedError,
    InputError,
    OverloadedError,
    ProtocolError,
    RecollexError,
)
from recollex_engine.storage.formats import VERSION

# Decodes the bytes of a server to the answers for which calls wait.
MOST = 2**31 - 1
"""Bytes of one message, at most."""


class ServerAnswer(NamedTuple):
    """The answer to one call: a result, or an error."""

    id: int
    error: RecollexError | None
    result: Any


class Inbox:
    """The messages that one connection receives. Threads: one at a time.

    closing: why the server is about to close; None otherwise. progress_listeners: id of a call ->
    the callback for its progress.
    """

    def __init__(self) -> None:
        self._unpacker = msgpack.Unpacker(
            ext_hook=Decoder(later=True).extension, strict_map_key=True, max_buffer_size=MOST
        )
        self._chunks: dict[int, list[list[Any]]] = {}
        self.progress_listeners: dict[int, ProgressListener] = {}
        self.closing: RecollexError | None = None

    def feed(self, data: bytes | memoryview) -> None:
        """Take received bytes."""
        self._unpacker.feed(data)

    def take(self) -> ServerAnswer | None:
        """Return the next answer; None if it is not complete. Raises `errors.ProtocolError`."""
        try:
            for message in self._unpacker:
                if (answer := self._read(message)) is not None:
                    return answer
        except RecollexError:
            raise
        except (ValueError, TypeError, KeyError, IndexError, msgpack.UnpackException) as error:
            raise ProtocolError(f"the server said what is no message: {error}") from error
        return None

    def hung_up(self) -> RecollexError | LostError:
        """Return the error of a call that had no answer when the server closed the connection."""
        if self.closing is None or isinstance(self.closing, OverloadedError):
            return LostError(str(self.closing or "the server hung up"), True)
        return self.closing

    def _read(self, message: Any) -> ServerAnswer | None:
        if message[0] == RESPONSE:
            _, id, error, result = message
            chunks = self._chunks.pop(id, None) if self._chunks else None
            if self.progress_listeners:
                self.progress_listeners.pop(id, None)
            if error is not None:
                return ServerAnswer(id, decode_error(error), None)
            return ServerAnswer(id, None, result if chunks is None else joined(chunks, result))
        if message[0] != NOTIFICATION:
            raise ProtocolError(f"a server sends responses and notifications, got {message[0]!r}")
        _, name, parameters = message
        if name == "part":
            self._chunks.setdefault(parameters[0], []).append(parameters[1])
        elif name == "progress" and parameters[0] in self.progress_listeners:
            self.progress_listeners[parameters[0]](*parameters[1:])
        elif name == "closing":
            self.closing = decode_error(parameters)
        return None


RECEIVE_BYTES = 1 << 18
"""Bytes that are read at once, at most."""
GRACE = 0.1
"""Seconds after a deadline in which the server may still answer."""


class Connection:
    """A connection to a server, after its hello; see `channel.Channel`.

    end: of `time.monotonic`, when the hello must be answered. Raises `errors.DisconnectedError`,
    `errors.UnauthorizedError` and `errors.ProtocolError`.
    """

    def __init__(self, made: socket.socket, token: str | None, end: float) -> None:
        self._socket = made
        self._inbox = Inbox()
        self._buffer = memoryview(bytearray(RECEIVE_BYTES))
        self._last = -1
        self._timeout: float | None = None
        self._most = MOST_ID
        self.instance: str = ""
        self.reports_progress: bool = False
        self.is_idle: bool = True
        made.settimeout(None)
        try:
            with greeting():
                welcome = self.exchange("hello", [None, hello(token), {}], end - GRACE)
            self.instance, self._most, capabilities = read_welcome(welcome)
            self.reports_progress = "progress" in capabilities
        except BaseException:
            self.close()
            raise

    def exchange(
        self,
        method: str,
        params: Sequence[Any],
        deadline: float | None = None,
        progress: ProgressListener | None = None,
    ) -> Any:
        """Send a call and return its result; see `channel.Channel.exchange`."""
        self._last = id = (self._last + 1) & MOST_ID
        message = packed_request(id, method, params, self._most)
        if progress is not None:
            self._inbox.progress_listeners[id] = progress
        self.is_idle = False
        sent = False
        try:
            if deadline is not None or self._timeout is not None:
                self._wait_until(deadline)
            self._socket.sendall(message)
            sent = True
            answer = self._answer(id, deadline)
        except RecollexError:  # sent by the server as it closed; some are an OSError too
            raise
        except TimeoutError:
            self._cancel(id)
            raise DeadlineError(method, sent) from None
        except OSError as error:
            raise LostError(error.strerror or str(error), sent) from error
        except BaseException:
            self._cancel(id)
            raise
        self.is_idle = self._inbox.closing is None
        return answer.result if answer.error is None else result_of(answer)

    def is_alive(self) -> bool:
        """Return whether the other end has not closed the connection."""
        return sockets.is_alive(self._socket)

    def close(self) -> None:
        """Close the connection."""
        self.is_idle = False
        with contextlib.suppress(OSError):
            self._socket.close()

    def abandon(self) -> None:
        """Close the copy of this process; a TLS session of the parent stays open."""
        self.is_idle = False
        with contextlib.suppress(OSError):
            socket.socket(fileno=self._socket.detach()).close()

    def _answer(self, id: int, deadline: float | None) -> ServerAnswer:
        inbox = self._inbox
        while True:
            if deadline is not None:
                self._wait_until(deadline)
            count = self._socket.recv_into(self._buffer)
            if count:
                inbox.feed(self._buffer[:count])
            while (answer := inbox.take()) is not None:
                if answer.id == id:
                    return answer
            if not count:
                raise inbox.hung_up()

    def _wait_until(self, deadline: float | None) -> None:
        """Let the next step of the socket take until the deadline, and `GRACE` longer."""
        if deadline is None:
            if self._timeout is not None:
                self._timeout = None
                self._socket.settimeout(None)
            return
        self._timeout = deadline + GRACE - time.monotonic()
        if self._timeout <= 0:
            raise TimeoutError
        self._socket.settimeout(self._timeout)

    def _cancel(self, id: int) -> None:
        """Cancel a call at the server, if that can be sent at once."""
        with contextlib.suppress(OSError):
            self._socket.settimeout(0)
            self._socket.sendall(notification("cancel", [id]))


@contextlib.contextmanager
def greeting() -> Iterator[None]:
    """Raise `DisconnectedError` if the hello in the body has no answer: no server listens."""
    try:
        yield
    except (LostError, DeadlineError) as error:
        raise DisconnectedError(f"what listens there is no recollex server: {error}") from error


def hello(token: str | None) -> dict[str, Any]:
    """Return the arguments of the first call of every connection."""
    arguments: dict[str, Any] = {"protocol": PROTOCOL, "client": f"recollex/{VERSION}"}
    return arguments if token is None else arguments | {"token": token}


def read_welcome(welcome: object) -> tuple[str, int, frozenset[str]]:
    """Return the server's instance, its limit of a message in bytes, and its capabilities."""
    if not isinstance(welcome, dict) or welcome.get("protocol") != PROTOCOL:
        raise ProtocolError(f"the server does not speak version {PROTOCOL} of the protocol")
    most = welcome.get("limits", {}).get("message_bytes", MOST_ID)
    instance = welcome.get("instance") or os.urandom(8).hex()  # unknown: equal to no other
    return str(instance), most, frozenset(welcome.get("capabilities", ()))


def packed_request(id: int, method: str, params: Sequence[Any], most: int) -> bytes:
    """Return the bytes of a request. Raises `UnsendableError` for values that cannot be encoded."""
    try:
        message = encode([REQUEST, id, method, params])
    except InputError as error:
        raise UnsendableError from error
    if len(message) > most:
        raise InputError(
            f"{method} takes {len(message):,} bytes here, and the server reads up to {most:,}: "
            "do it in parts"
        )
    return message


def result_of(answer: ServerAnswer) -> Any:
    """Return the result of an answer, or raise its error.

    A server that stops refuses calls that it has not begun; they count as not sent.
    """
    if answer.error is None:
        return answer.result
    if isinstance(answer.error, ClosedError | CancelledError):
        raise LostError(str(answer.error), False)
    raise answer.error

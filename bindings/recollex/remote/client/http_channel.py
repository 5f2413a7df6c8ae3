"""One call at a time over HTTP: each is a POST of the message that a socket would carry."""

import contextlib
import http.client
import socket
import ssl
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from recollex.api.progress import ProgressListener
from recollex.remote.client import sockets
from recollex.remote.client.connection import (
    GRACE,
    Connection,
    Inbox,
    ServerAnswer,
    greeting,
    hello,
    packed_request,
    read_welcome,
    result_of,
)
from recollex.remote.client.sockets import Address, Channel, LostError
from recollex.remote.wire.error_codec import ERRORS, decode_error
from recollex.remote.wire.messages import MOST_ID
from recollex_engine.errors import DeadlineError, DisconnectedError, InputError, RecollexError

PATH = "/api/rpc"
KIND = "application/msgpack"


class HttpChannel:
    """A connection to an HTTP server, kept open between calls; see `channel.Channel`.

    made: the socket, connected to ``address``. end: of `time.monotonic`, when the hello must be
    answered. Raises `errors.DisconnectedError`, `errors.UnauthorizedError` and
    `errors.ProtocolError`.
    """

    def __init__(
        self, made: socket.socket, address: Address, token: str | None, end: float
    ) -> None:
        self._socket = made
        self._http = http.client.HTTPConnection(address.host, address.port)
        self._http.auto_open = 0  # retries are decided by `Retries`
        self._http.sock = made
        self._headers = {"Content-Type": KIND}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        self._most = MOST_ID
        self.instance: str = ""
        self.reports_progress: bool = False  # an answer comes as one body
        self.is_idle: bool = True
        try:
            with greeting():
                welcome = self.exchange("hello", [None, hello(None), {}], end - GRACE)
            self.instance, self._most, _ = read_welcome(welcome)
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
        """Send a call and return its result; see `channel.Channel.exchange`.

        ``progress`` is never called. A call is cancelled by closing the connection.
        """
        message = packed_request(0, method, params, self._most)
        self.is_idle = False
        sent = False
        try:
            left = None if deadline is None else deadline + GRACE - time.monotonic()
            if left is not None and left <= 0:
                raise TimeoutError
            self._socket.settimeout(left)
            self._http.request("POST", PATH, message, self._headers)
            sent = True
            answer = self._http.getresponse()
            kind = answer.headers.get_content_type()
            body = answer.read()
        except TimeoutError:
            raise DeadlineError(method, sent) from None
        except (OSError, http.client.HTTPException) as error:
            raise LostError(str(error) or type(error).__name__, sent) from error
        self.is_idle = not answer.will_close
        if kind != KIND:
            raise _refused(answer.status, body)
        return result_of(_answer(body))

    def is_alive(self) -> bool:
        """Return whether the other end has not closed the connection."""
        return sockets.is_alive(self._socket)

    def close(self) -> None:
        """Close the connection."""
        self.is_idle = False
        with contextlib.suppress(OSError):
            self._http.close()
            self._socket.close()

    def abandon(self) -> None:
        """Close the copy of this process."""
        self.is_idle = False
        with contextlib.suppress(OSError):
            socket.socket(fileno=self._socket.detach()).close()


def _answer(body: bytes) -> ServerAnswer:
    inbox = Inbox()
    inbox.feed(body)
    answer = inbox.take()
    if answer is None:
        raise LostError("an answer was cut off", True)
    return answer


_OF_PROBLEMS = {"type", "title", "status", "detail"}
"""The members of every problem; the others are the fields of its error."""


def _refused(status: int, body: bytes) -> RecollexError:
    """Return the error of a response that is a problem, or not of a recollex server."""
    try:
        problem = orjson.loads(body)
        title = problem["title"]
        detail = problem["detail"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return DisconnectedError(f"what listens there is no recollex server: it answers {status}")
    if title in ERRORS:
        fields = {name: problem[name] for name in problem.keys() - _OF_PROBLEMS}
        return decode_error([title, detail, fields])
    return InputError(f"{title}: {detail}")


# Opens the channel of an address: over a socket or over HTTP, by the scheme of the address.
def open_channel(
    address: Address,
    token: str | None,
    trusted: ssl.SSLContext | Path | None,
    deadline: float | None,
) -> Channel:
    """Return a channel to a server, after its hello.

    deadline: of `time.monotonic`; the call takes `sockets.CONNECT_SECONDS` at most. Raises
    `errors.DisconnectedError` if no server answers, and the error of a server that refuses.
    """
    end = time.monotonic() + sockets.CONNECT_SECONDS
    end = end if deadline is None else min(deadline, end)
    made = sockets.connect_socket(address, trusted, end)
    if address.scheme in ("http", "https"):
        return HttpChannel(made, address, token, end)
    return Connection(made, token, end)

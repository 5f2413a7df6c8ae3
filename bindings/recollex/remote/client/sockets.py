"""A server's address, the socket that connects to it, and what every channel to it offers."""

import os
import select
import socket
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol
from urllib.parse import SplitResult, unquote, urlsplit

from recollex.api.progress import ProgressListener
from recollex_engine.errors import DisconnectedError, InputError

# The address of a server, parsed from what a user types.
Scheme = Literal["unix", "tcp", "tls", "http", "https"]
PORTS = {"http": 80, "https": 443}
"""Scheme -> the port of an address without one."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens: a path for "unix", a host and a port for other schemes."""

    scheme: Scheme
    path: str = ""
    host: str = ""
    port: int = 0

    def __str__(self) -> str:
        if self.scheme == "unix":
            return f"unix://{self.path}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @property
    def how_to_serve(self) -> str:
        """The command that starts a server at this address."""
        where = f"--socket {self.path}" if self.scheme == "unix" else f"--listen {self._endpoint}"
        if self.scheme in ("http", "https"):
            where = f"--http {self._endpoint}"
        return f"recollex serve --store DIR {where}"

    @property
    def _endpoint(self) -> str:
        return str(self).removeprefix(f"{self.scheme}://")


def read_address(given: object) -> Address:
    """Return the address that a user typed. Raises `InputError`, which shows the possible forms.

    >>> str(read_address("unix:///run/recollex.sock")), read_address("tcp://127.0.0.1:7077").port
    ('unix:///run/recollex.sock', 7077)
    """
    if isinstance(given, os.PathLike):
        given = f"unix://{Path(given).absolute()}"
    if not isinstance(given, str):
        raise InputError(f"the address must be a str, got {type(given).__name__}: {_FORMS}")
    try:
        parts = urlsplit(given)
        port = parts.port
    except ValueError as error:
        raise InputError(f"the address {given!r} cannot be read ({error}): {_FORMS}") from None
    if parts.query or parts.fragment or parts.username is not None:
        raise InputError(
            f"the address {given!r} has more than a place in it; a token is given as token=..."
        )
    if parts.scheme == "unix":
        return Address("unix", path=_socket_path(given, parts))
    scheme = _scheme(given, parts)
    port = PORTS.get(scheme) if port is None else port
    if not parts.hostname or not port or parts.path not in ("", "/"):
        raise InputError(f"the address {given!r} must name a host and a port alone: {_FORMS}")
    return Address(scheme, host=parts.hostname, port=port)


_FORMS = 'write "unix:///path/to.sock", "tcp://host:port", "tls://host:port" or "http://host:port"'


def _socket_path(given: str, parts: SplitResult) -> str:
    path = unquote(parts.path)
    if parts.netloc:
        raise InputError(
            f"the address {given!r} needs three slashes, for a path from the root: "
            f"unix:///{parts.netloc}{parts.path}"
        )
    if not path.startswith("/") or path.endswith("/") or "\0" in path:
        raise InputError(f"the address {given!r} must name a socket's whole path: {_FORMS}")
    return path


def _scheme(given: str, parts: SplitResult) -> Scheme:
    for known in ("tcp", "tls", "http", "https"):
        if parts.scheme == known:
            return known
    raise InputError(f"the address {given!r} begins with no known scheme: {_FORMS}")


# A connection to a server that carries one call at a time, over any protocol.
class Channel(Protocol):
    """One connection to a server, used by one thread at a time.

    instance: a random id of the server process. When it has changed, the server was restarted and
    does not know the calls that it answered before. reports_progress: whether the server reports
    the progress of a call, if the call's options ask for it. is_idle: whether the channel may carry
    another call: not during a call, and never again after a call that was abandoned or lost.
    """

    instance: str
    reports_progress: bool
    is_idle: bool

    def exchange(
        self,
        method: str,
        params: Sequence[Any],
        deadline: float | None = None,
        progress: ProgressListener | None = None,
    ) -> Any:
        """Send a call and return its result, or raise the error that the server answered.

        deadline: of `time.monotonic`. Raises `LostError` if the connection broke, and
        `UnsendableError` if nothing was sent. If an interrupt or the deadline ends the call before
        its answer, the call is cancelled at the server, and the channel is never idle again.
        """

    def is_alive(self) -> bool:
        """Return whether the other end has not closed the connection; costs one poll."""

    def close(self) -> None:
        """Close the connection."""

    def abandon(self) -> None:
        """Close the copy of this process after a fork; the parent continues to use its own."""


@dataclass(eq=False)
class LostError(Exception):
    """A connection broke during a call. sent: whether the server may have read all of the call."""

    reason: str
    sent: bool

    def __str__(self) -> str:
        return self.reason


class UnsendableError(Exception):
    """An argument has no form on the wire; its cause is the `errors.InputError` that says so."""


CONNECT_SECONDS = 10.0
"""Seconds for connecting and for the hello, at most."""


def connect_socket(
    address: Address, trusted: ssl.SSLContext | Path | None, end: float
) -> socket.socket:
    """Return a socket that is connected to a server, before ``end`` of `time.monotonic`.

    Raises `errors.DisconnectedError`.
    """
    made = socket.socket()
    try:
        if address.scheme == "unix":
            made.close()
            made = socket.socket(socket.AF_UNIX)
            made.settimeout(_left(end))
            made.connect(address.path)
            return made
        made.close()
        made = socket.create_connection((address.host, address.port), _left(end))
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if address.scheme in ("tls", "https"):
            made = tls_context(trusted).wrap_socket(made, server_hostname=address.host)
        return made
    except OSError as error:
        made.close()
        raise DisconnectedError(explain(address, error)) from error
    except BaseException:
        made.close()
        raise


def tls_context(trusted: ssl.SSLContext | Path | None) -> ssl.SSLContext:
    """Return the SSL context that checks a server's certificate."""
    if isinstance(trusted, ssl.SSLContext):
        return trusted
    try:
        return ssl.create_default_context(cafile=trusted)
    except OSError as error:
        raise InputError(f"certificates cannot be read from {trusted}: {error}") from None


def explain(address: Address, error: OSError) -> str:
    """Return a message that says what an error of connecting means, and what to do."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            f"the certificate of {address} is not trusted ({error.verify_message}): give "
            "certificates='FILE' with the one that signed it"
        )
    if isinstance(error, ssl.SSLError):
        return f"{address} does not speak TLS ({error.reason}): try tcp:// if it is your own"
    if isinstance(error, PermissionError):
        return f"{address} belongs to another user: run as the user who runs the server"
    if isinstance(error, socket.gaierror):
        return f"{address} names no host that can be found: {error.strerror}"
    if isinstance(error, TimeoutError):
        return f"{address} did not answer in time: is that a recollex server, and does it run?"
    return f"no server listens at {address}: start one with\n  {address.how_to_serve}"


def _left(end: float) -> float:
    return max(0.001, end - time.monotonic())


def is_alive(made: socket.socket) -> bool:
    """Return whether the other end of an idle socket is open, and has sent nothing."""
    try:
        poll = select.poll()
        poll.register(made, select.POLLIN)
        if not poll.poll(0):
            return True
        if not isinstance(made, ssl.SSLSocket):
            return False
        timeout = made.gettimeout()
        made.settimeout(0)
        try:
            made.recv(1)  # a record of TLS itself is no message
        finally:
            made.settimeout(timeout)
        return False
    except ssl.SSLWantReadError:
        return True
    except (OSError, ValueError):  # closed
        return False

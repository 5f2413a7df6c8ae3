"""Connects sockets to servers; the error of a failure says what to do."""

import select
import socket
import ssl
import time
from pathlib import Path

from recollex.remote.client.address import Address
from recollex_engine.errors import DisconnectedError, InputError

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

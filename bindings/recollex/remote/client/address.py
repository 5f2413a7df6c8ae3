"""The address of a server, parsed from what a user types."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import SplitResult, unquote, urlsplit

from recollex_engine.errors import InputError

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

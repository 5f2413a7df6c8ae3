"""The limits of a server: what a client may ask for, and how much the server holds.

Which connections are kept? Those that go on, and of the others not too many.
Everybody may connect; only a request shows who may call. So a connection is `admitted` once its
client has shown a token, or has called where no token is asked for. Until then it is cheap to make
and worth nothing: at a limit the oldest of these is dropped, so a client that calls at once is
served however many connections say nothing, or a byte now and then.
"""

import asyncio
import os
import resource
import time
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, fields
from ipaddress import IPv6Address, ip_address
from typing import Any, Protocol

from recollex_engine.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """The limits of a server.

    message_bytes: bytes of one request. kept_bytes: bytes of unfinished messages, of all clients
    together. waiting: calls that wait, of all clients; further calls are refused as overloaded.
    items: texts, turns, queries or operations of one call; one worker does them all.

    in_flight: calls of one client that wait or run; at this number the server reads no more.
    connections: open connections. idle: seconds after which a silent connection is closed.
    handshake: seconds within which a client must say hello. stall: seconds within which a message
    that was begun must be whole, and within which a client must read some of what waits for it.

    seconds: the time of a call that names no deadline, and the longest deadline. open_agents:
    agents kept open. readers, writers: threads. group: writes of one agent that share one flush.
    keys: remembered answers to keyed writes. drain: seconds that calls have to finish when the
    server stops.

    >>> ServerLimits(waiting=10).waiting
    10
    """

    message_bytes: int = 16 << 20
    kept_bytes: int = 256 << 20
    waiting: int = 4096
    items: int = 10_000
    in_flight: int = 64
    connections: int = 20_000
    idle: float = 3600.0
    handshake: float = 10.0
    stall: float = 30.0
    seconds: float = 60.0
    open_agents: int = 256
    readers: int = min(4, os.cpu_count() or 1)
    writers: int = 4
    group: int = 64
    keys: int = 100_000
    drain: float = 30.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
                raise InputError(f"{field.name} must be more than 0, got {value!r}")


SWEEP = 1.0
"""Seconds between two looks for connections that keep the server waiting."""
SAY_AGAIN = 60.0
"""Seconds between two lines of the log that say that connections are exhausted."""


ADMIT = "recollex.admit"
"""Key of an HTTP request's scope: what admits its connection."""


class Client(Protocol):
    """A connection of any transport, as the limiter sees it."""

    def overdue(self, now: float) -> str | None:
        """Return why the connection keeps the server waiting too long at ``now``, if it does.

        ``now`` is of `time.monotonic`.
        """

    def abort(self, why: str) -> None:
        """Close the connection at once."""


class ConnectionLimiter:
    """The connections of a server, of all its transports; it drops what it waits for in vain.

    At most `ServerLimits.connections` are open, and at most half as many as the process may open
    files: the agents need some. Of those that are not admitted an address (of IPv6, a network of
    64 bits) has at most half. exhausted: is told the address of a connection that was dropped at a
    limit, how many are open, and how many were dropped since it was last told.

    Threads: the event loop's. Cost: a second's look takes some 0.2 us a connection.
    """

    def __init__(self, limits: ServerLimits, exhausted: Callable[[str, int, int], None]) -> None:
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        most = limits.connections
        self.limits = limits
        self.most: int = most if files == resource.RLIM_INFINITY else max(1, min(most, files // 2))
        self._exhausted = exhausted
        self._loop = asyncio.get_running_loop()
        self._addresses: dict[Client, str] = {}
        self._waiting: dict[Client, None] = {}  # in the order in which they came
        self._waiting_of: dict[str, dict[Client, None]] = {}
        self._sweeping = False
        self._dropped = 0
        self._said_at = -SAY_AGAIN

    def __len__(self) -> int:
        return len(self._addresses)

    def join(self, client: Client, peer: object, instead_of: Client | None = None) -> bool:
        """Count a connection in, and drop another one if there are too many.

        peer: its address as a transport says it, of any form for Unix sockets. instead_of: what the
        same connection was counted as until now. Returns False if there is no room: all others are
        admitted, so this one must leave.
        """
        if instead_of is not None:
            self.leave(instead_of)
        address = _network(peer)
        self._addresses[client] = address
        self._waiting[client] = None
        same = self._waiting_of.setdefault(address, {})
        same[client] = None
        if not self._sweeping:
            self._sweeping = True
            self._loop.call_later(SWEEP, self._sweep)
        if address and len(same) > (self.most + 1) // 2:
            return self._drop(next(iter(same)), client)
        if len(self) > self.most:
            return self._drop(next(iter(self._waiting)), client)
        return True

    def admit(self, client: Client) -> None:
        """Keep a connection whose client has shown that it may call."""
        if client in self._waiting:
            del self._waiting[client]
            self._forget_address(client)

    def leave(self, client: Client) -> None:
        """Count a connection out; twice is fine."""
        self.admit(client)
        self._addresses.pop(client, None)

    def _forget_address(self, client: Client) -> None:
        address = self._addresses[client]
        same = self._waiting_of[address]
        del same[client]
        if not same:
            del self._waiting_of[address]

    def _drop(self, oldest: Client, newest: Client) -> bool:
        """Drop a connection because there are too many; returns whether the newest one stays."""
        self._dropped += 1
        if (now := time.monotonic()) - self._said_at >= SAY_AGAIN:
            self._exhausted(self._addresses[oldest], len(self), self._dropped)
            self._said_at = now
            self._dropped = 0
        if oldest is newest:
            return False
        self.leave(oldest)
        oldest.abort("there are too many connections, and it has not called")
        return True

    def _sweep(self) -> None:
        now = time.monotonic()
        for client in list(self._addresses):
            if (why := client.overdue(now)) is not None:
                client.abort(why)
        self._sweeping = bool(self._addresses)
        if self._sweeping:
            self._loop.call_later(SWEEP, self._sweep)


def admit(scope: MutableMapping[str, Any]) -> None:
    """Admit the connection of an HTTP request whose client may call."""
    if (admitted := scope.get(ADMIT)) is not None:
        admitted()


def _network(peer: object) -> str:
    """Return what one machine has for itself: its IPv4 address, or its IPv6 network of 64 bits.

    >>> _network(("2001:db8:1:2:3::4", 80, 0, 0)), _network(("::ffff:10.0.0.1", 80)), _network("")
    ('2001:db8:1:2::', '10.0.0.1', '')
    """
    if not (isinstance(peer, tuple) and peer and isinstance(peer[0], str)):
        return ""
    try:
        address = ip_address(peer[0].partition("%")[0])
    except ValueError:
        return ""
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or IPv6Address(int(address) >> 64 << 64)
    return str(address)

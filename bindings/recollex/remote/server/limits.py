"""The limits of a server: what a client may ask for, and how much the server holds."""

import os
from dataclasses import dataclass, fields

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

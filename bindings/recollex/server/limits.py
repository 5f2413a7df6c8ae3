"""How much may a client ask, and how much does a server hold?"""

import os
from dataclasses import dataclass, fields

from recollex_engine.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The bounds of a server.

    message_bytes: of one request. kept_bytes: of messages that have not come whole, of all clients
    together. waiting: calls that wait in all; more are refused as overloaded.
    items: texts, turns, queries or operations of one call: a worker does all of them.
    in_flight: calls of one client that wait or run; it is read no further while it has as many.
    connections: open at once. idle: seconds after which a connection that says nothing is closed.
    handshake: seconds in which it must have said hello. stall: seconds in which a message that was
    begun must be whole, and in which a client must take something of what waits for it.
    seconds: that a call may take where it names no deadline. open_agents: kept open. readers,
    writers: threads. group: writes of one agent that share one flush. keys: answers to keyed
    writes that are remembered, and for how many seconds. drain: seconds that calls have to finish
    when the server stops.

    >>> Limits(waiting=10).waiting
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

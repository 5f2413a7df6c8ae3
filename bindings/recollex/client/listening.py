"""How does a call wait for bytes? Awake at first, if the last ones came quickly, then asleep."""

import select
import socket
import time
from collections.abc import Callable
from typing import Any

from recollex.wire import awake

BESIDE = 0.1
"""The share of a core that other threads may have had since the last answer, and count as idle."""
APART = 5e-6
"""Seconds by which two clocks may seem apart, since they are read one behind the other."""


class Listening:
    """What a server says on one socket. Threads: one at a time.

    A program that waits awake uses its core, for up to `awake.ANSWER` a call. It does not while
    others of its threads work, since they would have to wait for the interpreter; nor on a single
    core, nor with TLS, whose bytes are not those of the socket.
    """

    def __init__(self, made: socket.socket) -> None:
        self._socket = made
        self._look: Callable[[int], list[Any]] | None = None
        if type(made) is socket.socket and hasattr(select, "poll") and awake.is_worth_it():
            poll = select.poll()
            poll.register(made, select.POLLIN)
            self._look = poll.poll
        self._is_quick = False
        self._beside = self._at = 0.0

    def receive(self, room: memoryview) -> int:
        """Return how many bytes came, which are in ``room``; 0 where the other end hung up.

        Waits as long as the socket does. Raises what the socket raises.
        """
        look = self._look
        if look is None:
            return self._socket.recv_into(room)
        started = time.perf_counter()
        if self._is_alone(started) and self._is_quick:
            end = started + awake.ANSWER
            while not look(0) and time.perf_counter() < end:
                awake.look_away()
        count = self._socket.recv_into(room)
        self._is_quick = time.perf_counter() - started < awake.ANSWER
        return count

    def _is_alone(self, now: float) -> bool:
        """Return whether this thread is all that worked of its program since this was asked."""
        before, since = self._beside, self._at
        self._beside, self._at = time.process_time() - time.thread_time(), now
        return abs(self._beside - before) < BESIDE * (now - since) + APART

"""How does a call wait for its answer? Awake, if such answers came quickly lately, or asleep."""

import select
import socket
import time
from collections.abc import Callable
from typing import Any

from recollex.wire import idle_spin

NAP = 0.5
"""The share of the usual time in which no answer is looked for: cores often share more than they
say, and a core that looks for an answer takes from the one that makes it."""
OVERSLEEPS = 6e-5
"""Seconds by which a nap may take longer than it was meant to."""
SLOWER = 0.1
"""The weight of an answer that took longer than usual; a quicker one says what is usual."""
BESIDE = 0.1
"""The share of a core that other threads may have had since the last answer, and count as idle."""
APART = 5e-6
"""Seconds by which two clocks may seem apart, since they are read one behind the other."""


class SpinWait:
    """What a server says on one socket. Threads: one at a time.

    A program that spins uses its core for about half of the time, up to
    `idle_spin.ANSWER_SECONDS` a call. It does not spin while its other threads work, since they
    would wait for the interpreter; nor on a single core, nor with TLS, whose bytes are not those
    of the socket.
    """

    def __init__(self, made: socket.socket) -> None:
        self._socket = made
        self._look: Callable[[int], list[Any]] | None = None
        if type(made) is socket.socket and hasattr(select, "poll") and idle_spin.is_useful():
            poll = select.poll()
            poll.register(made, select.POLLIN)
            self._look = poll.poll
        self._usual: dict[str, float] = {}
        self._beside = self._at = 0.0

    def receive(self, room: memoryview, method: str) -> int:
        """Return how many bytes came, which are in ``room``; 0 where the other end hung up.

        method: answers to one of them take about as long as each other. Waits as long as the socket
        does. Raises what the socket raises.
        """
        look = self._look
        if look is None:
            return self._socket.recv_into(room)
        started = time.perf_counter()
        usual = self._usual.get(method, idle_spin.ANSWER_SECONDS)
        if self._is_alone(started) and usual < idle_spin.ANSWER_SECONDS:
            if (nap := NAP * usual - OVERSLEEPS) > 0:
                time.sleep(nap)
            while not look(0) and time.perf_counter() - started < idle_spin.ANSWER_SECONDS:
                idle_spin.yield_core()
        count = self._socket.recv_into(room)
        took = time.perf_counter() - started
        if usual < took < idle_spin.ANSWER_SECONDS:
            took = usual + SLOWER * (took - usual)
        self._usual[method] = took
        return count

    def _is_alone(self, now: float) -> bool:
        """Return whether this thread is all that worked of its program since this was asked."""
        before, since = self._beside, self._at
        self._beside, self._at = time.process_time() - time.thread_time(), now
        return abs(self._beside - before) < BESIDE * (now - since) + APART

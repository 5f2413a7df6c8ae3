"""How does a call wait for its answer? It spins if such answers were quick lately, or sleeps."""

import select
import socket
import time
from collections.abc import Callable
from typing import Any

from recollex.wire import idle_spin

SLEEP_SHARE = 0.5
"""The share of the usual time for which a call sleeps before it polls: cores often share more than
they report, and a core that polls slows the one that works on the answer."""
OVERSLEEP = 6e-5
"""Seconds by which a sleep may be longer than asked for."""
SLOWER_WEIGHT = 0.1
"""The weight of an answer slower than usual; a quicker answer sets the usual time."""
BESIDE_SHARE = 0.1
"""Other threads count as idle if they used less than this share of a core since the last answer."""
CLOCK_SKEW = 5e-6
"""Seconds by which two clocks may differ, since they are read one after the other."""


class SpinWait:
    """Receives from one socket. Threads: one at a time.

    A program that spins uses its core for about half of the time, up to
    `idle_spin.ANSWER_SECONDS` a call. It does not spin while its other threads work, since they
    would wait for the interpreter; nor on a single core, nor with TLS, whose bytes are not those
    of the socket.
    """

    def __init__(self, made: socket.socket) -> None:
        self._socket = made
        self._poll: Callable[[int], list[Any]] | None = None
        if type(made) is socket.socket and hasattr(select, "poll") and idle_spin.is_useful():
            poll = select.poll()
            poll.register(made, select.POLLIN)
            self._poll = poll.poll
        self._usual: dict[str, float] = {}
        self._beside = self._at = 0.0

    def receive(self, buffer: memoryview, method: str) -> int:
        """Return the number of bytes received into ``room``; 0 if the other end closed.

        method: of the call; its answers take about the same time. Waits as long as the socket's
        timeout. Raises the errors of the socket.
        """
        poll_once = self._poll
        if poll_once is None:
            return self._socket.recv_into(buffer)
        started = time.perf_counter()
        usual = self._usual.get(method, idle_spin.ANSWER_SECONDS)
        if self._is_alone(started) and usual < idle_spin.ANSWER_SECONDS:
            if (sleep := SLEEP_SHARE * usual - OVERSLEEP) > 0:
                time.sleep(sleep)
            while not poll_once(0) and time.perf_counter() - started < idle_spin.ANSWER_SECONDS:
                idle_spin.yield_core()
        count = self._socket.recv_into(buffer)
        took = time.perf_counter() - started
        if usual < took < idle_spin.ANSWER_SECONDS:
            took = usual + SLOWER_WEIGHT * (took - usual)
        self._usual[method] = took
        return count

    def _is_alone(self, now: float) -> bool:
        """Return whether only this thread of its process worked since the last call of this."""
        before, since = self._beside, self._at
        self._beside, self._at = time.process_time() - time.thread_time(), now
        return abs(self._beside - before) < BESIDE_SHARE * (now - since) + CLOCK_SKEW

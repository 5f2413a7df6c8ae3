"""Keeps the event loop awake for a moment after an answer, for a client that is alone."""

import asyncio
import time
from collections.abc import Callable

from recollex.wire import idle_spin


class IdleSpin:
    """Polls the sockets for a moment instead of sleeping. Threads: the event loop's.

    meanwhile: called once after each answer, while the client reads it. Cost: up to
    `recollex.wire.idle_spin.QUESTION_SECONDS` of a core after each answer that starts it.
    """

    def __init__(self, meanwhile: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._may = idle_spin.is_useful()
        self._meanwhile = meanwhile
        self._is_awake = False
        self._is_fresh = False
        self._until = 0.0

    def start(self) -> None:
        """Poll for a while from now on."""
        self._until = time.perf_counter() + idle_spin.QUESTION_SECONDS
        self._is_fresh = True
        if self._may and not self._is_awake:
            self._is_awake = True
            self._loop.call_soon(self._look)

    def _look(self) -> None:
        """Have the loop poll its sockets and come back without sleeping."""
        if self._is_fresh:
            self._is_fresh = False
            self._meanwhile()
        if time.perf_counter() < self._until:
            idle_spin.yield_core()
            self._loop.call_soon(self._look)
        else:
            self._is_awake = False

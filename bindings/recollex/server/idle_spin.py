"""Does the event loop sleep between two questions? Not at once, for a client that is alone."""

import asyncio
import time
from collections.abc import Callable

from recollex.wire import awake


class IdleSpin:
    """Keeps the event loop awake for a moment. Threads: the event loop's.

    meanwhile: done once behind each answer, while the client reads it. Cost: up to `awake.QUESTION`
    of a core behind every answer after which it is begun.
    """

    def __init__(self, meanwhile: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._may = awake.is_worth_it()
        self._meanwhile = meanwhile
        self._is_awake = False
        self._is_fresh = False
        self._until = 0.0

    def start(self) -> None:
        """Look for what comes, for a while from now on."""
        self._until = time.perf_counter() + awake.QUESTION
        self._is_fresh = True
        if self._may and not self._is_awake:
            self._is_awake = True
            self._loop.call_soon(self._look)

    def _look(self) -> None:
        """Have the loop look at its sockets and come back, which it does without sleeping."""
        if self._is_fresh:
            self._is_fresh = False
            self._meanwhile()
        if time.perf_counter() < self._until:
            awake.look_away()
            self._loop.call_soon(self._look)
        else:
            self._is_awake = False

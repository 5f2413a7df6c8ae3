"""Does the event loop sleep between two questions? Not at once, for a client that is alone."""

import asyncio
import time

from recollex.wire import awake


class Lingering:
    """Keeps the event loop awake for a moment. Threads: the event loop's.

    Cost: up to `awake.QUESTION` of a core, once behind every answer after which it is begun.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._may = awake.is_worth_it()
        self._is_awake = False
        self._until = 0.0

    def begin(self) -> None:
        """Look for what comes, for a while from now on."""
        self._until = time.perf_counter() + awake.QUESTION
        if self._may and not self._is_awake:
            self._is_awake = True
            self._loop.call_soon(self._look)

    def _look(self) -> None:
        """Have the loop look at its sockets and come back, which it does without sleeping."""
        if time.perf_counter() < self._until:
            awake.look_away()
            self._loop.call_soon(self._look)
        else:
            self._is_awake = False

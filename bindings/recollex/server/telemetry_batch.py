"""When is the observer told of what was done at once? Soon, and of several calls together.

Who asks one question after another waits for all that the server does between two of them. What it
takes note of is not for the client, so it is done while the client reads an answer (`IdleSpin`),
where nothing waits, or a few dozen at a time.
"""

import asyncio
from collections.abc import Callable

from recollex.server.calls import Call

WITHIN = 0.02
"""Seconds after which a call is noted."""
TOGETHER = 32
"""Calls that are noted before another is taken."""


class TelemetryBatch:
    """Calls that were answered, and are yet to be noted. Threads: the event loop's."""

    def __init__(self, record: Callable[[Call], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._record = record
        self._calls: list[Call] = []

    def add(self, call: Call) -> None:
        """Note a call, soon."""
        self._calls.append(call)
        if len(self._calls) == 1:
            self._loop.call_later(WITHIN, self.flush)
        elif len(self._calls) == TOGETHER:
            self.flush()

    def flush(self) -> None:
        """Note what was not noted."""
        calls, self._calls = self._calls, []
        for call in calls:
            self._record(call)

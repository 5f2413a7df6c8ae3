"""Batches the telemetry of calls that were done inline, so that clients do not wait for it.

A client that asks one question after another waits for all work of the server between two of them.
Telemetry is not for the client. So it is recorded while the client reads an answer (`IdleSpin`), or
for a few dozen calls at a time.
"""

import asyncio
from collections.abc import Callable

from recollex.server.calls import Call

WITHIN = 0.02
"""The most seconds before a call is recorded."""
TOGETHER = 32
"""The number of calls that are recorded before the next call is taken."""


class TelemetryBatch:
    """Answered calls that are not recorded yet. Threads: the event loop's."""

    def __init__(self, record: Callable[[Call], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._record = record
        self._calls: list[Call] = []

    def add(self, call: Call) -> None:
        """Record a call, soon."""
        self._calls.append(call)
        if len(self._calls) == 1:
            self._loop.call_later(WITHIN, self.flush)
        elif len(self._calls) == TOGETHER:
            self.flush()

    def flush(self) -> None:
        """Record all calls that are not recorded yet."""
        calls, self._calls = self._calls, []
        for call in calls:
            self._record(call)

"""The server's log: one JSON object a line, without the text of memories."""

import sys
import threading
import traceback
from collections.abc import Mapping, Sized
from datetime import UTC, datetime
from typing import Any, TextIO

import orjson

from recollex_engine.errors import InputError

LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}
LONGEST = 2000
"""The most characters of one field; a longer one is cut, and the cut is marked."""
MAX_FIELDS = 50
"""The most fields of one object."""


class Log:
    """A server's log.

    A line has `time` (UTC, ISO 8601), `level`, `event` and the event's own fields. The values that
    clients send (texts, questions, metadata) and the messages of errors, which may quote them, are
    logged by type and size only, unless ``texts`` is true. Agents' names are logged. slow: a
    request that takes at least this many seconds is logged with its arguments.

    Threads: any. Each line is one write. A log that can no longer be written stops writing.

    >>> import io
    >>> stream = io.StringIO()
    >>> Log(stream, slow=0).answered("recall", "alice", "unix", 0.2, {"query": "What is my PIN?"})
    >>> orjson.loads(stream.getvalue())["arguments"]
    {'query': 'str of 15'}
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        level: str = "info",
        texts: bool = False,
        slow: float = 1.0,
    ) -> None:
        if level not in LEVELS:
            raise InputError(f"level must be one of {', '.join(LEVELS)}, got {level!r}")
        self._stream = sys.stderr if stream is None else stream
        self._least = LEVELS[level]
        self._lock = threading.Lock()
        self.texts = texts
        self.slow = slow

    def event(self, event: str, level: str = "info", /, **fields: Any) -> None:
        """Write a line, if ``level`` is at least the log's. Fields must hold nothing private."""
        if LEVELS[level] < self._least:
            return
        head = {"time": datetime.now(UTC).isoformat(), "level": level, "event": event}
        line = orjson.dumps(head | {name: _cut(value) for name, value in fields.items()})
        with self._lock:
            try:
                self._stream.write(line.decode() + "\n")
                self._stream.flush()
            except (OSError, ValueError):  # closed or full; the server answers on
                self._least = max(LEVELS.values()) + 1

    def answered(
        self,
        method: str,
        agent: str | None,
        client: str,
        seconds: float,
        arguments: Mapping[str, Any] | None = None,
        error: BaseException | None = None,
    ) -> None:
        """Log a request that was answered: a slow one as a warning, others for debug."""
        if seconds < self.slow and self._least > LEVELS["debug"]:
            return
        fields: dict[str, Any] = {
            "method": method,
            "agent": agent,
            "client": client,
            "milliseconds": round(seconds * 1e3, 3),
        }
        if error is not None:
            fields["error"] = type(error).__name__
        if seconds >= self.slow:
            given = {name: self._shown(value) for name, value in (arguments or {}).items()}
            self.event("slow", "warning", **fields, arguments=given)
        else:
            self.event("answered", "debug", **fields)

    def exhausted(self, address: str, connections: int, dropped: int) -> None:
        """Log that connections were dropped; see `Observer.exhausted`."""
        fields = {"address": address, "connections": connections, "dropped": dropped}
        self.event("connections exhausted", "warning", **fields)

    def bug(self, error: BaseException, **fields: Any) -> None:
        """Log an unexpected error, with its traceback."""
        trace = "".join(traceback.format_tb(error.__traceback__))
        kind = type(error).__name__
        message = self._shown(str(error))
        self.event("bug", "error", **fields, error=kind, message=message, traceback=trace)

    def _shown(self, value: Any) -> Any:
        """Return what may be logged of a client's value."""
        if self.texts or value is None or isinstance(value, bool | int | float | datetime):
            return value
        kind = type(value).__name__
        return f"{kind} of {len(value)}" if isinstance(value, Sized) else kind


def _cut(value: Any) -> Any:
    """Return a value that JSON can hold, with bounded texts and fields."""
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else str(value)[:LONGEST]
    if isinstance(value, Mapping):
        return {_cut(str(name)): _cut(each) for name, each in list(value.items())[:MAX_FIELDS]}
    text = str(value).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(text)} characters)"

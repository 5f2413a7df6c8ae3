"""A call on its way through the server: its arguments, its options, its times and its result."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from recollex.api.proxies import Method
from recollex.remote.server.access import Principal
from recollex_engine.errors import InputError
from recollex_engine.trace import Trace

MAX_KEY = 200
"""The most characters of an idempotency key."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a caller may set for a call, besides its arguments.

    at: ask the agent as of this recorded time. seconds: how long the caller waits. key: names a
    write, so that a repeated request gets the first answer and is not done again. traceparent: the
    caller's span, in the format of W3C Trace Context. progress: report the progress of the call to
    the requester.
    """

    at: datetime | None = None
    seconds: float | None = None
    key: str | None = None
    traceparent: str | None = None
    progress: bool = False

    def __post_init__(self) -> None:
        if self.seconds is not None and (
            isinstance(self.seconds, bool)
            or not isinstance(self.seconds, int | float)
            or not self.seconds >= 0
        ):
            raise InputError(f"a deadline must be at least 0 seconds away, got {self.seconds!r}")
        if self.key is not None and (
            not isinstance(self.key, str) or not 0 < len(self.key) <= MAX_KEY
        ):
            raise InputError(f"a key must be a str of 1 to {MAX_KEY} characters")
        if self.traceparent is not None and not (
            isinstance(self.traceparent, str) and len(self.traceparent) <= MAX_KEY
        ):
            raise InputError(f"a traceparent must be a str of up to {MAX_KEY} characters")
        if self.at is not None and not isinstance(self.at, datetime):
            raise InputError(f"at must be a moment, got {type(self.at).__name__}")

    @classmethod
    def from_message(cls, options: Mapping[str, Any]) -> "Options":
        """Return the options of a message, which `messages.read_message` has checked."""
        milliseconds = options.get("deadline_ms")
        seconds = None if milliseconds is None else milliseconds / 1000
        return cls(
            options.get("at"),
            seconds,
            options.get("key"),
            options.get("traceparent"),
            options.get("progress", False),
        )


NO_OPTIONS = Options()


class Requester(Protocol):
    """Receives the answer to a call: `deliver` is called once, then `done` once."""

    def deliver(self, call: "Call", error: BaseException | None) -> None:
        """Take the result or the error, on the worker's thread or on the event loop."""

    def progress(self, call: "Call", done: int, total: int | None) -> None:
        """Take how many items are done, on the worker's thread, if the options ask for that."""

    def urgent(self) -> bool:
        """Return whether something waits for `done`, which may come later otherwise. Any thread."""

    def done(self, call: "Call") -> None:
        """Learn, on the event loop, that the call is answered and settled."""


class Call:
    """One call.

    client: what the queues take turns by, such as one connection. convert: turns the result into
    what the caller wants (bytes), on the worker's thread. requester: receives the answer. tag: the
    requester's own id of the call. settled: whether the service has finished with the call.
    suspect: whether a process ended while it did this call. Times are those of
    `time.perf_counter`; 0 for a step that was not reached.
    """

    __slots__ = (
        "_claimed",
        "agent",
        "answered_at",
        "arguments",
        "begun_at",
        "client",
        "convert",
        "deadline",
        "entered_at",
        "error",
        "method",
        "options",
        "principal",
        "requester",
        "result",
        "settled",
        "suspect",
        "tag",
        "timer",
    )

    def __init__(
        self,
        principal: Principal,
        method: Method[..., Any],
        agent: str,
        arguments: Mapping[str, Any],
        options: Options,
        client: object,
        requester: Requester,
        convert: Callable[[Any], Any] | None,
        tag: int,
    ) -> None:
        self.principal: Principal = principal
        self.method: Method[..., Any] = method
        self.agent: str = agent
        self.arguments: Mapping[str, Any] = arguments
        self.options: Options = options
        self.client: object = client
        self.convert: Callable[[Any], Any] | None = convert
        self.requester: Requester = requester
        self.tag: int = tag
        self._claimed = threading.Lock()
        self.entered_at: float = time.perf_counter()
        self.begun_at: float = 0.0
        self.answered_at: float = 0.0
        self.deadline: float = 0.0
        self.result: Any = None
        self.error: BaseException | None = None
        self.settled: bool = False
        self.suspect: bool = False
        self.timer: Any = None

    @property
    def over(self) -> bool:
        """Whether it is answered."""
        return self._claimed.locked()

    def claim(self) -> bool:
        """Return True to the first caller only, which must then answer the call."""
        return self._claimed.acquire(blocking=False)

    @property
    def begun(self) -> bool:
        """Whether a worker has taken it."""
        return self.begun_at > 0


# The interface through which a server reports what it does, for metrics, logs and spans.
class Observer:
    """Receives the events of a server and ignores them; override the methods that you need.

    Threads: `worked`, `grouped` and `opened` are called on any thread, the others on the event
    loop. A method must be quick and must not raise.
    """

    def metrics_text(self) -> str:
        """Return the metrics in Prometheus' text format; every client may read them."""
        return ""

    def answered(self, call: Call, error: BaseException | None) -> None:
        """Learn that a call was answered; the call holds its own times."""

    def worked(self, call: Call, trace: Trace | None) -> None:
        """Learn that a worker has done a call; the trace is a recall's."""

    def grouped(self, agent: str, calls: int, seconds: float) -> None:
        """Learn that writes of one agent were flushed together; seconds: of the flush."""

    def opened(self, agent: str, open_agents: int) -> None:
        """Learn that an agent was opened, and how many are open."""

    def closed(self, agent: str, open_agents: int) -> None:
        """Learn that an unused agent was closed to make room for others."""

    def connected(self, client: str, connections: int) -> None:
        """Learn that a client has connected."""

    def disconnected(self, client: str, connections: int, why: str) -> None:
        """Learn that a connection has ended, and why."""

    def exhausted(self, address: str, connections: int, dropped: int) -> None:
        """Learn that connections were dropped because there are too many; at most once a minute.

        address: of the last one. dropped: how many since this was told before.
        """

    def failed(self, call: Call | None, error: BaseException) -> None:
        """Learn of an unexpected error; the caller is only told that the log has it."""

"""What is one call on its way through a server?"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from recollex.api.proxies import Method
from recollex.server.access import Principal
from recollex_engine.errors import InputError
from recollex_engine.trace import Trace

MAX_KEY = 200
"""Characters of an idempotency key."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a caller may say of a call beside its arguments.

    at: ask the agent as of this recorded time. seconds: after which the caller waits no longer.
    key: names a write, so that the same one sent again is answered and not done again.
    traceparent: the caller's span, as W3C Trace Context writes it. progress: tell the requester how
    far the call is.
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
        """Return what the options of a message say of the call; `messages.read_message` checks."""
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
    """Whoever made a call. A call is delivered once, then done once."""

    def deliver(self, call: "Call", error: BaseException | None) -> None:
        """Take the result, or the error, on the thread that worked or on the event loop."""

    def progress(self, call: "Call", done: int, total: int | None) -> None:
        """Take note of how many items are done, where the call's options ask; on the worker's."""

    def urgent(self) -> bool:
        """Return whether something waits for `done`; it comes later otherwise. Any thread."""

    def done(self, call: "Call") -> None:
        """Take note, on the event loop, that a call was answered."""


class Call:
    """One call: what is asked, by whom, how far it is, and who waits for the answer.

    client: whose turn it is in the queues, such as one connection. convert: makes of the result
    what the caller wants of it (bytes), in the thread that worked. requester: is given the answer.
    tag: what the requester calls it. left: whether the service has done with it. suspect: whether a
    process ended while it did it. trace, seconds: of a recall, what it says of itself and how long
    it took.
    Times are of `time.perf_counter`; 0 where it did not come so far.
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
        "left",
        "method",
        "options",
        "principal",
        "requester",
        "result",
        "seconds",
        "suspect",
        "tag",
        "timer",
        "trace",
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
        self.principal = principal
        self.method = method
        self.agent = agent
        self.arguments = arguments
        self.options = options
        self.client = client
        self.convert = convert
        self.requester = requester
        self.tag = tag
        self._claimed = threading.Lock()
        self.entered_at = time.perf_counter()
        self.begun_at = 0.0
        self.answered_at = 0.0
        self.deadline = 0.0
        self.result: Any = None
        self.error: BaseException | None = None
        self.left = False
        self.suspect = False
        self.timer: Any = None
        self.trace: Trace | None = None
        self.seconds = 0.0

    @property
    def over(self) -> bool:
        """Whether it was answered."""
        return self._claimed.locked()

    def claim(self) -> bool:
        """Return whether it is yet to be answered, and whoever asks is to do it."""
        return self._claimed.acquire(blocking=False)

    @property
    def begun(self) -> bool:
        """Whether a worker has taken it."""
        return self.begun_at > 0

"""What is one call on its way through a server?"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollex.server.access import Principal
from recollex.wire.methods import Method
from recollex_engine.errors import InputError

MAX_KEY = 200
"""Characters of an idempotency key."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a caller may say of a call beside its arguments.

    at: ask the agent as of this recorded time. seconds: after which the caller waits no longer.
    key: names a write, so that the same one sent again is answered and not done again.
    """

    at: datetime | None = None
    seconds: float | None = None
    key: str | None = None

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
        if self.at is not None and not isinstance(self.at, datetime):
            raise InputError(f"at must be a moment, got {type(self.at).__name__}")


NO_OPTIONS = Options()


class Call:
    """One call: what is asked, by whom, how far it is, and who waits for the answer.

    client: whose turn it is in the queues, such as one connection. form: makes of the result what
    the caller wants of it (bytes), in the thread that worked. done: told the result or the error,
    on the event loop, once. Times are of `time.perf_counter`; 0 where it did not come so far.
    """

    __slots__ = (
        "agent",
        "answered_at",
        "arguments",
        "begun_at",
        "client",
        "deadline",
        "done",
        "entered_at",
        "error",
        "form",
        "method",
        "options",
        "over",
        "principal",
        "result",
        "timer",
    )

    def __init__(
        self,
        principal: Principal,
        method: Method,
        agent: str,
        arguments: Mapping[str, Any],
        options: Options,
        client: object,
        form: Callable[[Any], Any] | None,
        done: Callable[["Call"], None],
    ) -> None:
        self.principal = principal
        self.method = method
        self.agent = agent
        self.arguments = arguments
        self.options = options
        self.client = client
        self.form = form
        self.done = done
        self.entered_at = time.perf_counter()
        self.begun_at = 0.0
        self.answered_at = 0.0
        self.deadline = 0.0
        self.result: Any = None
        self.error: BaseException | None = None
        self.over = False
        self.timer: Any = None

    @property
    def begun(self) -> bool:
        """Whether a worker has taken it."""
        return self.begun_at > 0

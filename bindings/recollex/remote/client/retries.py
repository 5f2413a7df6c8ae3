"""When may a call be sent again, and after which pause?"""

import random
import time

from recollex.remote.client.channel import LostError
from recollex_engine.errors import DisconnectedError, OverloadedError, RecollexError

FIRST_PAUSE = 0.01
"""Seconds before the first reconnection; each later pause is twice as long."""
LONGEST_PAUSE = 1.0


class Retries:
    """The retries of one call.

    idempotent: whether the call may be executed twice, as reads may, and writes whose ids the
    client made. Any other write is sent again only to the server process that got it before, which
    knows by the call's key whether it has executed it; a server that was restarted does not know.
    deadline: of the whole call. patience: seconds without a server after which a call fails.

    A call that an overloaded server refuses is sent again after the pause that the server names,
    until its deadline or, without one, until ``patience`` is over.
    """

    def __init__(
        self, method: str, idempotent: bool, deadline: float | None, patience: float
    ) -> None:
        self._method = method
        self._idempotent = idempotent
        self._deadline = deadline
        self._patience = patience
        self._pause = FIRST_PAUSE
        self._sent_to: str | None = None
        self._first_failure: float | None = None

    def check(self, instance: str) -> None:
        """Raise `errors.DisconnectedError` if the call must not be sent to this server."""
        if self._sent_to is not None and not self._idempotent and instance != self._sent_to:
            raise DisconnectedError(
                f"the server was started anew while {self._method} was under way, and cannot know "
                "whether it had done it: look, and call again if it had not"
            )

    def after_loss(self, lost: LostError, instance: str) -> float:
        """Return the seconds to wait before the next attempt, after the connection broke."""
        doubt = ""
        if lost.sent:
            self._sent_to = instance
            doubt = "" if self._idempotent else f"; {self._method} may have been done"
        return self._next(DisconnectedError(f"the server went away ({lost}){doubt}"))

    def after_failure(self, error: DisconnectedError | OverloadedError) -> float:
        """Return the same after no server could be reached, or the server was overloaded."""
        return self._next(error, getattr(error, "retry_after", 0.0))

    def _next(self, error: RecollexError, least: float = 0.0) -> float:
        now = time.monotonic()
        if self._first_failure is None:
            self._first_failure = now
        pause = max(least, self._pause * random.uniform(0.5, 1.0))
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
        end = self._first_failure + self._patience
        if self._deadline is not None:
            end = min(end, self._deadline)
        if now + pause > end:
            raise error
        return pause

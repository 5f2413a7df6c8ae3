"""When should a client that was refused ask again? When what waits before it is likely done."""

RETRY_AFTER = 0.25
"""Seconds after which an overloaded server should be asked again, at least."""


class Backpressure:
    """What a call took lately, as an average in which new ones weigh a twentieth.

    at_once: calls that are done at the same time. Threads: the event loop's.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._seconds_each = 0.001

    def observe(self, seconds: float) -> None:
        """Take note of one call."""
        self._seconds_each += 0.05 * (seconds / self._at_once - self._seconds_each)

    def retry_after(self, waiting: int) -> float:
        """Return the seconds that ``waiting`` calls are likely to take."""
        return max(RETRY_AFTER, waiting * self._seconds_each)

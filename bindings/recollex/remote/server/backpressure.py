"""When should a refused client try again? When the calls that wait are probably done."""

RETRY_AFTER = 0.25
"""The shortest time, in seconds, after which to ask an overloaded server again."""


class Backpressure:
    """An exponential average of the seconds of a call; a new call weighs a twentieth.

    at_once: how many calls run at the same time. Threads: the event loop's.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._seconds_each = 0.001

    def observe(self, seconds: float) -> None:
        """Add the time of one call."""
        self._seconds_each += 0.05 * (seconds / self._at_once - self._seconds_each)

    def retry_after(self, waiting: int) -> float:
        """Return the seconds that ``waiting`` calls will probably take."""
        return max(RETRY_AFTER, waiting * self._seconds_each)

"""What a long run says: now and then how far it is, and in one line at the end what it found."""

import time
from collections.abc import Callable

EVERY = 20.0
"""Seconds from one line to the next."""


class Progress:
    """Counts what was done of ``total``, and tells how long the rest takes.

    >>> progress = Progress("states", 60_000, tell=print)
    >>> progress.add(failed=1)
    >>> progress.end()
    1 states in 0 min, 1 failed
    """

    def __init__(self, what: str, total: int, tell: Callable[[str], None] | None = None) -> None:
        self.what, self.total = what, total
        self.done = self.failed = 0
        self._tell = tell or _print
        self._began = self._told = time.monotonic()

    def add(self, done: int = 1, *, failed: int = 0) -> None:
        """Count what was done, and say so from time to time."""
        self.done += done
        self.failed += failed
        now = time.monotonic()
        if now - self._told < EVERY:
            return
        self._told = now
        left = max(self.total - self.done, 0) * (now - self._began) / max(self.done, 1)
        self._tell(
            f"{self.done:,} of {self.total:,} {self.what}, {self.failed:,} failed, "
            f"{left / 60:.0f} min left"
        )

    def end(self, more: str = "") -> None:
        """Say what was done, in one line."""
        minutes = (time.monotonic() - self._began) / 60
        self._tell(f"{self.done:,} {self.what} in {minutes:.0f} min{more}, {self.failed:,} failed")


def _print(line: str) -> None:
    print(line, flush=True)

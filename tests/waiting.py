"""Waiting for a condition, and not for a time, which is never right for every machine."""

import time
from collections.abc import Callable

PATIENCE = 60.0
"""Seconds after which a test gives up: far more than a loaded machine takes for anything here."""


def until(condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Return as soon as a condition holds; fail if it does not within ``seconds``."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.005)

"""A terminal's progress bar for a long call to a server, as embedded work has it."""

import sys
from collections.abc import Iterator, Mapping, Sized
from contextlib import contextmanager
from typing import Any

from recollex.api.progress import LONG, ProgressListener, progress_bar

_COUNTED = {"retain_many": "texts", "retain_dialogue": "turns"}
"""Method -> the argument whose items its progress counts."""
LABELS = {
    "retain_many": "retaining",
    "retain_dialogue": "retaining",
    "verify": "verifying",
}
"""Method that may take long -> the label of its bar."""


def is_shown(method: str, named: Mapping[str, Any]) -> bool:
    """Return whether a call is long enough for a bar, and stderr is a terminal."""
    if method not in LABELS or not sys.stderr.isatty():
        return False
    return method not in _COUNTED or (_count(method, named) or 0) >= LONG


@contextmanager
def call_progress(method: str, named: Mapping[str, Any]) -> Iterator[ProgressListener | None]:
    """Yield the callback that moves the bar of a call; None if no bar is shown."""
    with progress_bar(_count(method, named), LABELS[method]) as update:
        if update is None:
            yield None
            return
        move = update
        before = 0

        def progress(done: int, total: int | None) -> None:
            nonlocal before
            move(done - before)
            before = done

        yield progress


def _count(method: str, named: Mapping[str, Any]) -> int | None:
    given = named.get(_COUNTED.get(method, ""))
    return len(given) if isinstance(given, Sized) and not isinstance(given, str) else None

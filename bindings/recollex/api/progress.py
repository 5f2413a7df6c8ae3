"""Progress of long work: a bar on a terminal, or a callback in its place."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

ProgressListener = Callable[[int, int | None], None]
"""Called with the number of items that are done, and with that of all (None if unknown)."""

LONG = 200
"""Work on fewer items than this shows no bar."""


PAUSE = 0.1
"""Seconds between two calls of a listener, at least."""
_listener: ContextVar[ProgressListener | None] = ContextVar("listener", default=None)


@contextmanager
def reporting_to(listener: ProgressListener) -> Iterator[None]:
    """Report what this thread does in the body to ``listener``, not to a terminal."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def progress_bar(
    total: int | None, label: str, unit: str = "memories", delay: float = 0, drawn: bool = True
) -> Iterator[Callable[[int], None] | None]:
    """Yield a callback that takes the number of further items done; None if nothing is shown.

    total: the number of items, None if unknown. delay: seconds before the bar is drawn. drawn:
    whether there is a bar on a terminal, and not only calls of a listener.
    """
    listener = _listener.get()
    if (total is not None and total < LONG) or not (listener or (drawn and sys.stderr.isatty())):
        yield None
        return
    if listener is not None:
        yield _counting(listener, total)
        return
    from tqdm import tqdm

    with tqdm(
        total=total, desc=label, unit=f" {unit}", leave=False, file=sys.stderr, delay=delay
    ) as bar:
        yield bar.update


def opening_bar(operations: int) -> AbstractContextManager[Callable[[int], None] | None]:
    """Return the progress bar of an opening that reads ``operations`` operations of a log."""
    return progress_bar(operations, "rebuilding from the log", "operations", delay=1)


def _counting(listener: ProgressListener, total: int | None) -> Callable[[int], None]:
    """Return a callback that counts items; it calls ``listener`` at most every `PAUSE` s."""
    done = 0
    last = time.monotonic()

    def update(more: int) -> None:
        nonlocal done, last
        done += more
        if time.monotonic() - last >= PAUSE:
            last = time.monotonic()
            listener(done, total)

    return update

"""Who sees how far long work is? A terminal, by a bar, or whoever listens in its stead."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

ProgressListener = Callable[[int, int | None], None]
"""Told how many items are done, and how many there are (None where nobody knows)."""

LONG = 200
"""Items from which work is worth a bar."""


PAUSE = 0.1
"""Seconds between two times that a listener is told."""
_listener: ContextVar[ProgressListener | None] = ContextVar("listener", default=None)


@contextmanager
def reporting_to(told: ProgressListener) -> Iterator[None]:
    """Tell ``told``, in place of a terminal, how far work is that this thread does in the body."""
    token = _listener.set(told)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def progress_bar(
    total: int | None, label: str, unit: str = "memories", delay: float = 0
) -> Iterator[Callable[[int], None] | None]:
    """Give a function that is told how many more items are done; None where nobody watches.

    A bar is drawn from ``delay`` seconds on.
    """
    told = _listener.get()
    if (total is not None and total < LONG) or not (told or sys.stderr.isatty()):
        yield None
        return
    if told is not None:
        yield _counting(told, total)
        return
    from tqdm import tqdm

    with tqdm(
        total=total, desc=label, unit=f" {unit}", leave=False, file=sys.stderr, delay=delay
    ) as bar:
        yield bar.update


def say_that_kernels_are_compiled() -> None:
    """Say on a terminal why the first recall takes so long."""
    if sys.stderr.isatty():
        print(
            "recollex: compiling its kernels, half a minute, once for this version and processor",
            file=sys.stderr,
        )


def opening_bar(operations: int) -> AbstractContextManager[Callable[[int], None] | None]:
    """Give what is told of an opening that reads ``operations`` of a log."""
    return progress_bar(operations, "rebuilding from the log", "operations", delay=1)


def _counting(told: ProgressListener, total: int | None) -> Callable[[int], None]:
    """Return what counts items, and tells of them at most once in `PAUSE` seconds."""
    done, last = 0, time.monotonic()

    def update(more: int) -> None:
        nonlocal done, last
        done += more
        if time.monotonic() - last >= PAUSE:
            last = time.monotonic()
            told(done, total)

    return update

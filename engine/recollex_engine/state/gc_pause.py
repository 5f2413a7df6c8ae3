"""Pausing Python's cyclic garbage collector while a batch is recorded or read.

A batch makes tens of containers a memory. None of them is part of a cycle, and all are freed once
the batch is in the columns. The collector would scan them again and again, and sometimes the whole
process: measured, a tenth to a quarter of the time of a batch of 1,000.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from recollex_engine import fork


class _Pauses:
    """The bodies that run now, and whether the collector runs again after the last one."""

    def __init__(self) -> None:
        self.lock = fork.lock()
        self.bodies: set[object] = set()
        self.disabled = False  # by us; it stays True if a KeyboardInterrupt stops `end`
        fork.register(self)

    def end(self) -> None:
        if not self.bodies and self.disabled:
            gc.enable()
            self.disabled = False

    def after_fork(self) -> None:
        """End the bodies: a child has no other threads, and does not return into this one's."""
        self.bodies.clear()
        self.end()


_pauses = _Pauses()


@contextmanager
def gc_paused(when: bool) -> Iterator[None]:
    """Pause the collector during the body, if ``when``; the body should take milliseconds.

    Bodies may overlap, in any threads. The last one to end starts the collector again, if it was
    running before the first.
    """
    if not when:
        yield
        return
    body = object()
    try:
        with _pauses.lock:
            if gc.isenabled():
                _pauses.disabled = True
                gc.disable()
            _pauses.bodies.add(body)
        yield
    finally:
        _pauses.bodies.discard(body)
        with _pauses.lock:
            _pauses.end()

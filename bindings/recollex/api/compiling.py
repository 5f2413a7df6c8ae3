"""Say that kernels are compiled: what it takes, how to do it ahead, and that it goes on."""

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from recollex_engine.waiting import waiting

LONG = 1.0
"""Seconds of compiling that nothing is said about."""
MESSAGE = (
    "compiling kernels, about a minute of CPU, once for this version and processor; "
    "`recollex warmup` does it ahead"
)


class Announcement:
    """Says once that kernels are compiled, when that has taken `LONG` seconds; see `MESSAGE`.

    On a terminal it is a line on standard error, and another tells while they are compiled how
    long that has taken; elsewhere it is a warning of the logger "recollex". `started` and `ended`
    nest, as a kernel's compilation compiles the kernels that it calls.
    """

    def __init__(self) -> None:
        self.quiet: bool = False
        self._said = False
        self._depth = 0
        self._since = 0.0
        self._spent = 0.0
        self._shown = ExitStack()

    def started(self) -> None:
        """Note that a kernel is about to be compiled."""
        if self._depth == 0:
            self._since = time.monotonic()
            if not self.quiet:
                self._shown.enter_context(waiting(lambda: "compiling kernels"))
        self._depth += 1
        self._say_if_long()

    def ended(self) -> None:
        """Note that a kernel was compiled."""
        self._say_if_long()
        self._depth -= 1
        if self._depth == 0:
            self._spent += time.monotonic() - self._since
            self._shown.close()

    def _say_if_long(self) -> None:
        spent = self._spent + time.monotonic() - self._since
        if self._said or self.quiet or spent < LONG:
            return
        self._said = True
        if sys.stderr.isatty():
            print(f"\rrecollex: {MESSAGE}\x1b[K", file=sys.stderr)
        else:
            logging.getLogger("recollex").warning("%s", MESSAGE)


ANNOUNCEMENT = Announcement()
"""That of this process."""


@contextmanager
def unannounced() -> Iterator[None]:
    """Say nothing about what is compiled in the body, whose caller shows it."""
    before = ANNOUNCEMENT.quiet
    ANNOUNCEMENT.quiet = True
    try:
        yield
    finally:
        ANNOUNCEMENT.quiet = before

"""A line on standard error while something takes long: what it is, and for how long already."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

DRAWN = 1.0
"""Seconds between two drawings of the line on a terminal, and before the first."""
WRITTEN = 5.0
"""Seconds between two lines where standard error is no terminal."""


@contextmanager
def waiting(text: Callable[[], str], redirected: bool = False) -> Iterator[None]:
    """Show ``text()`` and the seconds so far on standard error while the body runs.

    On a terminal one line is drawn again and again, and removed at the end. Where standard error is
    redirected, nothing is written; or with ``redirected`` a line every `WRITTEN` seconds.
    """
    terminal = sys.stderr.isatty()
    if not (terminal or redirected):
        yield
        return
    ended = threading.Event()
    started = time.monotonic()
    drawn = False

    def show() -> None:
        nonlocal drawn
        while not ended.wait(DRAWN if terminal else WRITTEN):
            line = f"recollex: {text()}, {time.monotonic() - started:.0f} s"
            sys.stderr.write(f"\r{line}\x1b[K" if terminal else f"{line}\n")
            sys.stderr.flush()
            drawn = True

    thread = threading.Thread(target=show, name="recollex-waiting", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        if drawn and terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

"""When may the cyclic garbage collector stay out of the way? While a batch is recorded, or read.

A batch makes tens of containers a memory, none of them in a cycle and all gone when it is in the
columns. The collector would look through them, and now and then through the whole process, again
and again: measured, a tenth to a quarter of the time of a batch of 1,000.
"""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_pauses = 0
_was_enabled = False


@contextmanager
def gc_paused(when: bool) -> Iterator[None]:
    """Pause the collector during the body, if ``when``, which should take milliseconds.

    The last of several bodies that overlap, in any threads, starts it again, if it was running
    before the first.
    """
    if not when:
        yield
        return
    global _pauses, _was_enabled
    with _lock:
        if _pauses == 0:
            _was_enabled = gc.isenabled()
            gc.disable()
        _pauses += 1
    try:
        yield
    finally:
        with _lock:
            _pauses -= 1
            if _pauses == 0 and _was_enabled:
                gc.enable()

"""Count what recalls return: noted on the hot path, written to the file once a second beside it."""

import threading
import warnings
from collections import deque

import numpy as np
import numpy.typing as npt

from recollex_engine import fork
from recollex_engine.clock import Clock
from recollex_engine.errors import RecollexError
from recollex_engine.state.access_journal import AccessJournal, entries

EVERY = 1.0
"""Seconds between two writings: what a crash may lose."""
IDLE = 60
"""Writings with nothing to write after which the thread ends."""

Noted = tuple[AccessJournal, npt.NDArray[np.uint32], int]
"""The memories that one recall returned, at a time in microseconds."""


class AccessCounting:
    """The accesses that one process has noted and not yet written, of all agents of a store.

    Threads: any number may note. A thread of its own writes while there is something to write. In a
    child of `os.fork` nothing is noted and nothing of the parent's is written. is_on: whether
    anything is noted.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._noted: deque[Noted] = deque()
        self._lock = fork.lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._stopped = False
        self.is_on: bool = False
        fork.register(self)

    def after_fork(self) -> None:
        """Leave to the parent what it has noted."""
        self._noted = deque()
        self._stopped = True

    def note(self, journal: AccessJournal, memories: npt.NDArray[np.uint32]) -> None:
        """Note that a recall returned ``memories``. Cost: 1 us, no system call."""
        if not self.is_on or self._stopped or not len(memories):
            return
        self._noted.append((journal, memories, self._clock()))
        if self._thread is None:
            self._start()

    def _start(self) -> None:
        with self._lock:
            if self._thread is None and not self._stopped:
                self._thread = threading.Thread(
                    target=self._write_until_idle, name="recollex accesses", daemon=True
                )
                self._thread.start()

    def _write_until_idle(self) -> None:
        idle = 0
        while True:
            self._wake.wait(EVERY)
            idle = 0 if self._noted else idle + 1
            self.write()
            with self._lock:
                if self._stopped or (idle > IDLE and not self._noted):
                    self._thread = None
                    return

    def write(self) -> None:
        """Write what was noted so far. A file that cannot be written ends the counting."""
        with self._lock:
            noted = [self._noted.popleft() for _ in range(len(self._noted))]
            by_journal: dict[AccessJournal, list[Noted]] = {}
            for each in noted:
                by_journal.setdefault(each[0], []).append(each)
            for journal, parts in by_journal.items():
                memories = np.concatenate([memories for _, memories, _ in parts])
                last = parts[-1][2]
                try:
                    journal.append(entries(last, memories, "returned"), last)
                except (OSError, RecollexError) as error:
                    self._stopped = True
                    warnings.warn(
                        f"accesses are no longer counted: {error}", RuntimeWarning, stacklevel=2
                    )
                    return

    def close(self) -> None:
        """Write the rest, and note no more."""
        thread = self._thread
        self.write()
        self._stopped = True
        self._wake.set()
        if thread is not None and thread is not threading.current_thread():
            thread.join()

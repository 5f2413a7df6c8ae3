"""What does a process see of an agent that another one writes? The log, followed on each look."""

import threading
from pathlib import Path

from recollex_engine.commit import CommitWord
from recollex_engine.log_reader import LogFollower
from recollex_engine.replica import LOG, Replica
from recollex_engine.view import View

REOPEN_ROWS = 32_768
"""Rows applied since opening at which a reader starts over from the newest checkpoint."""


class Reader:
    """An agent's folder, opened for reading; it never writes a byte and never waits for a writer.

    Threads: any number may call `view`.
    """

    def __init__(self, folder: Path) -> None:
        self._lock = threading.Lock()
        self._commit = CommitWord(folder / "COMMIT")
        self._is_whole = False
        self._open(folder)

    def _open(self, folder: Path) -> None:
        replica = Replica(folder)
        follower = LogFollower(folder / LOG, replica.position)
        opened_rows = replica.columns.rows
        try:
            # All that is in the log, not only what COMMIT says: after a loss of power the word may
            # be older than the log, and what was acknowledged must be seen.
            replica.follow(follower, None, check_vectors=True)
        except BaseException:
            follower.close()
            raise
        # Only now: other threads take views meanwhile, and none may be older than the one before.
        self.replica, self._follower, self._opened_rows = replica, follower, opened_rows
        self._is_whole = True

    def view(self) -> View:
        """Return what was committed by now; cost 0.2 us while nothing is new."""
        if self._commit.op > self.replica.published or not self._is_whole:
            with self._lock:
                until = self._commit.op
                if until > self.replica.published or not self._is_whole:
                    self._catch_up(until)
        return self.replica.view()

    def _catch_up(self, until: int) -> None:
        if not self._is_whole:
            self._reopen()
            return
        self._is_whole = False  # if this fails, the replica may hold a part of an operation
        self.replica.follow(self._follower, until)
        self._is_whole = True
        grown = self.replica.columns.rows - self._opened_rows
        if grown > REOPEN_ROWS and self._commit.generation > self.replica.generation:
            self._reopen()

    def _reopen(self) -> None:
        before = self._follower
        self._open(self.replica.folder)
        before.close()

    def close(self) -> None:
        """Let the files go."""
        self._follower.close()
        self.replica.close()

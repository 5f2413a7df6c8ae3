"""What does a process see of an agent that another one writes? It follows the log at each view."""

import threading
from collections.abc import Callable
from pathlib import Path

from recollex_engine.domain.settings import Settings
from recollex_engine.errors import CorruptError, ModelMismatchError
from recollex_engine.log.progress import StartProgress, progress_for
from recollex_engine.log.reader import LogFollower
from recollex_engine.state.replica import LOG, Erased, Reembedded, Replica, read_files_ahead
from recollex_engine.state.view import View
from recollex_engine.storage.commit_word import CommitWord
from recollex_engine.storage.disk import enough_files

REOPEN_ROWS = 32_768
"""After applying this many rows since it opened, a reader starts again from the newest
checkpoint."""


class ReadReplica:
    """An agent's folder, opened for reading; it never writes a byte and never waits for a writer.

    ``check(settings)`` is called on opening, and again after the agent was moved to another model.
    If it raises `ModelMismatchError` then, every later `view` raises it too.
    ``start_progress`` makes the progress callback of a slow open (see `log.progress`).

    Threads: any number may call `view`.
    """

    def __init__(
        self,
        folder: Path,
        check: Callable[[Settings], object],
        start_progress: StartProgress | None = None,
    ) -> None:
        self._check = check
        self._watching = start_progress
        self._lock = threading.Lock()
        self._is_whole = False
        self._mismatch: ModelMismatchError | None = None
        read_files_ahead(folder)
        with enough_files(folder):
            self._commit = CommitWord(folder / "COMMIT")
            self._open(folder)

    def _open(self, folder: Path) -> None:
        while True:
            replica = Replica(folder)
            if replica.settings is not None:
                self._check(replica.settings)
            follower = LogFollower(folder / LOG, replica.position, verify=True)
            opened_rows = replica.columns.rows
            try:
                # Read the whole log, not only up to COMMIT: after a loss of power the commit word
                # may be older than the log, and acknowledged operations must be seen.
                left = self._commit.op - replica.published
                with progress_for(self._watching, left) as progress:
                    replica.follow(follower, None, check_vectors=True, progress=progress)
                if replica.settings is not None:
                    self._check(replica.settings)
                break
            except BaseException as error:
                follower.close()
                if not self._is_superseded(replica, error):
                    raise
        # Set last: other threads take views meanwhile, and views must not go back in time.
        self.replica, self._follower, self._opened_rows = replica, follower, opened_rows
        self._is_whole = True

    @staticmethod
    def _is_superseded(replica: Replica, error: BaseException) -> bool:
        """Return whether ``error`` comes from a move to another model, or from an erasure."""
        return isinstance(error, Reembedded | Erased) or (
            isinstance(error, CorruptError) and replica.was_superseded()
        )

    def view(self) -> View:
        """Return the view of what is committed now. Cost: 0.2 us while nothing is new."""
        if self._commit.op > self.replica.published or not self._is_whole:
            with self._lock:
                until = self._commit.op
                if until > self.replica.published or not self._is_whole:
                    self._catch_up(until)
        return self.replica.view()

    def _catch_up(self, until: int) -> None:
        if (known := self._mismatch) is not None:
            raise ModelMismatchError(known.agent, known.expected, known.found)
        if not self._is_whole:
            self._reopen()
            return
        self._is_whole = False  # if `follow` fails, the replica may hold part of an operation
        try:
            self.replica.follow(self._follower, until)
        except (Reembedded, Erased, CorruptError) as error:
            if not self._is_superseded(self.replica, error):
                raise
            self._reopen()
            return
        self._is_whole = True
        grown = self.replica.columns.rows - self._opened_rows
        if grown > REOPEN_ROWS and self._commit.generation > self.replica.generation:
            self._reopen()

    def _reopen(self) -> None:
        before = self._follower
        try:
            self._open(self.replica.folder)
        except ModelMismatchError as error:  # permanent: another try would read the whole log again
            self._mismatch = error
            raise
        before.close()

    def close(self) -> None:
        """Close the files."""
        self._follower.close()
        self.replica.close()

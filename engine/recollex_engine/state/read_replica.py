"""What does a process see of an agent that another one writes? It follows the log at each view."""

import contextlib
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from recollex_engine.domain.settings import Settings
from recollex_engine.errors import CorruptError, ModelMismatchError
from recollex_engine.log.files import LogFile, file_exists
from recollex_engine.log.format import START, HeadFile, lost_lines
from recollex_engine.log.reader import LogFollower, StartProgress, progress_for
from recollex_engine.state.integrity import warn_of_answers
from recollex_engine.state.replica import INTENT, LOG, Erased, Reembedded, Replica, read_files_ahead
from recollex_engine.state.view import View
from recollex_engine.storage.commit_word import DELETED, CommitWord, fence
from recollex_engine.storage.disk import system_errors
from recollex_engine.storage.lock import HeldFolder, is_locked


# Were memories erased while somebody read the files of an agent? An erasure replaces the log.
class ErasureWatch:
    """Says whether memories were erased since it was made, for `with`. Cost: 15 us.

    The first file of the log stays open meanwhile. Without that an erasure's new file might get
    the inode number of the old one: ext4 gives the number of a removed file to the next one.

    Threads: one at a time.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._first: LogFile | None = None
        with contextlib.suppress(CorruptError):  # there is no log yet
            self._first = LogFile(folder / LOG, START.file)
        # After the file was opened: it is of the time before an erasure that begins now.
        self.began_during_erasure: bool = is_erasing(folder)
        """Whether memories were being erased when the watch was made."""

    @property
    def has_seen_erasure(self) -> bool:
        """Whether memories are being erased, or were since the watch was made.

        True also if the first file was compressed or made meanwhile.
        """
        if self.began_during_erasure or is_erasing(self._folder):
            return True
        if self._first is None:
            return file_exists(self._folder / LOG, START.file)
        return self._first.is_superseded()

    def __enter__(self) -> "ErasureWatch":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._first is not None:
            self._first.close()


def is_erasing(folder: Path) -> bool:
    """Return whether an erasure of the agent in ``folder`` was begun and is not complete."""
    return (folder / INTENT).exists()


REOPEN_ROWS = 32_768
"""After applying this many rows since it opened, a reader starts again from the newest
checkpoint."""


ERASING_SECONDS = 10.0
"""An opening that finds damage while memories are erased begins again, for this long."""
RETRY_SECONDS = 0.01


class ReadReplica:
    """An agent's folder, opened for reading; it never writes a byte and never waits for a writer.

    ``check(settings)`` is called on opening, and again after the agent was moved to another model.
    If it raises `ModelMismatchError` then, every later `view` raises it too.
    ``start_progress`` makes the progress callback of a slow open (see `log.reader`).

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
        self._torn: tuple[int, ...] | None = None
        self._folder = HeldFolder(folder)
        read_files_ahead(folder)
        with system_errors(folder):
            self._commit = CommitWord(folder / "COMMIT")
            self._open(folder)

    def _open(self, folder: Path, *, whole: bool = False) -> None:
        """Open the newest state; again while an erasure replaces the files meanwhile."""
        until = time.monotonic() + ERASING_SECONDS
        while True:
            with ErasureWatch(folder) as watch:
                try:
                    self._open_once(folder, whole)
                    return
                except CorruptError:
                    if not watch.has_seen_erasure or time.monotonic() > until:
                        raise
            time.sleep(RETRY_SECONDS)

    def _open_once(self, folder: Path, whole: bool) -> None:
        torn: int | None = None  # the last operation before a torn tail
        while True:
            head = HeadFile(folder / LOG).read()  # first: the log holds it by now
            flushed = None if head is None else head.op
            replica = Replica(folder, whole=whole)
            if replica.settings is not None:
                self._check(replica.settings)
            follower = LogFollower(folder / LOG, replica.position, verify=True, head=head)
            opened_rows = replica.columns.rows
            try:
                # Beside a writer only what it has published counts: it takes back what it cannot
                # flush. Otherwise the whole log does: after a loss of power the commit word may be
                # older than the log, and acknowledged operations must be seen.
                until = torn
                if until is None and self._commit.is_whole and is_locked(folder / "LOCK"):
                    until = self._commit.op
                    fence()
                left = self._commit.op - replica.published
                with progress_for(self._watching, left) as progress:
                    replica.follow(follower, until, check_vectors=True, progress=progress)
                if head is not None and until is None and replica.published < head.op:
                    raise lost_lines(folder / LOG, head, replica.published)
                if replica.settings is not None:
                    self._check(replica.settings)
                break
            except BaseException as error:
                follower.close()
                if self._is_superseded(replica, error):
                    continue
                if torn is None and (found := _torn(replica, error, flushed)) is not None:
                    torn = found
                    continue
                raise
        replica.integrity.note_lost(replica.is_current)
        replica.integrity.start()
        # Set last: other threads take views meanwhile, and views must not go back in time.
        self.replica = replica
        self._follower = follower
        self._opened_rows = opened_rows
        self._torn = None if torn is None else _files(replica)
        self._is_whole = True

    @staticmethod
    def _is_superseded(replica: Replica, error: BaseException) -> bool:
        """Return whether ``error`` comes from a move to another model, or from an erasure."""
        return isinstance(error, Reembedded | Erased) or (
            isinstance(error, CorruptError) and replica.was_superseded()
        )

    def view(self) -> View:
        """Return the view of what is committed now. Cost: 0.2 us while nothing is new.

        Starts again, with a warning, if files were found to differ from their checksums meanwhile.
        """
        if self.replica.integrity.found:
            self._distrust()
        if self._commit.op > self.replica.published or not self._is_whole:
            with self._lock, system_errors(self.replica.folder):
                until = self._commit.op
                if until > self.replica.published or not self._is_whole:
                    self._catch_up(until)
        return self.replica.view()

    def check_place(self) -> None:
        """Raise `StoreMovedError` if another folder, or none, has the name of the one opened."""
        self._folder.check()

    @property
    def is_deleted(self) -> bool:
        """Whether the agent was deleted, by any process. Cost: 0.1 us."""
        return self._commit.op == DELETED

    def _distrust(self) -> None:
        """Open the files again, comparing all of them first: some are damaged."""
        with self._lock:
            integrity = self.replica.integrity
            if not integrity.found:
                return
            integrity.found = False
            integrity.note_lost(self.replica.is_current)
            if integrity.damage is not None:
                warn_of_answers(integrity.damage)
                self._reopen(whole=True)

    def _catch_up(self, until: int) -> None:
        if (known := self._mismatch) is not None:
            raise ModelMismatchError(known.agent, known.expected, known.found)
        if not self._is_whole:
            self._reopen()
            return
        if self._torn is not None:  # the tail is not shown before a writer has cut it off
            if _files(self.replica) != self._torn:
                self._reopen()
            return
        self._is_whole = False  # if `follow` fails, the replica may hold part of an operation
        fence()  # log and vectors are loaded after the commit word
        try:
            self.replica.follow(self._follower, until)
        except (Reembedded, Erased, CorruptError) as error:
            folder = self.replica.folder
            if not is_erasing(folder) and not self._is_superseded(self.replica, error):
                raise
            self._reopen()
            return
        self._is_whole = True
        grown = self.replica.columns.rows - self._opened_rows
        if grown > REOPEN_ROWS and self._commit.generation > self.replica.generation:
            self._reopen()

    def _reopen(self, *, whole: bool = False) -> None:
        before = self._follower
        try:
            self._open(self.replica.folder, whole=whole)
        except ModelMismatchError as error:  # permanent: another try would read the whole log again
            self._mismatch = error
            raise
        before.close()

    def close(self) -> None:
        """Close the files; what was not compared yet is compared, and damage is named."""
        integrity = self.replica.integrity
        integrity.finish(vectors=False)
        if integrity.found and integrity.damage is not None:
            warn_of_answers(integrity.damage)
        integrity.note_lost(self.replica.is_current)
        self._follower.close()
        self.replica.close()
        self._folder.close()


def _torn(replica: Replica, error: BaseException, flushed: int | None) -> int | None:
    """Return the last operation before a tail whose vectors never reached the disk, or None."""
    if not isinstance(error, CorruptError) or replica.settings is None:
        return None
    if error.path != replica.vectors_path:
        return None
    position = replica.torn_position(flushed)
    return None if position is None else position.op


def _files(replica: Replica) -> tuple[int, ...]:
    """Return numbers that change when a writer cuts off a torn tail, or mends its vectors."""
    status = [path.stat() for path in (replica.folder / LOG, replica.vectors_path)]
    return tuple(n for each in status for n in (each.st_ino, each.st_size, each.st_mtime_ns))

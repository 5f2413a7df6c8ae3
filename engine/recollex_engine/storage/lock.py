"""The writer lock: a file that the operating system locks, so that one process writes."""

import contextlib
import errno
import fcntl
import os
import time
from pathlib import Path
from types import TracebackType

from recollex_engine import fork
from recollex_engine.errors import LockedError
from recollex_engine.storage.disk import open_file

TRIES = 4
"""A reader that asks whether there is a writer holds the lock for a moment, so a writer tries again
this many times."""
_PAUSE = 0.002  # seconds


def is_locked(path: Path) -> bool:
    """Return whether a `WriterLock` holds the file, in any process. Cost: 15 us."""
    try:
        fd = open_file(path, os.O_RDONLY)
    except (FileNotFoundError, PermissionError):
        return False
    try:
        if not os.pread(fd, 1, 0):  # its last holder closed it
            return False
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        fcntl.flock(fd, fcntl.LOCK_UN)
    except OSError as error:
        return error.errno in (errno.EWOULDBLOCK, errno.EACCES)
    finally:
        os.close(fd)
    return False


class WriterLock:
    """An exclusive lock, held from construction until `close` or the end of the process.

    Raises `LockedError`, which names the holder's process, while any other `WriterLock` holds the
    file, also one in this process. The file is created at need, and removed with its whole folder
    alone, while it is held: a lock of a file that has lost its name is refused, since another
    process may hold a new file of that name.

    A child made by ``os.fork`` does not hold the lock and cannot release its parent's: the child's
    copy of the descriptor is closed before the child goes on, and only the process that took the
    lock unlocks it. A program started by ``exec`` inherits nothing.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "LOCK"
    >>> with WriterLock(path) as lock:
    ...     lock.is_held
    True
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd = -1
        fork.register(self)  # first: another thread may fork at any moment
        self._fd = open_file(path, os.O_RDWR | os.O_CREAT)
        try:
            self._take()
            self._check_name()
        except OSError as error:
            holder = os.pread(self._fd, 32, 0).decode(errors="replace").strip()
            self._close_descriptor()
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                raise LockedError(path, f"process {holder}" if holder else "") from None
            raise
        with contextlib.suppress(OSError):  # on a full disk the lock works without the process id
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, b"%d\n" % os.getpid(), 0)

    def _take(self) -> None:
        for left in reversed(range(TRIES)):
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except OSError as error:
                if error.errno not in (errno.EWOULDBLOCK, errno.EACCES) or not left:
                    raise
            time.sleep(_PAUSE)

    def _check_name(self) -> None:
        """Raise as for a lock that is held if the file lost its name: its folder was deleted."""
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(self._fd), self.path.stat()):
                return
        raise BlockingIOError(errno.EWOULDBLOCK, "the file was removed")

    @property
    def is_held(self) -> bool:
        """Whether this process holds the lock through this object."""
        return self._fd >= 0

    def close(self) -> None:
        """Release the lock; the second call does nothing."""
        if self._fd < 0:
            return
        with contextlib.suppress(OSError):
            os.ftruncate(self._fd, 0)
        # Closing alone is not enough: a child that was forked without Python's knowledge may still
        # have the descriptor. Unlocking frees the lock in that case too. A KeyboardInterrupt after
        # it leaves a descriptor open, but no lock.
        fcntl.flock(self._fd, fcntl.LOCK_UN)
        self._close_descriptor()

    def after_fork(self) -> None:
        """Close the child's descriptor without unlocking, which would release the parent's lock."""
        self._close_descriptor()

    def _close_descriptor(self) -> None:
        """Close the descriptor, and never twice: its number may be another file's by then."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def __enter__(self) -> "WriterLock":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_fd", -1) >= 0:
            self.close()

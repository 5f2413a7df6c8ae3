"""The writer lock: a file that the operating system locks, so that one process writes."""

import contextlib
import errno
import fcntl
import os
import time
from pathlib import Path
from types import TracebackType
from weakref import WeakSet

from recollex_engine import fork
from recollex_engine.errors import AccessError, LockedError
from recollex_engine.storage.disk import open_file, system_errors
from recollex_engine.storage.place import Place

TRIES = 4
"""A reader that asks whether there is a writer holds the lock for a moment, so a writer tries again
this many times."""
_PAUSE = 0.002  # seconds
_TAKEN = (errno.EWOULDBLOCK, errno.EACCES)
NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)
"""What `flock` says on a file system that has no locks, or none now."""


def flock(fd: int, how: int, path: Path) -> None:
    """Lock a file. Raises the plain `OSError` if it is locked, for a caller that does not wait.

    Raises `AccessError` on a file system without locks, and the errors of `system_errors`.
    """
    try:
        fcntl.flock(fd, how)
    except OSError as error:
        if error.errno in NO_LOCKS:
            message = (
                f"cannot lock a file: {error.strerror}; nothing was changed: this file system has "
                "no locks (flock), and without them two processes could write at once: put the "
                "store on a local disk, or mount the share with locks; read_only=True takes none"
            )
            raise AccessError(error.errno, message, str(path)) from error
        if error.errno in _TAKEN:
            raise
        with system_errors(path):
            raise


def is_locked(path: Path) -> bool:
    """Return whether a `WriterLock` holds the file, in any process. Cost: 15 us.

    False on a file system without locks, where there is no `WriterLock`.
    """
    try:
        fd = open_file(path, os.O_RDONLY)
    except (FileNotFoundError, PermissionError):
        return False
    try:
        if not os.pread(fd, 1, 0):  # its last holder closed it
            return False
        flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB, path)
        flock(fd, fcntl.LOCK_UN, path)
    except OSError as error:
        return error.errno in _TAKEN
    finally:
        os.close(fd)
    return False


OWN = (
    "use the store that was opened before in this process, or close it first (a notebook cell that "
    "ran twice opens it twice); more processes share one with `recollex serve` and "
    "recollex.connect, and read_only=True needs no lock"
)
"""What to do about a lock that this process holds itself."""


class WriterLock:
    """An exclusive lock, held from construction until `close` or the end of the process.

    Raises `LockedError`, which names the holder's process, while any other `WriterLock` holds the
    file, also one in this process. Raises `AccessError` on a file system without locks. The file is
    created at need, and removed with its whole folder alone, while it is held: a lock of a file
    that has lost its name is refused, since another process may hold a new file of that name.
    `check_place` tells later whether it still has it.

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
            self._place = Place(path, os.fstat(self._fd))
            self._take()
            self._check_name()
        except BaseException as error:
            try:
                if isinstance(error, OSError) and error.errno in _TAKEN:
                    raise self._refusal() from None
                raise
            finally:
                self._close_descriptor()
        _held.add(self)
        with contextlib.suppress(OSError):  # on a full disk the lock works without the process id
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, b"%d\n" % os.getpid(), 0)

    def _take(self) -> None:
        for left in reversed(range(TRIES)):
            try:
                flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB, self.path)
                return
            except OSError as error:
                if error.errno not in _TAKEN or not left:
                    raise
            time.sleep(_PAUSE)

    def _check_name(self) -> None:
        """Raise as for a lock that is held if the file lost its name: its folder was deleted."""
        if not self._place.is_kept:
            raise BlockingIOError(errno.EWOULDBLOCK, "the file was removed")

    def _refusal(self) -> LockedError:
        """Return the error for a lock that is held; it says so if this process holds it."""
        holder = os.pread(self._fd, 32, 0).decode(errors="replace").strip()
        if any(each.is_held and each._place == self._place for each in list(_held)):
            return LockedError(self.path, f"process {os.getpid()}, which is this one", OWN)
        return LockedError(self.path, f"process {holder}" if holder else "")

    def check_place(self) -> None:
        """Raise `StoreMovedError` if the file lost its name: then the lock keeps nobody out."""
        self._place.check_place()

    @property
    def is_kept(self) -> bool:
        """Whether the file has its name, so that no other process can hold the lock."""
        return self._place.is_kept

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
        with contextlib.suppress(OSError):
            fcntl.flock(self._fd, fcntl.LOCK_UN)
        self._close_descriptor()

    def after_fork(self) -> None:
        """Close the child's descriptor without unlocking, which would release the parent's lock."""
        self._close_descriptor()

    def _close_descriptor(self) -> None:
        """Close the descriptor, and never twice: its number may be another file's by then."""
        fd = self._fd
        self._fd = -1
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


_held: WeakSet[WriterLock] = WeakSet()
"""The locks of this process."""

"""Holding a folder: does a path still lead to it, and which process may write in it?

Does a path still lead to the file or folder that was opened?
It may come to mean another one while a store is open: the folder is renamed, removed or replaced by
a copy, a symbolic link on the way is switched, a disk is mounted over it, a lock file is deleted.
What is then read and written by name is not the store that was opened, and its lock is not held. So
device and inode of what was opened are compared with the name. A descriptor of it must be open all
the time, since a file system may give the inode of a removed file to the next one.
"""

import contextlib
import errno
import fcntl
import os
import time
from pathlib import Path
from types import TracebackType
from weakref import WeakSet

from recollex_engine import fork
from recollex_engine.errors import AccessError, LockedError, StoreMovedError
from recollex_engine.storage.disk import open_file, system_errors

_ONLY_HELD = getattr(os, "O_PATH", os.O_RDONLY)  # needs no permission to read the folder


def absolute(path: str | os.PathLike[str]) -> Path:
    """Return the path from the root, with ``~`` expanded and links followed.

    So it means the same after `os.chdir`, and after a link on the way was switched.
    """
    return Path(os.path.realpath(os.path.expanduser(path)))  # noqa: PTH111 - also of a str


class Place:
    """A path, and the device and inode of what was opened there.

    Threads: any number.
    """

    __slots__ = ("_known", "_name", "path")

    def __init__(self, path: Path, opened: os.stat_result) -> None:
        self.path = path
        self._name = str(path)
        self._known = opened.st_dev, opened.st_ino

    def check_place(self) -> None:
        """Raise `StoreMovedError` unless the path leads to what was opened. Cost: 2 us."""
        try:
            found = os.stat(self._name)  # noqa: PTH116 - half the time of `Path.stat`
        except OSError as error:
            raise StoreMovedError(self.path, error.strerror or str(error)) from error
        self.check_same(found)

    def check_same(self, found: os.stat_result) -> None:
        """Raise `StoreMovedError` unless ``found`` is the status of what was opened."""
        if (found.st_dev, found.st_ino) != self._known:
            raise StoreMovedError(self.path, "another file or folder has its name")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and self._known == other._known

    def __hash__(self) -> int:
        return hash(self._known)

    @property
    def is_kept(self) -> bool:
        """Whether the path leads to what was opened."""
        with contextlib.suppress(StoreMovedError):
            self.check_place()
            return True
        return False


class HeldFolder:
    """A folder that is kept open, so that its path can be compared with it.

    One that does not exist yet is held from the first `check` that finds it.

    Threads: any number. In a child of `os.fork` the descriptor is closed.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "memory"
    >>> folder = HeldFolder(path)
    >>> path.mkdir()
    >>> folder.check()
    >>> moved = path.rename(path.with_name("moved"))
    >>> folder.check()
    Traceback (most recent call last):
        ...
    recollex_engine.errors.StoreMovedError: ...
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd = -1
        self._place: Place | None = None
        self._lock = fork.lock()
        fork.register(self)
        self.check()

    def check(self) -> None:
        """Raise `StoreMovedError` unless the path leads to the folder that is held."""
        place = self._place
        if place is not None or (place := self._hold()) is not None:
            place.check_place()

    def _hold(self) -> Place | None:
        """Open the folder; return None where there is none."""
        with self._lock:
            if self._place is None:
                try:
                    self._fd = os.open(self.path, _ONLY_HELD | os.O_DIRECTORY | os.O_CLOEXEC)
                except OSError:  # who uses it says why
                    return None
                self._place = Place(self.path, os.fstat(self._fd))
            return self._place

    def after_fork(self) -> None:
        """Close the child's descriptor."""
        self.close()

    def close(self) -> None:
        """Close the descriptor; the second call does nothing."""
        fd = self._fd
        self._fd = -1
        if fd >= 0:
            os.close(fd)

    def __del__(self) -> None:
        if getattr(self, "_fd", -1) >= 0:
            self.close()


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

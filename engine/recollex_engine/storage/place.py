"""Does a path still lead to the file or folder that was opened?

It may come to mean another one while a store is open: the folder is renamed, removed or replaced by
a copy, a symbolic link on the way is switched, a disk is mounted over it, a lock file is deleted.
What is then read and written by name is not the store that was opened, and its lock is not held. So
device and inode of what was opened are compared with the name. A descriptor of it must be open all
the time, since a file system may give the inode of a removed file to the next one.
"""

import contextlib
import os
from pathlib import Path

from recollex_engine import fork
from recollex_engine.errors import StoreMovedError

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

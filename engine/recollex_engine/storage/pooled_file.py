"""Files that a writer writes again and again, without a descriptor of its own for each.

The descriptors that were used last stay open, a few for the whole process: thousands of agents may
be written in turn, and one that is written all the time opens its files once.

A file may be closed between a write and its flush. The flush of a new descriptor writes all of the
file's bytes, and reports an error of earlier writes that no flush has reported yet (Linux since
4.13).
"""

import os
import resource
from pathlib import Path
from types import TracebackType

from recollex_engine import fork
from recollex_engine.errors import ClosedError, StoreMovedError
from recollex_engine.storage.disk import open_file
from recollex_engine.storage.place import Place

MOST_IDLE = max(1, min(40, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 8))
"""Descriptors that stay open between uses, in this process."""


class PooledFile:
    """A file that exists, opened when it is used; ``with`` gives its descriptor.

    Between uses it may be closed, when `MOST_IDLE` others were used later. `StoreMovedError` is
    raised where another file has its name when it is opened again. In a child of `os.fork` the
    parent's descriptors are closed.

    Threads: any number, also at once. Cost: 1 us a use; 5 us where the file must be opened.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "words"
    >>> path.touch()
    >>> file = PooledFile(path, os.O_RDWR)
    >>> with file as fd:
    ...     os.pwrite(fd, b"tea", 0)
    3
    >>> file.close()
    """

    __slots__ = ("__weakref__", "_closed", "_fd", "_flags", "_place", "_users", "path")

    def __init__(self, path: Path, flags: int) -> None:
        self.path = path
        self._flags = flags
        self._fd = -1
        self._place: Place | None = None  # set by the first use
        self._users = 0
        self._closed = False

    def __enter__(self) -> int:
        with _lock:
            if self._closed:
                raise ClosedError(f"{self.path} was closed: open the store again")
            if self._fd < 0:
                self._fd = open_file(self.path, self._flags)
                self._check_same()
            _idle.pop(self, None)
            self._users += 1
            return self._fd

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with _lock:
            self._users -= 1
            if self._users or self._closed:
                return
            _idle[self] = None
            while len(_idle) > MOST_IDLE:
                oldest = next(iter(_idle))
                del _idle[oldest]
                oldest._close()

    def _check_same(self) -> None:
        """Note which file was opened, or compare with what was noted."""
        opened = os.fstat(self._fd)
        if self._place is None:
            self._place = Place(self.path, opened)
        try:
            self._place.check_same(opened)
        except StoreMovedError:
            self._close()
            raise

    def check_place(self) -> None:
        """Raise `StoreMovedError` if the file was used, and another one or none has its name."""
        if self._place is not None:
            self._place.check_place()

    @property
    def is_kept(self) -> bool:
        """Whether the file that was used has its name."""
        return self._place is not None and self._place.is_kept

    def close(self) -> None:
        """Close the file for good; the second call does nothing. No thread uses it meanwhile."""
        with _lock:
            self._closed = True
            _idle.pop(self, None)
            self._close()

    def _close(self) -> None:
        """Close the descriptor, and never twice: its number may be another file's by then."""
        fd = self._fd
        self._fd = -1
        if fd >= 0:
            os.close(fd)


_lock = fork.lock()
_idle: dict[PooledFile, None] = {}
"""The files that are open and not in use, the least recently used first."""


class _Inherited:
    """Closes the parent's descriptors in a child."""

    def after_fork(self) -> None:
        for each in list(_idle):
            each._close()
        _idle.clear()


_inherited = _Inherited()
fork.register(_inherited)

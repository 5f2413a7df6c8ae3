"""Were files shortened under the maps of a replica? Reading on would end the process (SIGBUS).

Copying a store over one that is open does so: `cp` and `rsync --inplace` shorten each file before
they write it. No program may read a page beyond the end of a file that it has mapped. So sizes are
compared before views are taken, which finds a file that was shortened before. One that is shortened
while a recall reads it still ends the process; see docs/damage.md.
"""

import ctypes
import fcntl
import os
import struct
import termios
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from recollex_engine import fork
from recollex_engine.errors import CorruptError
from recollex_engine.state.replica import Replica
from recollex_engine.state.view import Indexes
from recollex_engine.storage.column import MappedFile, mapped_file
from recollex_engine.storage.vectors_file import HEADER_BYTES, VectorsReader

# Were bytes of a file changed, or the file shortened? Linux says so (inotify), others do not.
_MODIFY = 0x2  # IN_MODIFY: a file was written to, shortened or extended
_LOST = 0x4000  # IN_Q_OVERFLOW: there were too many events to tell
_EVENT = struct.Struct("iIII")  # the watch, what happened, a number, and the length of the name
_BYTES = 1 << 16  # that are read at once

_NOTHING = bytes(4)  # how many bytes of events there are, as the system says it

_libc = ctypes.CDLL(None, use_errno=True)


class FileChanges:
    """Says whether any process has changed the bytes of a file, or of a file in a folder.

    Threads: any number; each change is told to one of them.
    """

    def __init__(self) -> None:
        self._fd = -1
        self._lock = fork.lock()
        self._watched: dict[int, str] = {}
        self.works: bool = hasattr(_libc, "inotify_init1")
        """Whether it can say so: Linux, and a user has not as many watches as the system allows."""

    def watch(self, path: str) -> None:
        """Watch a file, or the files in a folder, from now on. Cost: 5 us."""
        if not self.works:
            return
        with self._lock:
            if self._fd < 0:
                self._fd = _libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
                if self._fd < 0:
                    self.works = False
                    return
            number = _libc.inotify_add_watch(self._fd, os.fsencode(path), _MODIFY)
            self.works = number >= 0
            self._watched[number] = path

    def seen(self) -> set[str] | None:
        """Return what was changed since the last call; None for nothing. Cost: 1 us for nothing."""
        if self._fd < 0 or fcntl.ioctl(self._fd, termios.FIONREAD, _NOTHING) == _NOTHING:
            return None
        try:
            events = os.read(self._fd, _BYTES)
        except OSError:  # another thread has read them
            return None
        found: set[str] = set()
        at = 0
        while at < len(events):
            number, what, _, length = _EVENT.unpack_from(events, at)
            path = None if what & _LOST else self._watched.get(number)
            # None also while another thread has begun to watch, and not noted the path yet
            found |= set(self._watched.copy().values()) if path is None else {path}
            at += _EVENT.size + length
        return found

    def __del__(self) -> None:
        fd = self._fd
        self._fd = -1
        if fd >= 0:
            os.close(fd)


SHARE = 0.004
"""The most of the time that comparing sizes takes where the system does not say what changed."""


class FileSizes:
    """Compares the sizes of mapped files with what is read of them.

    They are compared when one of them was changed, or every few milliseconds where the system does
    not say so.

    Threads: any number may call.
    """

    def __init__(self) -> None:
        self.has_failed: bool = False
        """Whether the last comparison found a file that is too short."""
        self._due = 0.0
        self._changes = FileChanges()
        self._replica: Replica | None = None
        self._indexes: Indexes | None = None
        self._vectors: VectorsReader | None = None
        self._files: list[MappedFile] = []  # of segments and graphs

    def check(self, replica: Replica) -> None:
        """Raise `CorruptError` for a file that is shorter than what the replica reads of it.

        A file that was replaced or removed is left out: its pages stay as long as they are mapped.
        Cost: 1 us while nothing was changed, 5 us after a write, else 1.5 us for each file of 128
        KiB or more.
        """
        changed = self._changes.seen()
        is_known = (
            self._replica is replica
            and self._indexes is replica.indexes
            and self._vectors is replica.vectors
        )
        if is_known:
            if self._changes.works:
                if changed is None:
                    return
            elif time.monotonic() < self._due:
                return
        began = time.monotonic()
        vectors = _vectors_of(replica)
        if is_known and changed == {path for path, _, _ in vectors}:  # by a write
            self._compare(vectors)
            self._replica = replica
            return
        if self._indexes is not replica.indexes:
            self._files = list(_files_of(replica, replica.indexes))
        self._indexes = replica.indexes
        files = [*_of_columns(replica), *self._files]
        for path in {os.path.dirname(path) for path, _, _ in files}:  # noqa: PTH120
            self._changes.watch(path)
        for path, _, _ in vectors:
            self._changes.watch(path)
        self._compare((*files, *vectors))
        self._replica = replica
        self._vectors = replica.vectors
        ended = time.monotonic()
        self._due = ended + (ended - began) / SHARE

    def _compare(self, files: Iterable[MappedFile]) -> None:
        self.has_failed = True
        self._replica = None  # until it has ended well: the next call compares again
        _compare(files)
        self.has_failed = False


def _of_columns(replica: Replica) -> Iterator[MappedFile]:
    for column in list(replica.columns.column.values()):
        if (file := column.mapped) is not None:
            yield file
    for dictionary in replica.columns.dictionary.values():
        yield from dictionary.mapped


def _compare(files: Iterable[MappedFile]) -> None:
    for path, file_id, size in files:
        try:
            status = os.stat(path)  # noqa: PTH116 - in half the time of a Path
        except OSError:
            continue
        if status.st_size < size and (status.st_dev, status.st_ino) == file_id:
            raise shortened(Path(path), size, status.st_size)


def _vectors_of(replica: Replica) -> tuple[MappedFile, ...]:
    if (vectors := replica.vectors) is None:
        return ()
    _, rows, file_id = vectors.mapped
    return ((os.fspath(vectors.path), file_id, HEADER_BYTES + 2 * vectors.dimension * rows),)


def shortened(path: Path, size: int, found: int) -> CorruptError:
    """Return the error for a file that was shortened while the store was open."""
    return CorruptError(
        path,
        f"at least {size} bytes, as when it was opened",
        f"{found}: it was shortened while the store was open; close the store, put the file back "
        "from a copy, and open it again",
    )


def _files_of(replica: Replica, indexes: Indexes) -> Iterator[MappedFile]:
    """Yield the files of segments and graphs, as they are now."""
    named = [(replica.folder / each.postings) for each in replica.entries]
    arrays = [segment.postings.file for segment in indexes.segments]
    named += [graph.path for graph in indexes.graphs]
    arrays += [graph.nodes for graph in indexes.graphs]
    for path, array in zip(named, arrays, strict=False):  # a checkpoint may replace both meanwhile
        try:
            yield mapped_file(path, array.nbytes)
        except OSError:
            continue

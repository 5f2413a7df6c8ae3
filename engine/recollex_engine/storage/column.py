"""One append-only array: mapped pages of a file up to the last checkpoint, then private memory.

Checksums of derived files: CRC-32, as in gzip, of the items that count.
A CRC-32 differs for every change of one bit, and for all but one in four billion other changes. It
guards against disks and memory, not against people: the hash chain of the log does that. zlib
computes 3.5 GB/s, and lets other threads run meanwhile.
"""

import contextlib
import errno
import os
import threading
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from recollex_engine.errors import CorruptError, InputError
from recollex_engine.storage import overlay
from recollex_engine.storage.content_file import (
    SealedPages,
    new_pages,
    read_sealed,
    write_sealed,
)
from recollex_engine.storage.disk import flush, open_file, store_full, system_errors, write_at
from recollex_engine.storage.encryption import Cipher, cipher_at, cipher_for_writing


def crc32(items: NDArray[Any], before: int = 0) -> int:
    """Return the CRC-32 of the bytes of ``items``, which follow bytes whose CRC-32 is ``before``.

    >>> whole = np.arange(10)
    >>> crc32(whole[4:], crc32(whole[:4])) == crc32(whole)
    True
    """
    return zlib.crc32(np.ascontiguousarray(items).reshape(-1).view(np.uint8).data, before)


Array = TypeVar("Array", bound=npt.NDArray[Any])


def read_only(array: Array) -> Array:
    """Return a view of an array that is read-only.

    Kernels are compiled for such arrays: those of files and questions are. For one that can be
    written a kernel would be compiled once more.
    """
    view = array.view()
    view.flags.writeable = False
    return view


# The file of a column: how its items get into memory, and what opening and flushing it raise.
MAPPED_FROM = 1 << 17
"""Files of fewer bytes are read into memory, so that thousands of small agents need no maps."""


MappedFile = tuple[str, tuple[int, int], int]
"""A file of which pages are mapped: its path, its device and inode, and how many bytes are read."""

Loaded = tuple[NDArray[Any], tuple[int, int], SealedPages | None]
"""The array, the file's device and inode, and its pages if it is sealed."""


def mapped_file(path: Path, size: int) -> MappedFile:
    """Return a file that is mapped, as it is now; ``size``: how many bytes are read."""
    status = path.stat()
    return os.fspath(path), (status.st_dev, status.st_ino), size


def load(place: str, kind: np.dtype[Any], stored: int, capacity: int, *, fixed: bool) -> Loaded:
    """Return an array of ``capacity`` items; the first ``stored`` come from the file at ``place``.

    ``fixed``: they are never written to, so they may be pages that all processes share.
    """
    with system_errors(place):
        try:
            fd = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            raise _absent(Path(place)) from None
        try:
            return _read(fd, place, kind, stored, capacity, fixed=fixed)
        finally:
            os.close(fd)


def _read(
    fd: int, place: str, kind: np.dtype[Any], stored: int, capacity: int, *, fixed: bool
) -> Loaded:
    size = stored * kind.itemsize
    room = capacity * kind.itemsize
    status = os.fstat(fd)
    if status.st_size < size:  # sealed bytes are more than plain ones
        found = status.st_size // kind.itemsize
        raise CorruptError(Path(place), f"at least {stored} items", f"{found}")
    file_id = (status.st_dev, status.st_ino)
    if (cipher := cipher_at(place)) is not None:
        held = np.empty(status.st_size, np.uint8)
        _read_into(held, fd, 0, place)
        plain, pages = read_sealed(Path(place), held.data, cipher, size)
        return _with_room(plain, room).view(kind), file_id, pages
    if fixed and room == size >= MAPPED_FROM:
        with contextlib.suppress(OSError):
            return overlay.file_bytes(fd, size).view(kind), file_id, None
    # The last page is copied, not mapped: other items follow in it, here and in the file.
    mapped = size - size % overlay.PAGE if size >= MAPPED_FROM else 0
    data: NDArray[np.uint8] | None = None
    if mapped:
        with contextlib.suppress(OSError, ValueError):
            data = overlay.private_bytes(fd, mapped, room, writable=not fixed)
    if data is None:
        data = np.empty(room, np.uint8)
        mapped = 0
    _read_into(data[mapped:size], fd, mapped, place)
    return data.view(kind), file_id, None


@contextlib.contextmanager
def opened(path: Path, flags: int) -> Iterator[int]:
    """Open the file of a column, for `with`.

    Raises `CorruptError` if it is missing, `StoreFullError` if it cannot be made.
    """
    try:
        fd = open_file(path, flags)
    except FileNotFoundError:
        raise _absent(path) from None
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise store_full(error, path, f"create {path.name}") from error
        raise
    try:
        with system_errors(path):  # a folder can be opened, and cannot be read
            yield fd
    finally:
        os.close(fd)


def _absent(path: Path) -> CorruptError:
    return CorruptError(path, "a column's file", "none")


def flush_column(fd: int, path: Path) -> None:
    """Return once the bytes of a column's file are on the disk; raises `StoreFullError`."""
    try:
        flush(fd)
    except OSError as error:
        raise store_full(error, path, f"flush {path.name}") from error


def _read_into(target: NDArray[np.uint8], fd: int, offset: int, place: str) -> None:
    rest = target.data
    while len(rest):
        size = os.preadv(fd, [rest], offset)
        if not size:
            missing = f"{len(rest)} more bytes at {offset}"
            raise CorruptError(Path(place), missing, "the end of the file")
        rest = rest[size:]
        offset += size


def _with_room(data: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """Return a copy of ``data`` that is followed by spare capacity, ``size`` bytes together."""
    copy = np.empty(size, np.uint8)
    copy[: len(data)] = data
    return copy


_UNLOCKED = contextlib.nullcontext()
_UNCHANGED: frozenset[int] = frozenset()
_LEAST_ITEMS = 16
_LEAST_ROOM = 1 << 16  # least bytes of private memory after the pages of a file


class Column:
    """An append-only array of one little-endian dtype, and the file it is checkpointed to.

    The file holds the items one after another and nothing else. The first ``stored`` items come
    from it. Appended items, and changes by `set`, are private to this object until `persist` and
    `write_back` put them into the file. So each process may hold its own state over one file.

    Invariants: items below `count` are contiguous in one array; an array that was returned stays
    valid and keeps showing the items it had; the file never shrinks; bytes of the file after the
    ``stored`` items mean nothing.

    Of an encrypted agent all items are in private memory, and the file is sealed (see
    `storage.content_file`): `persist` appends pages, or replaces a file whose items change.

    The items of a ``fixed`` column never change: its stored pages are read-only maps, shared by all
    processes, and count as no process's private memory. `set` is refused.

    Threads: one thread appends, sets and persists; `persist` may run in a second thread beside
    appends, up to a count that was already reached. Any number of threads read `array`.

    >>> column = Column("<u4")
    >>> column.extend([3, 1, 2])
    >>> column.array
    array([3, 1, 2], dtype=uint32)
    """

    __slots__ = (
        "_changed",
        "_covered",
        "_file_id",
        "_fixed",
        "_lock",
        "_pages",
        "_path",
        "_stored",
        "_summed",
        "buffer",
        "count",
    )

    def __init__(
        self,
        dtype: str | np.dtype[Any],
        path: Path | str | None = None,
        stored: int = 0,
        *,
        fixed: bool = False,
    ) -> None:
        # a str: joining and reading a Path for each of 60 columns takes a tenth of opening them
        self._path = None if path is None else os.fspath(path)
        self._fixed = fixed
        self._stored = stored
        self.count: int = stored
        """How many items there are; a plain attribute, since a write reads it a hundred times."""
        self._covered = stored  # items below it are in the file, or are being written to it
        # indices below `_covered` that may differ from the file; a set once there is one
        self._changed: set[int] | frozenset[int] = _UNCHANGED
        self._file_id = (0, 0)
        self._pages: SealedPages | None = None  # of an encrypted file, once there is one
        self._summed = 0, 0  # how many items the last checksum covers, and the checksum
        # serialises remapping the file and writing changes to it
        self._lock = _UNLOCKED if fixed else threading.Lock()
        self.buffer: NDArray[Any] = no_items(dtype)
        """The items and the spare capacity after them; readers skip items that are too new."""
        if stored:
            self.buffer = self._load(stored, stored)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of an item."""
        return self.buffer.dtype

    def __len__(self) -> int:
        return self.count

    @property
    def stored(self) -> int:
        """How many of the items the file holds."""
        return self._stored

    @property
    def mapped(self) -> MappedFile | None:
        """The file whose pages are the first items; None where they are in memory."""
        size = self._stored * self.buffer.itemsize
        if size < MAPPED_FROM or self._pages is not None or self._path is None:
            return None
        return self._path, self._file_id, size

    @property
    def array(self) -> NDArray[Any]:
        """The items as one array, not copied. Change them only through `set`."""
        count = self.count  # read first: the buffer that is read next holds at least as many
        return self.buffer[:count]

    @property
    def last(self) -> Any:
        """The last item, as a Python number; 0 without one."""
        return self.buffer.item(self.count - 1) if self.count else 0

    def append(self, value: Any) -> None:
        """Add one item. Cost: amortised constant, 0.2 us."""
        count = self.count
        if count >= len(self.buffer):
            self._grow(count + 1)
        self.buffer[count] = value
        self.count = count + 1

    def extend(self, values: Sequence[Any] | NDArray[Any]) -> None:
        """Add items, in order. Cost: amortised one copy of them; 0.5 us for a few."""
        count = self.count
        new = len(values)
        if not new:
            return
        end = count + new
        storage = self.buffer
        if end > len(storage):
            self._grow(end)
            storage = self.buffer
        if new == 1:  # as in a small transaction: a slice takes twice as long
            storage[count] = values[0]
        else:
            storage[count:end] = values
        self.count = end

    def replace_from(self, start: int, values: Sequence[Any] | NDArray[Any]) -> None:
        """Replace the items from ``start`` on, which no reader has used."""
        if not self._stored <= start <= self.count:
            raise InputError(f"start must lie in [{self._stored}, {self.count}], got {start}")
        if (end := start + len(values)) > len(self.buffer):
            self._grow(end)
        self.buffer[start:end] = values
        self.count = end

    def followed_by(self, values: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
        """Return the items and then ``values`` as one array; ``values`` are not added.

        They are in the spare capacity, where the items that are added next overwrite them.
        """
        end = self.count + len(values)
        if end > len(self.buffer):
            self._grow(end)
        self.buffer[self.count : end] = values
        return self.buffer[:end]

    def set(self, index: int, value: Any) -> None:
        """Change one item in place; arrays returned earlier may or may not show the change."""
        if not 0 <= index < self.count:
            raise InputError(f"index must lie in [0, {self.count}), got {index}")
        if self._fixed:
            raise InputError(f"the items of {self._path or 'this column'} are fixed, got a change")
        self.buffer[index] = value
        if index < self._covered:
            if isinstance(self._changed, frozenset):
                self._changed = set()
            self._changed.add(index)

    def checksum(self, count: int) -> int:
        """Return the CRC-32 of the first ``count`` items of a fixed column.

        Cost: 0.3 ns for each byte that neither the last call nor `vouch` covered.
        """
        summed, crc = self._summed
        if count < summed:
            summed = 0
            crc = 0
        crc = crc32(self.buffer[summed:count], crc)
        self._summed = count, crc
        return crc

    def vouch(self, crc: int) -> None:
        """Take ``crc`` as the CRC-32 of the stored items; `checksum` reads later ones alone."""
        self._summed = self._stored, crc

    def persist(self, path: Path, count: int | None = None, *, sync: bool = True) -> None:
        """Append the items from ``stored`` up to ``count`` (default: all) to the file at ``path``.

        Afterwards ``stored`` is ``count``. The file is created when there is something to write.
        It is flushed unless ``sync`` is False; then call `flush_file` before anything relies on
        it. Raises `StoreFullError` and leaves ``stored`` as it was.
        """
        count = self.count if count is None else count
        if not self._stored <= count <= self.count:
            raise InputError(f"count must lie in [{self._stored}, {self.count}], got {count}")
        if self._stored and os.fspath(path) != self._path:
            raise InputError(f"the column is stored in {self._path}, not in {path}")
        if count == self._stored:
            return
        if (cipher := cipher_for_writing(path)) is not None:
            self._persist_sealed(path, count, cipher, sync=sync)
            return
        start = self._stored * self.buffer.itemsize
        with opened(path, os.O_WRONLY | os.O_CREAT) as fd:
            status = os.fstat(fd)
            if status.st_size < start:
                raise CorruptError(path, f"at least {start} bytes", f"{status.st_size}")
            self._covered = count
            items = self.buffer[self._stored : count]
            write_at(fd, items.view(np.uint8).data, start, path)
            if sync:
                flush_column(fd, path)
        self._file_id = (status.st_dev, status.st_ino)
        self._path = os.fspath(path)
        self._stored = count

    def _persist_sealed(self, path: Path, count: int, cipher: Cipher, *, sync: bool) -> None:
        """Do what `persist` does for the file of an encrypted agent."""
        self._covered = count
        pages = self._pages or new_pages()
        # a call that failed after its write has left pages that do not count
        is_whole = pages.size == self._stored * self.buffer.itemsize
        if self._fixed and pages.end is not None and is_whole:
            items = self.buffer[self._stored : count].view(np.uint8)
            with opened(path, os.O_WRONLY | os.O_CREAT) as fd:
                if (found := os.fstat(fd).st_size) < pages.end:
                    raise CorruptError(path, f"at least {pages.end} bytes", found)
                pages.append(cipher, items.data, fd, path)
                if sync:
                    flush_column(fd, path)
            self._pages = pages
        else:
            self._replace_sealed(path, count, cipher, sync=sync)
        self._path = os.fspath(path)
        self._stored = count

    def _replace_sealed(self, path: Path, count: int, cipher: Cipher, *, sync: bool) -> None:
        """Write the first ``count`` items, as they are now, to a new file at ``path``."""
        written = self.buffer[:count].copy()
        changed = list(self._changed)
        self._pages = write_sealed(path, cipher, written.view(np.uint8).data, durable=sync)
        if isinstance(self._changed, set):
            # an item that a failed call meant to cover may lie above the count
            same = (i for i in changed if i >= count or self.buffer[i] == written[i])
            self._changed.difference_update(same)

    def write_back(self, *, sync: bool = True) -> int:
        """Write the items below ``stored`` that `set` changed into the file; return how many.

        Other processes that have mapped the file may see the changes from now on. Raises
        `StoreFullError`; items not yet written stay marked and are written by the next call.
        """
        changed = self._changed
        if isinstance(changed, frozenset) or not changed or self._path is None:
            return 0
        path = Path(self._path)
        if (cipher := cipher_for_writing(path)) is not None:
            count = len(changed)
            with self._lock:
                self._replace_sealed(path, self._stored, cipher, sync=sync)
            return count
        indices = sorted(changed)
        size = self.buffer.itemsize
        with self._lock, opened(path, os.O_WRONLY) as fd:
            for index in indices:
                item = self.buffer[index : index + 1]
                written = item.copy()
                write_at(fd, written.view(np.uint8).data, index * size, path)
                changed.discard(index)  # last: an interrupted write is done again
                if item[0] != written[0]:  # changed meanwhile
                    changed.add(index)
        if sync:
            self.flush_file()
        return len(indices)

    def flush_file(self) -> None:
        """Return once all persisted and written-back items are on the disk."""
        if self._path is not None and self._stored:
            path = Path(self._path)
            with opened(path, os.O_WRONLY) as fd:
                flush_column(fd, path)

    def _grow(self, needed: int) -> None:
        """Grow to at least ``needed`` items; the stored part is mapped again, not copied."""
        kind = self.dtype
        old = self.buffer
        count = self.count
        stored = self._stored
        with self._lock:
            if (
                stored * kind.itemsize >= MAPPED_FROM
                and self._pages is None
                and self._is_same_file()
            ):
                private = count - stored
                room = max(needed - stored, private + private // 2, _LEAST_ROOM // kind.itemsize)
                storage = self._load(stored, stored + room)
                storage[stored:count] = old[stored:count]
                changed = [index for index in self._changed if index < stored]
                storage[changed] = old[changed]
            else:
                storage = np.empty(max(needed, count + count // 2, _LEAST_ITEMS), kind)
                storage[:count] = old[:count]
            self.buffer = storage

    def _load(self, stored: int, capacity: int) -> NDArray[Any]:
        """Return an array of ``capacity`` items; the first ``stored`` come from the file."""
        assert self._path is not None
        storage, self._file_id, self._pages = load(
            self._path, self.dtype, stored, capacity, fixed=self._fixed
        )
        return storage

    def _is_same_file(self) -> bool:
        """Return whether the path still names the file that the stored items came from."""
        if self._path is None:
            return False
        try:
            status = os.stat(self._path)  # noqa: PTH116
        except FileNotFoundError:
            return False
        return (status.st_dev, status.st_ino) == self._file_id


@cache
def no_items(dtype: str | np.dtype[Any]) -> NDArray[Any]:
    """Return an empty array of this dtype, the same one for all empty columns."""
    kind = np.dtype(dtype)
    if kind != kind.newbyteorder("<") or kind.hasobject:
        raise InputError(f"a column's dtype must be little-endian items, got {kind}")
    return np.empty(0, kind)

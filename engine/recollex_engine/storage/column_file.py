"""The file of a column: how its items get into memory, and what opening and flushing it raise."""

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollex_engine.errors import CorruptError
from recollex_engine.storage import overlay
from recollex_engine.storage.agent_key import cipher_at
from recollex_engine.storage.content_file import SealedPages, read_sealed
from recollex_engine.storage.disk import flush, open_file, store_full, system_errors

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

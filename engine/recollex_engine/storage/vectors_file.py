"""The file of an agent's vectors: beside the log, the only file that each write appends to.

::

    file      = magic version dimension zeros { row }
    magic     = "rcxvec16"             8 bytes
    version   = uint32, 1, or 2 if the rows are encrypted
    dimension = uint32, D
    zeros     = 48 bytes
    row       = float16 * D            in row order
              | sealed                 in version 2: see `storage.encryption`; purpose "vectors" and
                                       bound to the row's number

Numbers are little-endian. The log says how many rows count, with a checksum for each batch. Bytes
after these rows are left from a crash, or belong to a transaction that is being written.

A sealed row that is not authentic is read as zeros: rows that an erasure has set to zeros, and
damage, which the checksums in the log name.
"""

import hashlib
import os
import struct
import threading
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollex_engine.errors import CorruptError, FormatError, InputError
from recollex_engine.storage import overlay
from recollex_engine.storage.column import read_only
from recollex_engine.storage.disk import (
    Bytes,
    flush,
    flush_folder,
    open_file,
    replace_file,
    store_full,
    system_errors,
    write_at,
)
from recollex_engine.storage.encryption import (
    OVERHEAD,
    Cipher,
    cipher_at,
    cipher_for_writing,
    locked,
)
from recollex_engine.storage.formats import unknown_format
from recollex_engine.storage.pooled_file import PooledFile

HEADER_BYTES = 64
VERSION = 1
SEALED_VERSION = 2

_MAGIC = b"rcxvec16"
_PURPOSE = b"vectors"
_HEADER = struct.Struct("<8sII")
_REMEDY = "; opening the agent for writing embeds lost texts again"
_LEAST_CAPACITY = 1 << 20  # bytes of address space for a reader; not memory
_OPENED_AT_ONCE = 1024  # rows

Rows = NDArray[np.float16]


def checksum(rows: NDArray[Any]) -> str:
    """Return the first 128 bits of SHA-256 of the rows' bytes, as hex. Cost: 0.7 ms a megabyte."""
    return bytes_checksum(_bytes_of(rows))


def bytes_checksum(data: bytes | memoryview) -> str:
    """Return the checksum of rows that are given as their bytes; see `checksum`."""
    return hashlib.sha256(data).hexdigest()[:32]


def vectors_header(dimension: int, *, sealed: bool = False) -> bytes:
    """Return the first bytes of a file of vectors."""
    version = SEALED_VERSION if sealed else VERSION
    return _HEADER.pack(_MAGIC, version, dimension).ljust(HEADER_BYTES, b"\0")


def row_bytes(dimension: int, *, sealed: bool) -> int:
    """Return the size of a row in the file."""
    return 2 * dimension + (OVERHEAD if sealed else 0)


def seal_rows(cipher: Cipher, rows: Rows, first: int) -> bytes:
    """Return rows as an encrypted file holds them, from number ``first`` on. Cost: 2 us each."""
    data = _bytes_of(rows)
    size = row_bytes(rows.shape[1], sealed=False)
    plain = [data[at : at + size] for at in range(0, len(data), size)]
    return b"".join(cipher.seal_each(_PURPOSE, first, plain))


def open_rows(cipher: Cipher, stored: Bytes, dimension: int, first: int) -> Rows:
    """Return the rows that `seal_rows` sealed; one that is not authentic as zeros.

    Cost: 2 us each.
    """
    size = row_bytes(dimension, sealed=True)
    data = memoryview(stored)
    zeros = bytes(2 * dimension)
    sealed = [data[at : at + size] for at in range(0, len(data) - size + 1, size)]
    plain = [row or zeros for row in cipher.open_each(_PURPOSE, first, sealed)]
    return np.frombuffer(b"".join(plain), "<f2").reshape(len(plain), dimension)


class VectorsWriter:
    """Appends rows after the ``count`` rows that the log counts; creates the file at need.

    Invariant: the file never shrinks, since readers have it mapped.
    Threads: one at a time; one more may `sync` meanwhile.
    """

    def __init__(self, path: Path, dimension: int, count: int = 0) -> None:
        if dimension < 1:
            raise InputError(f"dimension must be at least 1, got {dimension}")
        self.path = path
        self.dimension = dimension
        self._failure: OSError | None = None
        self._cipher = cipher_for_writing(path)
        self._row_bytes = row_bytes(dimension, sealed=self._cipher is not None)
        if not path.exists():
            replace_file(path, vectors_header(dimension, sealed=self._cipher is not None))
        else:  # the call that made it may have failed before its name was on the disk
            flush_folder(path.parent)
        self._file = PooledFile(path, os.O_RDWR)
        with self._file as fd:
            size = _check_header(fd, path, dimension, self._cipher)
        _check_rows(path, count, self._row_bytes, size)
        self._count = count
        # 1: those of an earlier process may not be flushed
        self._writes = 1
        self._flushed = 0

    @property
    def count(self) -> int:
        """How many rows there are; the next rows are written after them."""
        return self._count

    def append(self, rows: Rows) -> Bytes:
        """Append float16[n, D], and return the bytes written; they are not durable before `sync`.

        Raises `StoreFullError` and leaves `count` as it was.
        """
        if rows.ndim != 2 or rows.shape[1] != self.dimension or rows.dtype != np.dtype("<f2"):
            raise InputError(
                f"rows must be float16 of shape (n, {self.dimension}), "
                f"got {rows.dtype} of shape {rows.shape}"
            )
        if not len(rows):
            return b""
        offset = HEADER_BYTES + self._count * self._row_bytes
        cipher = self._cipher
        data = _bytes_of(rows) if cipher is None else seal_rows(cipher, rows, self._count)
        with self._file as fd:
            write_at(fd, data, offset, self.path)
            self._writes += 1  # after the write: a flush covers those that were counted before it
        self._count += len(rows)
        return data

    def rewind(self, count: int) -> None:
        """Keep only the first ``count`` rows, because the log refused the others."""
        if not 0 <= count <= self._count:
            raise InputError(f"count must lie in [0, {self._count}], got {count}")
        self._count = count

    @property
    def file(self) -> PooledFile:
        """The file, for a caller that flushes it together with another."""
        return self._file

    @property
    def unflushed(self) -> int:
        """The number of the last write, for `flushed`; 0 if it is on the disk."""
        return self._writes if self._writes > self._flushed else 0

    def flushed(self, writes: int) -> None:
        """Note that a caller's flush covered the writes up to a number."""
        self._flushed = max(self._flushed, writes)

    def fail(self, error: OSError) -> None:
        """Note that a caller's flush has failed: every later `sync` raises it too."""
        self._failure = error

    def sync(self) -> None:
        """Return once all appended rows are on the disk; without new ones, at once.

        Raises `StoreFullError`. After that every later call raises it too: the system may have
        dropped the bytes that it could not write, and does not report that again.
        """
        try:
            if self._failure is not None:
                raise self._failure
            if (writes := self._writes) > self._flushed:
                with self._file as fd:
                    flush(fd)
                self._flushed = writes
        except OSError as error:
            self._failure = error
            raise store_full(error, self.path, f"flush {self.path.name}") from error

    def close(self) -> None:
        """Close the file; the second call does nothing."""
        self._file.close()

    def __enter__(self) -> "VectorsWriter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class VectorsReader:
    """The rows as a read-only map that follows the file as it grows, in any process.

    The map reaches beyond the end of the file, so rows that are appended later show in it. When its
    addresses are used up, the file is mapped again at twice the size. Returned arrays stay valid.
    The rows of an encrypted agent are decrypted into memory when they are first asked for.

    Threads: any number.
    """

    def __init__(self, path: Path, dimension: int) -> None:
        self.path = path
        self.dimension = dimension
        # Replaced as one tuple, so that threads see a consistent state: the mapped rows, how many
        # of them are known to lie within the file, and the file's identity.
        self.mapped: tuple[Rows, int, tuple[int, int]] = (self._empty(), 0, (0, 0))
        self._cipher = cipher_at(path)
        self._row_bytes = row_bytes(dimension, sealed=self._cipher is not None)
        self._opening = threading.Lock()
        self._room: Rows = self.mapped[0]  # of decrypted rows, with spare capacity

    def rows(self, count: int) -> Rows:
        """Return the first ``count`` rows: float16[count, D], read-only, without a copy.

        Raises `CorruptError` if the file holds fewer. Cost: 0.5 us; 3 us more where ``count`` is
        greater than in all calls before; 30 us where the file is mapped again.
        """
        rows, checked, file_id = self.mapped
        if not 0 <= count <= checked:
            if count < 0:
                raise InputError(f"count must be at least 0, got {count}")
            rows = self._reach(count, rows, file_id)
        return rows[:count]

    def followed_by(self, count: int, rows: Rows) -> Rows:
        """Return the first ``count`` rows and then ``rows``, which the file holds after them.

        The next rows that the log counts may be others: where a transaction is refused, its rows
        stay in the file until those of a later one take their place.
        """
        end = count + len(rows)
        if self._cipher is None:  # the map shows what takes their place
            held = self.mapped[0]
            return held[:end] if end <= len(held) else self.rows(end)
        self.rows(count)
        with self._opening:
            held, opened, file_id = self.mapped
            if end > len(self._room):
                self._room, held = _with_room(held[:opened], end)
                self.mapped = held, opened, file_id
            self._room[count:end] = rows
            return held[:end]

    def stored(self, first: int, end: int) -> bytes:
        """Return the bytes of rows [first, end) as the file has them, encrypted or not.

        Raises `CorruptError` if the file holds fewer rows.
        """
        fd = open_file(self.path, os.O_RDONLY)
        try:
            with system_errors(self.path):
                size = (end - first) * self._row_bytes
                data = os.pread(fd, size, HEADER_BYTES + first * self._row_bytes)
        finally:
            os.close(fd)
        if len(data) < size:
            raise CorruptError(self.path, f"{end} rows", f"fewer{_REMEDY}")
        return data

    def has_header(self) -> bool:
        """Return whether there is a file that begins as one of these vectors must."""
        try:
            fd = open_file(self.path, os.O_RDONLY)
        except FileNotFoundError:
            return False
        try:
            _check_header(fd, self.path, self.dimension, self._cipher)
        except (CorruptError, FormatError):
            return False
        finally:
            os.close(fd)
        return True

    def _reach(self, count: int, rows: Rows, file_id: tuple[int, int]) -> Rows:
        try:
            status = self.path.stat()
        except FileNotFoundError:
            raise CorruptError(self.path, f"{count} rows", f"no file{_REMEDY}") from None
        held = _check_rows(self.path, count, self._row_bytes, status.st_size)
        found = (status.st_dev, status.st_ino)
        if self._cipher is not None:
            return self._open_to(count, self._cipher, found)
        if count > len(rows) or found != file_id:
            rows = self._map(status.st_size)
        # If another thread mapped more rows meanwhile, this map serves this call only.
        if len(rows) >= len(self.mapped[0]) or found != self.mapped[2]:
            self.mapped = (rows, min(held, len(rows)), found)
        return rows

    def _open_to(self, count: int, cipher: Cipher, found: tuple[int, int]) -> Rows:
        """Return at least ``count`` decrypted rows of the file whose identity is ``found``."""
        with self._opening:
            rows, opened, file_id = self.mapped
            if file_id != found:
                opened = 0
            if count <= opened:
                return rows
            room = self._room
            if count > len(room) or not opened:
                room, rows = _with_room(rows[:opened], count)
            fd = open_file(self.path, os.O_RDONLY)
            try:
                _check_header(fd, self.path, self.dimension, cipher)
            finally:
                os.close(fd)
            for first in range(opened, count, _OPENED_AT_ONCE):
                end = min(first + _OPENED_AT_ONCE, count)
                stored = self.stored(first, end)
                room[first:end] = open_rows(cipher, stored, self.dimension, first)
            self.mapped = (rows, count, found)
            self._room = room
            return rows

    def _map(self, size: int) -> Rows:
        fd = open_file(self.path, os.O_RDONLY)
        try:
            _check_header(fd, self.path, self.dimension, None)
            capacity = max(_LEAST_CAPACITY, 2 * size)
            try:
                data = overlay.shared_bytes(fd, capacity)
            except (OSError, ValueError):  # then without spare addresses for growth
                data = np.asarray(np.memmap(self.path, np.uint8, "r"))[:size]
        finally:
            os.close(fd)
        whole = (len(data) - HEADER_BYTES) // self._row_bytes
        rows = data[HEADER_BYTES : HEADER_BYTES + whole * self._row_bytes].view("<f2")
        return rows.reshape(whole, self.dimension)

    def _empty(self) -> Rows:
        rows: Rows = np.empty((0, self.dimension), "<f2")
        rows.flags.writeable = False
        return rows


def _with_room(rows: Rows, count: int) -> tuple[Rows, Rows]:
    """Return an array of ``rows`` with room for at least ``count``, and a read-only view of it."""
    room = np.empty((max(count, len(rows) * 3 // 2), rows.shape[1]), "<f2")
    room[: len(rows)] = rows
    return room, read_only(room)


def _bytes_of(rows: NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(rows).reshape(-1).view(np.uint8).data


def _check_header(fd: int, path: Path, dimension: int, cipher: Cipher | None) -> int:
    """Return the file's size; raise unless its header says rows of this dimension."""
    with system_errors(path):
        header = os.pread(fd, HEADER_BYTES, 0)
    if len(header) < HEADER_BYTES:
        raise CorruptError(path, f"a header of {HEADER_BYTES} bytes", f"{len(header)}{_REMEDY}")
    magic, version, found = _HEADER.unpack_from(header)
    if magic != _MAGIC:
        raise CorruptError(path, f"{_MAGIC!r} at its start", f"{magic!r}{_REMEDY}")
    if version not in (VERSION, SEALED_VERSION):
        raise unknown_format(path, version, f"{VERSION} to {SEALED_VERSION}")
    if (version == SEALED_VERSION) != (cipher is not None):
        if cipher is None:
            raise locked(path)
        raise CorruptError(path, "encrypted rows", f"plain ones{_REMEDY}")
    if found != dimension:
        raise FormatError(f"{path} holds vectors of {found} dimensions, not {dimension}")
    return os.fstat(fd).st_size


def _check_rows(path: Path, count: int, row_bytes: int, size: int) -> int:
    """Return how many whole rows ``size`` bytes hold; raise if fewer than ``count``."""
    held = max(0, size - HEADER_BYTES) // row_bytes
    if held < count:
        raise CorruptError(path, f"{count} rows", f"{held}{_REMEDY}")
    return held

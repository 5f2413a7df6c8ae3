"""The head of a log, kept beside its folder: an operation that the log must hold, and its chain.

::

    HEAD    = slot slot                    written in turn, so that a torn write spares the other
    slot    = magic version op at chain check zeros              512 bytes
    magic   = "rcxhead" and a zero         8 bytes
    version = uint64, 1
    op      = uint64                       the last operation that a flush of the log has covered
    at      = int64                        its recorded time
    chain   = 32 bytes                     the chain after it, see `log.format`
    check   = uint32                       CRC-32 of the bytes before it

Numbers are little-endian. The newest slot with the right check counts.

A log that ends before its head has lost operations, and one with another chain was altered: the
chain alone shows neither, since a shorter log has a valid chain too.
"""

import contextlib
import os
import struct
import zlib
from pathlib import Path
from typing import NamedTuple

from recollex_engine.errors import CorruptError
from recollex_engine.log.format import START, Position
from recollex_engine.storage.disk import flush, make_folder, open_file, replace_file, write_at
from recollex_engine.storage.formats import unknown_format
from recollex_engine.storage.pooled_file import PooledFile

NAME = "HEAD"
SLOT_BYTES = 512
VERSION = 1

_MAGIC = b"rcxhead\0"
_SLOT = struct.Struct("<8sQQq32s")
_CHECK = struct.Struct("<I")


class Head(NamedTuple):
    """The last operation of a log, its recorded time, and the chain after it."""

    op: int
    recorded_at: int
    chain: bytes

    @classmethod
    def of(cls, position: Position) -> "Head":
        """Return the head of a log that ends at ``position``."""
        return cls(position.op, position.recorded_at, position.chain)


def lost_lines(path: Path, head: Head, op: int) -> CorruptError:
    """Return the error for a log that ends at ``op``, before its ``head``."""
    remedy = f"put the log back; if this older one is wanted, remove {NAME} beside its folder"
    return CorruptError(path, f"operations up to {head.op}", f"only up to {op}: {remedy}")


def altered(path: Path, head: Head, chain: bytes) -> CorruptError:
    """Return the error for a log whose ``chain`` after its ``head`` is another one."""
    expected = f"chain {head.chain.hex()} after operation {head.op}, as {NAME} has it"
    return CorruptError(path, expected, chain.hex())


class HeadFile:
    """The file HEAD beside a log's folder; a missing or damaged one says nothing.

    It holds an operation that the log's files have on the disk, so after a loss of power it may be
    older than the log, never newer. Errors of the disk leave it older, too: they fail no write.

    Threads: one at a time. Cost: 6 us to read, 2 us to write.

    >>> import tempfile
    >>> file = HeadFile(Path(tempfile.mkdtemp()) / "log")
    >>> file.write(Head(7, 1_700_000_000_000_000, bytes(32)))
    >>> file.close()
    >>> file.read().op
    7
    """

    def __init__(self, log: Path) -> None:
        self.path = log.with_name(NAME)
        self._file: PooledFile | None = None
        self._next = 0  # the slot to write
        self._written: Head | None = None
        self._is_durable = True

    def create(self) -> None:
        """Say durably that the log holds nothing yet, unless there is a file."""
        if not self.path.exists():
            make_folder(self.path.parent)
            replace_file(self.path, _encode(Head.of(START)) + bytes(SLOT_BYTES))

    def read(self) -> Head | None:
        """Return the head; None if there is no valid one.

        Raises `FormatError` for a file of another version.
        """
        try:
            fd = open_file(self.path, os.O_RDONLY)
        except FileNotFoundError:
            return None
        try:
            data = os.pread(fd, 2 * SLOT_BYTES, 0)
        finally:
            os.close(fd)
        slots = [_decode(data[at : at + SLOT_BYTES], self.path) for at in (0, SLOT_BYTES)]
        found = max((each for each in slots if each is not None), default=None)
        if found is not None:
            self._next = 1 - slots.index(found)
            self._written = found
        return found

    def write(self, head: Head) -> None:
        """Note that the files of the log hold ``head`` durably; it is not an older one."""
        if self._written is not None and head.op <= self._written.op:
            return
        try:
            with self._found() as fd:
                write_at(fd, _encode(head), self._next * SLOT_BYTES, self.path)
        except OSError:
            return
        self._written = head
        self._next = 1 - self._next
        self._is_durable = False

    def sync(self) -> None:
        """Return once the last written head is on the disk."""
        if not self._is_durable and self._file is not None:
            with contextlib.suppress(OSError):
                with self._file as fd:
                    flush(fd)
                self._is_durable = True

    def close(self) -> None:
        """Close the file; the next write opens it again."""
        file = self._file
        self._file = None
        if file is not None:
            file.close()

    def open(self) -> None:
        """Open the file, so that a later write finds this one or none."""
        with contextlib.suppress(OSError), self._found():
            pass

    def _found(self) -> PooledFile:
        """Return the file, which is made if it is missing."""
        if self._file is None:
            if self._written is None:
                self.read()
            if not self.path.exists():
                replace_file(self.path, bytes(2 * SLOT_BYTES))
            self._file = PooledFile(self.path, os.O_RDWR)
        return self._file


def _encode(head: Head) -> bytes:
    data = _SLOT.pack(_MAGIC, VERSION, head.op, head.recorded_at, head.chain)
    return (data + _CHECK.pack(zlib.crc32(data))).ljust(SLOT_BYTES, b"\0")


def _decode(slot: bytes, path: Path) -> Head | None:
    if len(slot) < _SLOT.size + _CHECK.size:
        return None
    magic, version, op, at, chain = _SLOT.unpack_from(slot)
    (check,) = _CHECK.unpack_from(slot, _SLOT.size)
    if magic != _MAGIC or check != zlib.crc32(slot[: _SLOT.size]):
        return None
    if version != VERSION:
        raise unknown_format(path, version, VERSION)
    return Head(op, at, chain)

"""The commit word: a mapped file of 64 bytes that says which operations readers may see.

::

    file       = magic version zero op generation check zeros
    magic      = "rcxcomit"          8 bytes
    version    = uint32, 1
    zero       = uint32, 0
    op         = uint64 at byte 16   the last operation readers may see
    generation = uint64 at byte 24   the manifest's number, which each checkpoint raises
    check      = uint64 at byte 32   0, or the CRC-32 of the first 16 bytes
    zeros      = 24 bytes

Version 1 has no check. A file of another version says its version twice, by its check: without
that the version is damage.

Numbers are little-endian. Each is aligned and stored by one instruction, so a reader in another
process sees the old or the new value, never a mixture of both. A barrier stands before the store,
and a reader puts one after its load (`read_replica`), so that it finds the log as far as that.
"""

import os
import struct
from pathlib import Path
from zlib import crc32

from recollex_engine.errors import ReadOnlyError
from recollex_engine.storage.disk import open_file, replace_file, write_at
from recollex_engine.storage.formats import unknown_format
from recollex_engine.storage.memory_order import fence
from recollex_engine.storage.overlay import shared_bytes

SIZE = 64
VERSION = 1

DELETED = (1 << 64) - 1
"""The operation in the word of a deleted agent, which a process may still have mapped."""

_MAGIC = b"rcxcomit"
_HEADER = struct.Struct("<8sII")
_NEW = _HEADER.pack(_MAGIC, VERSION, 0).ljust(SIZE, b"\0")
_OP, _GENERATION, _CHECK = 2, 3, 4  # in words of 8 bytes


class CommitWord:
    """The published operation and generation of an agent, shared by processes.

    It is a hint how far to read. Nothing is recovered from it: after a crash of the machine its
    operation may be later or earlier than the log's last one. So a writable commit word creates a
    missing file, and repairs a damaged one in place, since readers may have it mapped. A read-only
    commit word reads as 0 until there is a valid file. A file of another version raises
    `FormatError`, unless a flipped bit can have made it so.

    Threads: one thread sets; any number, in any process, read. A read costs 0.1 us.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "COMMIT"
    >>> reader = CommitWord(path)
    >>> CommitWord(path, writable=True).op = 7
    >>> reader.op
    7
    """

    def __init__(self, path: Path, writable: bool = False) -> None:
        self.path = path
        self.writable = writable
        self._words: memoryview | None = None
        if self._open() is None and writable:
            if path.exists():
                self._repair()
            else:
                replace_file(path, _NEW, durable=False)
            self._open()

    @property
    def op(self) -> int:
        """The last operation readers may see."""
        return self._read(_OP)

    @op.setter
    def op(self, op: int) -> None:
        self._write(_OP, op)

    @property
    def generation(self) -> int:
        """The number of the current manifest."""
        return self._read(_GENERATION)

    @generation.setter
    def generation(self, generation: int) -> None:
        self._write(_GENERATION, generation)

    @property
    def is_whole(self) -> bool:
        """Whether there is a valid file."""
        return self._words is not None or self._open() is not None

    def _read(self, word: int) -> int:
        words = self._words
        if words is None:
            words = self._open()
            if words is None:
                return 0
        return int(words[word])

    def _write(self, word: int, value: int) -> None:
        if not self.writable or self._words is None:
            raise ReadOnlyError(f"{self.path} was opened for reading: open it with writable=True")
        if self._words[word] != value:  # a page that was written to must be flushed to disk
            fence()  # the log and the vectors were written before, seen by any process
            self._words[word] = value

    def _open(self) -> memoryview | None:
        """Map the file and return its 8-byte words; None where there is no valid commit word."""
        try:
            flags = os.O_RDWR if self.writable else os.O_RDONLY
            fd = open_file(self.path, flags)
        except FileNotFoundError:
            return None
        try:
            size = os.fstat(fd).st_size
            if size < SIZE:
                return None
            pages = shared_bytes(fd, SIZE, writable=self.writable)
        finally:
            os.close(fd)
        header, words = pages.data[: _HEADER.size], pages.data.cast("Q")
        magic, version, _ = _HEADER.unpack(header)
        if magic == _MAGIC and version != VERSION and words[_CHECK] == crc32(header):
            raise unknown_format(self.path, version, VERSION)
        if header != _NEW[: _HEADER.size]:
            return None
        self._words = words
        return words

    def _repair(self) -> None:
        fd = open_file(self.path, os.O_WRONLY)
        try:
            write_at(fd, _NEW, 0, self.path)
        finally:
            os.close(fd)

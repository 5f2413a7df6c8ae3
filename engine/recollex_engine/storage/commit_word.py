"""The word that says what readers may see: one number in a mapped file of 64 bytes.

::

    file       = magic version zero op generation zeros
    magic      = "rcxcomit"          8 bytes
    version    = uint32, 1
    zero       = uint32, 0
    op         = uint64 at byte 16   the last operation readers may see
    generation = uint64 at byte 24   of the manifest: it moves with every checkpoint
    zeros      = 32 bytes

Numbers are little-endian. Each is aligned and stored by one instruction, so a reader in another
process sees the old or the new value, never a mixture.
"""

import os
import struct
from pathlib import Path

from recollex_engine.errors import FormatError, ReadOnlyError
from recollex_engine.storage.disk import open_file, replace_file, write_at
from recollex_engine.storage.overlay import shared_bytes

SIZE = 64
VERSION = 1

_MAGIC = b"rcxcomit"
_HEADER = struct.Struct("<8sII")
_NEW = _HEADER.pack(_MAGIC, VERSION, 0).ljust(SIZE, b"\0")
_OP, _GENERATION = 2, 3  # in words of 8 bytes


class CommitWord:
    """The published operation and generation of an agent, shared by processes.

    It is a hint of how far to read, not a truth to recover from: after a crash of the machine it
    may be ahead of the log or behind it. So a writable word makes a file that is absent, and
    repairs one that is damaged, in place, since readers may have it mapped; a read-only one reads
    as 0 until there is a good file. A file of another version is a `FormatError`.

    Threads: one sets; any number, in any process, read. A read costs 0.1 us.

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
                replace_file(path, _NEW)
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
        """The number of the manifest that is in force."""
        return self._read(_GENERATION)

    @generation.setter
    def generation(self, generation: int) -> None:
        self._write(_GENERATION, generation)

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
        if self._words[word] != value:  # a page that is written to has to reach the disk
            self._words[word] = value

    def _open(self) -> memoryview | None:
        """Map the file and return its words, or None where there is no whole commit word."""
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
        magic, version, _ = _HEADER.unpack_from(pages.data)
        if magic != _MAGIC:
            return None
        if version != VERSION:
            raise FormatError(
                f"{self.path} has format {version}, this recollex reads format {VERSION}"
            )
        self._words = pages.data.cast("Q")
        return self._words

    def _repair(self) -> None:
        fd = open_file(self.path, os.O_WRONLY)
        try:
            write_at(fd, _NEW, 0, self.path)
        finally:
            os.close(fd)

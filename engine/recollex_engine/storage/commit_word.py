"""The commit word: a file of 64 bytes, mapped by readers, that says which operations they may see.

::

    file       = magic version zero op generation check zeros
    magic      = "rcxcomit"          8 bytes
    version    = uint32, 1
    zero       = uint32, 0
    op         = uint64 at byte 16   the last operation readers may see
    generation = uint64 at byte 24   the manifest's number, which each checkpoint raises
    check      = uint64 at byte 32   the CRC-32 of the first 16 bytes
    zeros      = 24 bytes

Without the check that fits, the file is damaged, and is not one of another version.

Numbers are little-endian. Each is aligned and written by one call of the system, which copies eight
bytes at once, so a reader in another process sees the old or the new value, never a mixture of
both. A barrier stands before the write, and a reader puts one after its load (`read_replica`), so
that it finds the log as far as that.

The writer does not store into its map: on a copy-on-write file (btrfs, XFS after `cp --reflink`) a
store needs a new block, and where the disk is full the system kills the process (SIGBUS).

The order of stores in memory, on processors that keep it (x86) and that do not (ARM).
A store that publishes, such as the head of a chain, must not be seen before what it leads to. x86
keeps the order of stores, and that of loads. ARM keeps neither, except around locks: a store that
releases a lock comes after all earlier loads and stores of its thread, and a load that takes one
before all later ones. Releasing a lock and taking one afterwards is therefore a full barrier: ARMv8
does not reorder a load-acquire before an earlier store-release. docs/storage.md lists where one is
needed.
"""

import os
import struct
from pathlib import Path
from threading import Lock
from types import TracebackType
from zlib import crc32

from recollex_engine.errors import ReadOnlyError, StoreFullError
from recollex_engine.storage.disk import open_file, replace_file, write_at
from recollex_engine.storage.formats import unknown_format
from recollex_engine.storage.overlay import shared_bytes
from recollex_engine.storage.pooled_file import PooledFile


def fence() -> None:
    """Let no load or store of this thread, before or after the call, pass it. Cost: 0.2 us.

    The lock is new and nothing else has it, so no thread waits, a signal leaves nothing taken, and
    a forked child is not held up.
    """
    lock = Lock()
    with lock:
        pass
    with lock:
        pass


SIZE = 64
VERSION = 1

DELETED = (1 << 64) - 1
"""The operation in the word of a deleted agent, which a process may still have mapped."""

_MAGIC = b"rcxcomit"
_HEADER = struct.Struct("<8sII")
# in words of 8 bytes
_OP = 2
_GENERATION = 3
_CHECK = 4
_FIRST = _HEADER.pack(_MAGIC, VERSION, 0)
_NEW = struct.pack("<16sQQQ", _FIRST, 0, 0, crc32(_FIRST)).ljust(SIZE, b"\0")


class CommitWord:
    """The published operation and generation of an agent, shared by processes.

    It is a hint how far to read. Nothing is recovered from it: after a crash of the machine its
    operation may be later or earlier than the log's last one. So a writable commit word creates a
    missing file, and repairs a damaged one in place, since readers may have it mapped. A read-only
    commit word reads as 0 until there is a valid file. A file of another version raises
    `FormatError`, unless a flipped bit can have made it so.

    Threads: one thread sets; any number, in any process, read. A read costs 0.1 us, a change 2 us.
    Setting raises `StoreFullError`, with the value as it was, where the disk is full.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "COMMIT"
    >>> reader = CommitWord(path)
    >>> with CommitWord(path, writable=True) as word:
    ...     word.op = 7
    >>> reader.op
    7
    """

    def __init__(self, path: Path, writable: bool = False) -> None:
        self.path = path
        self._words: memoryview | None = None
        self._file: PooledFile | None = PooledFile(path, os.O_RDWR) if writable else None
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
        if self._file is None or self._words is None:
            raise ReadOnlyError(f"{self.path} was opened for reading: open it with writable=True")
        if self._words[word] != value:  # a page that was written to must be flushed to disk
            fence()  # the log and the vectors were written before, seen by any process
            try:
                with self._file as fd:
                    os.pwrite(fd, value.to_bytes(8, "little"), 8 * word)
            except OSError as error:
                raise self._not_shown(error) from error
            self._words[word] = value

    def _not_shown(self, error: OSError) -> StoreFullError:
        reason = error.strerror or str(error)
        message = (
            f"what was written is stored, but other processes are not shown it, since "
            f"{self.path.name} cannot be written: {reason}; do not write it again: free space, and "
            "the next write or opening shows it"
        )
        return StoreFullError(error.errno, message, str(self.path))

    def _open(self) -> memoryview | None:
        """Return the file's 8-byte words, mapped; None where there is no valid commit word.

        A writer alone changes them, and has a copy in memory.
        """
        try:
            fd = open_file(self.path, os.O_RDONLY if self._file is None else os.O_RDWR)
        except FileNotFoundError:
            return None
        try:
            size = os.fstat(fd).st_size
            if size < SIZE:
                return None
            if self._file is None:
                pages = shared_bytes(fd, SIZE).data
            else:
                pages = memoryview(bytearray(os.pread(fd, SIZE, 0)))
        finally:
            os.close(fd)
        header = pages[: _HEADER.size]
        words = pages.cast("Q")
        magic, version, _ = _HEADER.unpack(header)
        if magic != _MAGIC or words[_CHECK] != crc32(header):
            return None
        if version != VERSION:
            raise unknown_format(self.path, version, VERSION)
        self._words = words
        return words

    def close(self) -> None:
        """Close the file that is written to; the second call does nothing."""
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> "CommitWord":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _repair(self) -> None:
        fd = open_file(self.path, os.O_WRONLY)
        try:
            write_at(fd, _NEW, 0, self.path)
        finally:
            os.close(fd)

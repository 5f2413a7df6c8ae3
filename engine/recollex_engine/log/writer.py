"""Writing the operation log, the source of truth of an agent; `log.format` describes its bytes.

What happens to a log after the last transaction that counts? It is cut off, and kept aside.
A crash may leave a part of a transaction, or, where power was lost before a flush, whole
transactions whose vectors are missing. None of them was promised to outlive that crash. Their bytes
go to ``torn-<op>.jsonl`` beside the log files, where ``op`` is the last operation that stays.
Nothing reads these files; they may be removed.
"""

import contextlib
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from recollex_engine.errors import CorruptError, InputError, StoreFullError, StoreMovedError
from recollex_engine.log.durability import Durability, FlushAhead, GroupCommit
from recollex_engine.log.files import (
    LogFile,
    compress_before,
    compress_file,
    compressed_path,
    file_exists,
    file_numbers,
    plain_path,
    restore_file,
)
from recollex_engine.log.format import (
    SALT_BYTES,
    START,
    Head,
    HeadFile,
    Position,
    check_operations,
    encode_header,
    encode_transaction,
    lost_lines,
    seal_operations,
)
from recollex_engine.log.home import LogHome, Run
from recollex_engine.log.reader import LogFollower
from recollex_engine.storage.disk import (
    FolderFlush,
    Replacement,
    flush,
    flush_folder,
    make_folder,
    open_file,
    replace_file,
    store_full,
    write_at,
)
from recollex_engine.storage.encryption import cipher_for_writing
from recollex_engine.storage.lock import Place
from recollex_engine.storage.pooled_file import PooledFile
from recollex_engine.storage.unfinished import remove_unfinished_files
from recollex_engine.storage.vectors_file import VectorsWriter

_CHUNK = 1 << 20


def cut_after(folder: Path, end: Position) -> Path | None:
    """Cut a log at ``end``; return the file that keeps the bytes after it, None if there is none.

    Bytes that are all zeros are not kept, and on a full disk none are. The log is cut durably.
    Raises the plain `OSError` if it cannot be cut.
    """
    later = [number for number in file_numbers(folder) if number > end.file]
    kept = _set_aside(folder, end, later)
    for number in reversed(later):  # flushed one by one: a gap would hide what comes after it
        for path in (plain_path(folder, number), compressed_path(folder, number)):
            path.unlink(missing_ok=True)
        flush_folder(folder)
    path = plain_path(folder, end.file)
    if path.exists():
        fd = open_file(path, os.O_RDWR)
        try:
            os.ftruncate(fd, end.offset)
            flush(fd)  # before other bytes take their place: a mixture of both would look damaged
        finally:
            os.close(fd)
    else:
        restore_file(folder, end.file, end.offset)
    return kept


def _set_aside(folder: Path, end: Position, later: list[int]) -> Path | None:
    kept = folder / f"torn-{end.op}.jsonl"
    times = 1
    while kept.exists():
        times += 1
        kept = folder / f"torn-{end.op}-{times}.jsonl"
    empty = True
    try:
        with Replacement(kept) as sink:
            for number in (end.file, *later):
                file = LogFile(folder, number)
                at = end.offset if number == end.file else 0
                try:
                    while chunk := file.read(at, _CHUNK):
                        empty = empty and not chunk.strip(b"\0")
                        sink.write(chunk)
                        at += len(chunk)
                finally:
                    file.close()
            sink.sync()
            if not empty:
                sink.take_place()
                flush_folder(folder)
    except (OSError, StoreFullError):
        return None  # the disk is full, and what would be kept was never promised
    return None if empty else kept


WORTH_COMPRESSING = range(16 << 10, (256 << 10) + 1)
"""Sizes in bytes of a last file that closing compresses. Compressing a smaller file saves no disk
blocks; a larger one would make reading the log after a checkpoint slower."""


class LogWriter:
    """Appends transactions to a log folder, which it creates at need.

    Opening reads and rehashes the log after ``start`` (without one, from its beginning) and cuts
    off a torn tail: an incomplete last transaction, which was never acknowledged (see
    `log.writer`). Damage elsewhere raises `CorruptError`, and so does a log that does not hold
    the operation in the file HEAD beside it (see `log.format`). Nothing is cut off in these cases.
    Each flush raises HEAD, which is on the disk itself after `sync` and `close`.

    ``before_flush`` is called before each flush, to make durable what the log refers to.
    ``on_flush(seconds)`` is called after each flush. ``read(follower)`` is called on opening and
    may consume the transactions that are read. ``home``: where it is durable, if not in its own
    files; then a flush sends it what was appended (see `log.home`).

    Invariant: the file ends at `position`, or the bytes after it are left from a failed write and
    the next write overwrites them. The file is a `PooledFile` from the first write or flush on.

    A KeyboardInterrupt at any line leaves the log as it was, or with the whole transaction; the
    next call completes or undoes what was half done. After one during the sealing of a file, see
    `must_reopen`.

    Threads: any number may append, wait and sync; appends happen one after another. One writer a
    folder: the caller holds the lock that ensures this.

    >>> import tempfile
    >>> with LogWriter(Path(tempfile.mkdtemp()) / "log") as log:
    ...     after = log.append(1_700_000_000_000_000, [("note", b'{"text":"hello"}')])
    ...     log.wait_durable(after.op)
    >>> after.op
    1
    """

    def __init__(
        self,
        folder: Path,
        start: Position | None = None,
        *,
        durability: Durability = "always",
        before_flush: Callable[[], None] | None = None,
        on_flush: Callable[[float], None] | None = None,
        read: Callable[[LogFollower], None] | None = None,
        home: LogHome | None = None,
    ) -> None:
        self.folder = folder
        self._home = home
        self._unsent: list[tuple[bytes, bytes]] = []  # lines and rows that the home lacks
        self._rewritten = False  # since the last flush: what the home has is not our beginning
        self._before_flush = before_flush  # makes durable what the log refers to
        self._cipher = cipher_for_writing(folder)
        self._head = HeadFile(folder)
        known = self._head.read()
        self.known_op: int | None = None if known is None else known.op
        """The last operation that HEAD says is on the disk, on opening; None if it is not known."""
        flush = self._flush if home is None else self._send
        mode: Durability = durability if home is None else "always"
        self._commits = GroupCommit(mode, flush, f"the log {folder}", on_flush)
        self._lock = threading.RLock()  # guards position, and the bytes after it
        self._descriptor_lock = threading.Lock()  # taken before _lock; held while flushing
        self._file: PooledFile | None = None
        self._names = FolderFlush()
        self._torn = False  # set while bytes after `position` may be in the file
        self._sealing = False  # set while `_position` may be of another file than the last
        self._ahead = FlushAhead()
        if not file_numbers(folder):
            if start not in (None, START):
                raise CorruptError(folder, f"the log up to operation {start.op}", "no files")
            if known is not None and known.op:
                raise lost_lines(folder, known, 0)
            self._head.create()
            self.known_op = START.op
            make_folder(folder)
            self._create_file(1, START)
        self._position = self._recover(START if start is None else start, known, read)
        self._place = Place(folder, folder.stat())

    @property
    def position(self) -> Position:
        """The position after the last transaction that was appended."""
        return self._position

    @property
    def must_reopen(self) -> bool:
        """Whether an interrupt left this object apart from its files."""
        if not self._sealing:
            return False
        with self._lock:  # another thread may be sealing a file at this moment
            return self._sealing

    @property
    def durability(self) -> Durability:
        """What `wait_durable` promises."""
        return self._commits.mode

    def append(
        self, recorded_at: int, operations: Sequence[tuple[str, bytes]], rows: bytes = b""
    ) -> Position:
        """Write one transaction with one system call and return the position after it.

        ``operations`` are pairs (kind, payload); a payload is one encoded JSON object. ``rows``:
        the bytes that the vectors file has for it, for a home.
        ``recorded_at`` must be later than the last transaction's. The transaction is not yet
        durable: see `wait_durable`. Raises `InputError` with nothing written, and `StoreFullError`
        with the log as it was before. Cost: 3 us an operation of 500 bytes, and the write.
        """
        operations = list(operations)
        if not operations:
            raise InputError("a transaction must hold at least 1 operation, got 0")
        check_operations(operations)
        salts = os.urandom(SALT_BYTES * len(operations))
        with self._lock:
            self.check()
            before = self._position
            if not before.recorded_at < recorded_at < 2**63:
                raise InputError(
                    f"recorded_at must be later than the last, {before.recorded_at}, "
                    f"got {recorded_at}"
                )
            if self._cipher is not None:
                operations = seal_operations(self._cipher, before.op, recorded_at, operations)
            lines, chain = encode_transaction(before, recorded_at, operations, salts)
            file = self._opened()
            op = before.op + len(operations)
            offset = before.offset + len(lines)
            after = Position(before.file, offset, op, recorded_at, chain)
            self._torn = True
            try:
                with file as fd:
                    write_at(fd, lines, before.offset, file.path)
            except BaseException:  # a full disk, or a KeyboardInterrupt
                self._cut()
                raise
            if self._home is not None:
                self._unsent.append((lines, rows))
            self._position = after
            self._torn = False
            self._commits.wrote(self._position.op)
            return self._position

    def begin_flush(self, vectors: VectorsWriter | None) -> None:
        """Begin the flush of what was appended and of its vectors, which the next flush ends.

        Only in the mode "always" without a home, and if the names of the files are on the disk.
        Cost: 10 us.
        """
        with self._lock:
            flushes = self._home is None and self.durability == "always"
            if flushes and self._file is not None and self._names.is_done:
                self._ahead.begin(Head.of(self._position), self._file, vectors)

    def wait_durable(self, op: int) -> None:
        """Return once operation ``op`` is as durable as the mode promises (see `GroupCommit`)."""
        self._commits.wait(op)

    def check(self) -> None:
        """Raise if the log cannot be written: it is closed, poisoned, or a parent process's.

        Removes the bytes that an interrupted write left.
        """
        self._commits.check()
        if self._torn:
            with self._lock:
                if self._torn:
                    self._cut()
                    self._commits.check()

    def check_place(self) -> None:
        """Raise `StoreMovedError` if another file, or none, has the name of the last one."""
        while True:
            last = self._file or self._place
            try:
                last.check_place()
                return
            except StoreMovedError:
                if last is (self._file or self._place):  # else it was sealed and compressed
                    raise

    def poison(self, cause: BaseException) -> None:
        """Refuse every later call: the state that the caller derived from the log may be wrong."""
        self._commits.poison(cause)

    def sync(self) -> None:
        """Return once all transactions appended so far are on the disk, in every mode."""
        self._commits.check()
        self._commits.flush(self._position.op)
        with self._descriptor_lock:
            self._head.sync()

    def rotate_if_larger(self, size: int) -> bool:
        """Seal the current file and begin the next one, if it holds more than ``size`` bytes.

        Returns whether it did so. A file without a transaction is never sealed.
        """
        with self._descriptor_lock, self._lock:
            self.check()
            before = self._position
            if before.offset <= max(size, len(encode_header(before.file, before))):
                return False
            file = self._opened()
            try:
                with file as fd:
                    flush(fd)
            except OSError as error:
                self._commits.poison(error)
                raise store_full(error, plain_path(self.folder, before.file), "seal it") from error
            self._sealing = True  # until the file that seals this one is in use
            try:
                after = self._create_file(before.file + 1, before)
                opened = self._open_file(after.file)
            except OSError as error:
                if file_exists(self.folder, before.file + 1):  # it seals the current file
                    self._commits.poison(error)
                else:
                    self._sealing = False
                raise
            self._file = opened
            self._position = after
            self._sealing = False
            file.close()
            return True

    def cut(self, end: Position) -> Path | None:
        """Remove the transactions after ``end``; return the file that keeps them, if there is one.

        For a caller that has appended nothing, and knows that they were never durable.
        """
        with self._descriptor_lock, self._lock:
            self._commits.check()
            try:
                kept = cut_after(self.folder, end)
                self._position = end if end.offset else self._create_file(end.file, end)
            except OSError as error:
                path = plain_path(self.folder, end.file)
                raise store_full(error, path, "cut off a torn tail") from error
            return kept

    def compress_sealed(self) -> int:
        """Compress the sealed files, beside appends and readers; see `files.compress_before`."""
        return compress_before(self.folder, self._position.file)

    def rewrite(self, rewriting: Callable[[Position], Position]) -> None:
        """Let ``rewriting`` replace the files of the log, flushed and closed until it returns.

        It takes the position and returns the new one, which differs in file and offset at most.
        If it raises, the log may be half rewritten, and every later call raises.
        """
        self.sync()
        with self._descriptor_lock, self._lock:
            self._close_file()
            self._rewritten = True
            try:
                self._position = rewriting(self._position)
            except BaseException as error:
                self._commits.poison(error)
                raise

    def close(self, *, alone: bool = True) -> None:
        """Flush as the mode promises and close; the second call does nothing.

        The last file is compressed if it was written to and its size is in `WORTH_COMPRESSING`. On
        a full disk it stays plain, and if the caller is not ``alone``: another writer has it.
        """
        whole = False
        try:
            self._commits.close()
            whole = (
                alone and not self._commits.has_failed and bool(self._file and self._file.is_kept)
            )
        finally:
            with self._descriptor_lock, self._lock:
                if self._torn and whole:
                    self._cut()
                self._head.sync()
                self._head.close()
                self._close_file()
                self._before_flush = None  # what it belongs to is freed at once
        is_settled = whole and not self._torn and not self.must_reopen
        if is_settled and self._position.offset in WORTH_COMPRESSING:
            with contextlib.suppress(StoreFullError):
                compress_file(self.folder, self._position.file)

    def __enter__(self) -> "LogWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _recover(
        self, start: Position, known: Head | None, read: Callable[[LogFollower], None] | None
    ) -> Position:
        """Return the end of the last whole transaction, after cutting the file there."""
        follower = LogFollower(self.folder, start, verify=True, head=known)
        try:
            if read is not None:
                read(follower)
            for _ in follower.read_records():
                pass
        finally:
            follower.close()
        end = follower.position
        if known is not None and end.op < known.op:
            raise lost_lines(plain_path(self.folder, end.file), known, end.op)
        remove_unfinished_files(self.folder)
        path = plain_path(self.folder, end.file)
        try:
            torn = path.stat().st_size > end.offset
        except FileNotFoundError:  # a compressed file is cut when it is restored
            torn = False
        if torn:
            cut_after(self.folder, end)
        # A file without its header holds nothing.
        return end if end.offset else self._create_file(end.file, end)

    def _create_file(self, file: int, before: Position) -> Position:
        """Create log file ``file`` with its header, atomically; durable in every mode."""
        header = encode_header(file, before, self._cipher is not None)
        replace_file(plain_path(self.folder, file), header)
        return Position(file, len(header), before.op, before.recorded_at, before.chain)

    def _open_file(self, file: int) -> PooledFile:
        """Return a log file for writing, opened once: an error shows here."""
        opened = PooledFile(plain_path(self.folder, file), os.O_RDWR)
        with opened:
            self._place.check_place()  # after the opening: it was in our folder
            return opened

    def _opened(self) -> PooledFile:
        """Return the current file, in plain form; raise `StoreFullError` if it cannot be opened."""
        with self._lock:
            if self._file is None:
                file = self._position.file
                try:
                    restore_file(self.folder, file, self._position.offset)
                    self._file = self._open_file(file)
                    self._head.open()
                    self._names = FolderFlush(self.folder)
                except OSError as error:
                    raise store_full(error, plain_path(self.folder, file), "open it") from error
            return self._file

    def _close_file(self) -> None:
        file = self._file
        self._file = None
        if file is not None:
            file.close()

    def _cut(self) -> None:
        """Remove the bytes that a failed write left after `position`."""
        try:
            with self._opened() as fd:
                if os.fstat(fd).st_size > self._position.offset:  # else nothing was written
                    os.ftruncate(fd, self._position.offset)
                    flush(fd)  # before other bytes take their place: a mixture would look damaged
            self._torn = False
        except OSError as error:  # a whole line may remain, which would count after a crash
            self._commits.poison(error)

    def _send(self) -> int:
        """Send what was appended to the home; return the last operation that is durable there."""
        assert self._home is not None
        with self._descriptor_lock:
            with self._lock:
                end = self._position
                unsent = self._unsent
                rewritten = self._rewritten
                self._unsent = []
                self._rewritten = False
            if unsent or rewritten:
                lines = b"".join(each for each, _ in unsent)
                rows = b"".join(each for _, each in unsent)
                first = end.op - lines.count(b"\n") + 1
                self._home.append(Run(first, end, lines, rows, rewritten))
                self._head.write(Head.of(end))
            return end.op

    def _flush(self) -> int:
        with self._descriptor_lock:
            if (begun := self._ahead.end()) is not None:  # a later write is flushed by the next
                self._head.write(begun)
                return begun.op
            with self._lock:
                covered = Head.of(self._position)
            if self._before_flush is not None:
                self._before_flush()
            if self._file is not None or plain_path(self.folder, self._position.file).exists():
                with self._opened() as fd:
                    flush(fd)  # else it is compressed, and so durable
            self._names.flush()
            self._head.write(covered)
            return covered.op

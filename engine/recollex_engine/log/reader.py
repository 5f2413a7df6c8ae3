"""Reading the operation log: once from a position, or following it while a process writes.

Progress callbacks for slow opens.
After a checkpoint, opening an agent reads only the end of its log. After an update of recollex that
changes the columns, or when they were lost, it reads the whole log: a minute for a million
memories.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeAlias

import orjson

from recollex_engine.errors import CorruptError
from recollex_engine.log.files import LogFile, file_exists, file_numbers
from recollex_engine.log.format import (
    START,
    Head,
    Position,
    Record,
    altered,
    decode_header,
    decode_record,
    is_sealed,
    open_payload,
)
from recollex_engine.storage.encryption import NAME as KEY
from recollex_engine.storage.encryption import cipher_at, is_encrypted, locked

LONG = 20_000
"""Progress is shown from this many operations on, which take about a second to read."""

StartProgress: TypeAlias = Callable[[int], AbstractContextManager[Callable[[int], None] | None]]
"""Called with the number of operations to read. Returns a context manager whose value is the
progress callback: it is called with the number of operations read since its last call."""


def progress_for(
    start_progress: StartProgress | None, left: int
) -> AbstractContextManager[Callable[[int], None] | None]:
    """Return a context manager with the callback for ``left`` operations; None below `LONG`."""
    return nullcontext() if start_progress is None or left < LONG else start_progress(left)


_HEADER_BYTES = 1024
_FIRST_READ = 1 << 16
_LARGEST_READ = 1 << 20


class LogOperation(NamedTuple):
    """One operation; ``payload`` is None if all of it was erased."""

    op: int
    recorded_at: int
    kind: str
    payload: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class LogTransaction:
    """Operations written together, all or none. ``position``: after the last of them."""

    recorded_at: int
    first_op: int
    operations: list[LogOperation]
    position: Position


BURST = 50
"""Records that are read between two pauses, if a caller asks for pauses: 0.5 ms."""


class LogFollower:
    """Reads a log forward, and continues whenever there is more.

    It holds one descriptor and its `position`, and continues across new files and compression. The
    bytes after the last whole transaction are read again by each call, because the writer may cut
    off a failed or torn write and write other bytes in its place. So while a writer is active, pass
    the operation that it published to `read_new`; without it, an unfinished write may look like
    damage.

    ``verify=True`` recomputes every commitment and chain, as everything does that shows, copies or
    embeds what it reads. Otherwise operation numbers and times are checked, and chains are taken as
    they are. ``head``: an operation after which a verified chain must be this one. ``pause`` is
    called after every `BURST` records, so that a caller may let other threads have the interpreter.

    Threads: one at a time. The writer may write meanwhile, in any process.
    """

    def __init__(
        self,
        folder: Path,
        start: Position = START,
        *,
        verify: bool = False,
        head: Head | None = None,
        pause: Callable[[], None] | None = None,
    ) -> None:
        self.folder: Path = folder
        self._pause = pause
        self._left = BURST
        self._verify = verify
        self._cipher = cipher_at(folder)
        self._head = None if head is None or head.op < start.op else head
        self._file: LogFile | None = None
        self.position: Position = start

    def read_new(self, until_op: int | None = None) -> Iterator[LogTransaction]:
        """Yield the transactions after `position`, moving it past each before it is yielded.

        The iteration ends at the end of the log, at a torn tail, or before the first transaction
        that starts after ``until_op``. Raises `CorruptError` for damage before that.

        Cost: about 5 us an operation of 500 bytes; a call that finds nothing new, 10 us.
        """
        for records, lines_at in self.read_records(until_op):
            operations = []
            for record in records:
                payload = None
                if record.payload is not None:
                    try:
                        payload = orjson.loads(self.payload_of(record) or b"")
                    except orjson.JSONDecodeError as error:
                        self._corrupt(lines_at, f"a JSON payload in operation {record.op}", error)
                operations.append(
                    LogOperation(record.op, record.recorded_at, record.kind.decode(), payload)
                )
            yield LogTransaction(records[0].recorded_at, records[0].op, operations, self.position)

    def read_records(self, until_op: int | None = None) -> Iterator[tuple[list[Record], int]]:
        """Yield as `read_new`, with payloads as bytes: (records, offset of their first line)."""
        self._check_head(self.folder, self.position.op, self.position.chain)
        while until_op is None or self.position.op < until_op:
            if self._file is None:
                if not file_exists(self.folder, self.position.file):
                    if self.position == START:
                        if self.folder.is_file():
                            raise CorruptError(self.folder, "the folder of a log", "a file")
                        return
                    raise CorruptError(
                        self.folder, f"log file {self.position.file}", "no such file"
                    )
                self._file = LogFile(self.folder, self.position.file)
                self._check_length()
            yield from self._read_file(until_op, sealed=False)
            if until_op is not None and self.position.op >= until_op:
                return
            if self._file.is_superseded():  # one writer closed the log and another opened it
                self.close()
                continue
            if not file_exists(self.folder, self.position.file + 1):
                return
            # The next file exists, so this one is sealed. Read the lines that were added between
            # the end found above and the sealing.
            yield from self._read_file(until_op, sealed=True)
            if until_op is not None and self.position.op >= until_op:
                return
            self._go_to_next_file()

    def payload_of(self, record: Record) -> bytes | None:
        """Return the payload of a record that `read_records` gave, decrypted if it is sealed."""
        if self._cipher is None:
            return record.payload
        path = self.folder if self._file is None else self._file.path
        return open_payload(self._cipher, record, path)

    def close(self) -> None:
        """Close the descriptor; `read_new` opens the file again at need."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _read_file(
        self, until_op: int | None, *, sealed: bool
    ) -> Iterator[tuple[list[Record], int]]:
        """Yield the whole transactions after `position` in the open file."""
        assert self._file is not None
        pending: list[Record] = []
        rest = b""
        read_to = line_at = first_at = self.position.offset
        chain = self.position.chain
        size = _FIRST_READ
        while chunk := self._file.read(read_to, max(size, len(rest))):
            read_to += len(chunk)
            size = min(2 * size, _LARGEST_READ)
            lines = (rest + chunk).split(b"\n")
            rest = lines.pop()
            for line in lines:
                if until_op is not None and not pending and self.position.op >= until_op:
                    return
                after_line = line_at + len(line) + 1
                if line_at == 0:
                    if b"\0" in line and not sealed and self._is_last_file():
                        return
                    self._read_header(line)
                    first_at = line_at = after_line
                    continue
                record = decode_record(line)
                if record is None:
                    if b"\0" in line and not sealed and self._is_last_file():
                        return  # pages that did not reach the disk before a crash read as zeros
                    self._corrupt(line_at, "a record of the log", line[:80])
                self._check_order(record, pending, line_at)
                pending.append(record)
                if self._pause is not None:
                    self._left -= 1
                    if not self._left:
                        self._left = BURST
                        self._pause()
                if self._verify:
                    chain = record.extend(chain)
                line_at = after_line
                if record.chain is not None:
                    if self._verify and record.chain != chain:
                        self._corrupt(
                            first_at,
                            f"chain {chain.hex()} after the transaction of operations "
                            f"{pending[0].op} to {record.op}",
                            record.chain.hex(),
                        )
                    self._check_head(self._file.path, record.op, record.chain)
                    self.position = Position(
                        self.position.file, line_at, record.op, record.recorded_at, record.chain
                    )
                    yield pending, first_at
                    pending = []
                    first_at = line_at
        if (rest or pending) and sealed:
            self._corrupt(first_at, "a whole transaction at the end of a sealed file", "a part")

    def _check_head(self, path: Path, op: int, chain: bytes) -> None:
        """Raise if the chain after the transaction that ends with ``op`` is not the head's."""
        head = self._head
        if head is not None and op >= head.op:
            if op != head.op or chain != head.chain:
                raise altered(path, head, chain)
            self._head = None

    def _check_order(self, record: Record, pending: list[Record], line_at: int) -> None:
        op = self.position.op + len(pending) + 1
        if record.op != op:
            self._corrupt(line_at, f"operation {op}", f"operation {record.op}")
        if pending and record.recorded_at != pending[0].recorded_at:
            self._corrupt(
                line_at,
                f"the recorded time {pending[0].recorded_at} of its transaction",
                record.recorded_at,
            )
        if record.recorded_at <= self.position.recorded_at:
            self._corrupt(
                line_at,
                f"a recorded time after {self.position.recorded_at}",
                record.recorded_at,
            )

    def _read_header(self, line: bytes) -> None:
        """Move `position` from the end of the previous file to the end of this file's header."""
        before = self.position
        found = decode_header(line, None if self._file is None else self._file.path)
        self._check_sealed(line)
        expected = Position(before.file, len(line) + 1, before.op, before.recorded_at, before.chain)
        if found != expected:
            self._corrupt(0, f"the header of file {before.file}, op {before.op}", line[:120])
        self.position = expected

    def _check_sealed(self, header: bytes) -> None:
        """Raise unless a file is encrypted if, and only if, the agent is unlocked."""
        assert self._file is not None
        if is_sealed(header) and self._cipher is None:
            self._cipher = cipher_at(self.folder)  # it may have been unlocked meanwhile
        if is_sealed(header) and self._cipher is None:
            if not is_encrypted(self.folder.parent):
                raise CorruptError(self.folder.parent / KEY, "the key of an encrypted log", "none")
            raise locked(self.folder.parent)
        if self._cipher is not None and not is_sealed(header):
            self._corrupt(0, "a header of an encrypted log", header[:20])

    def _go_to_next_file(self) -> None:
        self.close()
        before = self.position
        self.position = Position(before.file + 1, 0, before.op, before.recorded_at, before.chain)

    def _check_length(self) -> None:
        """Raise if the file is of another version, or ends before `position`: it has lost lines."""
        assert self._file is not None
        offset = self.position.offset
        if offset:
            header = self._file.read(0, _HEADER_BYTES).partition(b"\n")[0]
            decode_header(header, self._file.path)
            self._check_sealed(header)
        if offset and self._file.read(offset - 1, 1) != b"\n":
            raise CorruptError(
                self._file.path, f"the end of a line at byte {offset - 1}", "none: lines were lost"
            )

    def _is_last_file(self) -> bool:
        return not file_exists(self.folder, self.position.file + 1)

    def _corrupt(self, offset: int, expected: str, found: object) -> NoReturn:
        assert self._file is not None
        line = self._file.line_number(offset)
        raise CorruptError(self._file.path, f"{expected} on line {line}", found)


def position_before(folder: Path, since: int) -> Position:
    """Return the beginning of the last file whose earlier files end before ``since``."""
    return next((each for each in starts(folder) if each.recorded_at < since), START)


def starts(folder: Path) -> Iterator[Position]:
    """Yield the beginnings of the files, the newest first."""
    for number in reversed(file_numbers(folder)):
        file = LogFile(folder, number)
        try:
            position = decode_header(file.read(0, _HEADER_BYTES).partition(b"\n")[0], file.path)
        finally:
            file.close()
        if position is not None:
            yield position


def last_of_kind(folder: Path, kind: str, start: Position = START) -> LogOperation | None:
    """Return the last operation of a ``kind`` after ``start``; None if there is none.

    Cost: 0.1 ms a megabyte where the log has none; otherwise that of reading the log.
    """
    return last_of_kinds(folder, [kind], start)[kind]


def last_of_kinds(
    folder: Path, kinds: Sequence[str], start: Position = START
) -> dict[str, LogOperation | None]:
    """Return the last operation of each kind after ``start``; see `last_of_kind`."""
    last: dict[str, LogOperation | None] = dict.fromkeys(kinds)
    if not mentions(folder, [b'"kind":"%b"' % kind.encode() for kind in kinds], start):
        return last
    found: dict[str, Record] = {}
    follower = LogFollower(folder, start)
    try:
        for records, _ in follower.read_records():
            found |= {kind: each for each in records if (kind := each.kind.decode()) in last}
    finally:
        follower.close()
    for kind, each in found.items():
        try:
            left = follower.payload_of(each)
            payload = None if left is None else orjson.loads(left)
        except orjson.JSONDecodeError as error:
            where = f"a JSON payload in operation {each.op}"
            raise CorruptError(folder, where, str(error)) from error
        last[kind] = LogOperation(each.op, each.recorded_at, kind, payload)
    return last


def mentions(folder: Path, words: Sequence[bytes], start: Position = START) -> bool:
    """Return whether one of ``words`` occurs in the files of a log after ``start``.

    Cost: 0.1 ms a megabyte.
    """
    longest = max(map(len, words))
    at = start.offset
    for number in file_numbers(folder):
        if number < start.file:
            continue
        file = LogFile(folder, number)
        rest = b""
        try:
            while chunk := file.read(at, _LARGEST_READ):
                held = rest + chunk
                if any(word in held for word in words):
                    return True
                rest = held[-longest:]
                at += len(chunk)
        finally:
            file.close()
        at = 0
    return False


# Finds operations in a log without reading all that is before them.
NEAR = 1 << 16
"""Bytes of the log that need not be skipped: they are read in less than a millisecond."""
APART = 50
"""Operations between two that are read, too: finding the second costs as much."""


def read_operations(folder: Path, ops: Collection[int]) -> list[LogOperation]:
    """Return the operations with these numbers, in order; the log has them."""
    wanted = sorted(set(ops))
    found: list[LogOperation] = []
    first = 0
    for place, op in enumerate(wanted):
        if place + 1 == len(wanted) or wanted[place + 1] - op > APART:
            found += _between(folder, wanted[first : place + 1])
            first = place + 1
    return found


def _between(folder: Path, ops: list[int]) -> list[LogOperation]:
    """Return operations that are near each other; ``ops`` are ascending."""
    chosen = set(ops)
    follower = LogFollower(folder, position_before_op(folder, ops[0]), verify=True)
    try:
        return [
            operation
            for transaction in follower.read_new(ops[-1])
            for operation in transaction.operations
            if operation.op in chosen
        ]
    finally:
        follower.close()


def position_before_op(folder: Path, op: int) -> Position:
    """Return the end of a transaction before operation ``op``, at most some `NEAR` bytes before it.

    A `LogFollower` that starts there verifies what it reads. Cost: some 20 reads of `NEAR` bytes; a
    compressed file is decompressed as far as it is read.
    """
    low = next((each for each in starts(folder) if each.op < op), START)
    if low == START:
        return START
    file = LogFile(folder, low.file)
    try:
        width = NEAR
        while (found := _boundary(file, low, low.offset + width)) is not None and found.op < op:
            low = found
            width = 2 * width
        while width > NEAR:
            width //= 2
            found = _boundary(file, low, low.offset + width)
            if found is not None and found.op < op:
                low = found
    finally:
        file.close()
    return low


def _boundary(file: LogFile, before: Position, offset: int) -> Position | None:
    """Return the end of the first transaction that ends after ``offset``; None if none is whole.

    before: an earlier position in the file.
    """
    rest = b""
    at = offset
    line_at = None
    while chunk := file.read(at, NEAR):
        at += len(chunk)
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        if line_at is None:
            if not lines:
                rest = b""  # still in the line that ``offset`` is in
                continue
            line_at = at - len(rest) - sum(len(line) + 1 for line in lines[1:])
            lines = lines[1:]
        for line in lines:
            line_at += len(line) + 1
            record = decode_record(line)
            if record is None:
                return None  # a torn tail, or damage, which whoever reads it will name
            if record.chain is not None:
                return Position(before.file, line_at, record.op, record.recorded_at, record.chain)
    return None

"""Finds operations in a log without reading all that is before them."""

from collections.abc import Collection
from pathlib import Path

from recollex_engine.log.files import LogFile
from recollex_engine.log.format import START, Position, decode_record
from recollex_engine.log.reader import LogFollower, LogOperation, starts

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

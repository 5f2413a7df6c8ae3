"""Rewriting the files of a log: some records become stubs, the chain stays.

Each file is replaced as a whole, so a crash leaves every file old or new. The records that stay are
copied byte for byte.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from recollex_engine.errors import CorruptError
from recollex_engine.log import files
from recollex_engine.log.files import (
    LogFile,
    compress_file,
    file_numbers,
    plain_path,
)
from recollex_engine.log.format import (
    START,
    Position,
    Record,
    decode_header,
    decode_record,
    encode_header,
    encode_stub,
    is_sealed,
)
from recollex_engine.storage.disk import Replacement, flush_folder, store_full

_CHUNK = 1 << 20

Left = Callable[[Record], tuple[bytes | None] | None]
"""Takes a record; returns None if it is kept, else a tuple with the payload of its stub."""


def rewrite_log(folder: Path, end: Position, left: Left) -> Position:
    """Replace records by stubs; return the position after the last whole transaction.

    ``end``: the position after the last transaction; what lies after it is dropped. ``left`` is
    called for every record, in order. Only the files of the log are in the folder afterwards.
    Sealed files are compressed. Raises `StoreFullError`; then some files are old and others new,
    and another call with the same ``left`` completes the work.

    No writer may have the log open; readers may, and see that the log was rewritten by its
    operations of the kind "erase". Cost: reading and writing the log, 5 us for an operation, and
    what ``left`` costs.
    """
    after = end
    for number in range(START.file, end.file + 1):
        offset = _rewrite_file(folder, number, end, left)
        if number == end.file:
            after = Position(number, offset, end.op, end.recorded_at, end.chain)
    flush_folder(folder)  # else a loss of power may keep the removals alone
    keep = {plain_path(folder, number).name for number in range(START.file, end.file + 1)}
    for name in os.listdir(folder):  # noqa: PTH208 - names alone
        if (
            name not in keep
        ):  # the other form of a file, a torn tail that was kept, what a crash left
            (folder / name).unlink()
    flush_folder(folder)
    for number in file_numbers(folder):
        if number < end.file:
            compress_file(folder, number)
    files.forget_content()
    return after


def _rewrite_file(folder: Path, number: int, end: Position, left: Left) -> int:
    """Replace one file by its plain form with stubs; return its size."""
    path = plain_path(folder, number)
    source = LogFile(folder, number)
    last = end.offset if number == end.file else None
    try:
        with Replacement(path) as sink:
            parts: list[bytes] = []
            held = 0
            for at, line in _lines(source, last):
                part = _header(line, source) if at == 0 else _stubbed(line, left, source)
                parts.append(part)
                held += len(part)
                if held >= _CHUNK:
                    sink.write(b"".join(parts))
                    parts = []
                    held = 0
            sink.write(b"".join(parts))
            sink.sync()
            sink.take_place()
    except OSError as error:
        raise store_full(error, path, f"rewrite {path.name}") from error
    finally:
        source.close()
    return sink.size


def _lines(source: LogFile, end: int | None) -> Iterator[tuple[int, bytes]]:
    """Yield (offset, line without line feed) of the lines that end by ``end``, in order."""
    at = read = 0
    rest = b""
    while chunk := source.read(read, _CHUNK if end is None else min(_CHUNK, end - read)):
        read += len(chunk)
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield at, line
            at += len(line) + 1
        if read == end:
            break


def _header(line: bytes, source: LogFile) -> bytes:
    position = decode_header(line, source.path)
    if position is None:
        raise CorruptError(source.path, "the header of a log file", repr(line[:80]))
    return encode_header(position.file, position, is_sealed(line))


def _stubbed(line: bytes, left: Left, source: LogFile) -> bytes:
    record = decode_record(line)
    if record is None:
        raise CorruptError(source.path, "a record of the log", repr(line[:80]))
    found = left(record)
    return (line if found is None else encode_stub(record, found[0])) + b"\n"

"""How is a log written anew? With new salts, or with stubs where records were erased.

Each file is replaced as a whole, so a crash leaves every file old or new. The records that stay are
copied byte for byte.

How is a log written anew? Each record as it was, on a line with a new salt.
So the copy's chain of hashes is another one: its lines cannot be matched with those of the first
log. Stubs keep their commitments.
"""

import hashlib
import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson

from recollex_engine.errors import CorruptError
from recollex_engine.log import files
from recollex_engine.log.files import (
    LogFile,
    compress_file,
    file_numbers,
    plain_path,
)
from recollex_engine.log.format import (
    SALT_BYTES,
    START,
    Position,
    Record,
    decode_header,
    decode_record,
    encode_header,
    encode_record,
    encode_stub,
    is_sealed,
    seal_payload,
)
from recollex_engine.log.reader import LogFollower, mentions
from recollex_engine.storage.disk import Replacement, flush_folder, store_full
from recollex_engine.storage.encryption import Cipher


def copied_transactions(
    follower: LogFollower, cipher: Cipher | None, latest: int | None = None
) -> Iterator[list[bytes]]:
    """Yield the lines of each transaction of a log from its beginning, sealed by ``cipher``.

    latest: a recorded time; transactions with a later one get this time, a microsecond more for
    each, so that their order stays. Cost: 20 us for an operation.
    """
    chain = START.chain
    at = START.recorded_at
    for records, _ in follower.read_records():
        said = records[0].recorded_at
        at = said if latest is None or said <= latest else max(latest, at + 1)
        lines = []
        for given in records:
            record = given._replace(recorded_at=at)
            stored = follower.payload_of(given)
            is_stub = given.erased is not None
            if cipher is not None and stored is not None:
                stored = seal_payload(
                    cipher, record.op, record.recorded_at, record.kind, stored, left=is_stub
                )
            salt = None if is_stub else os.urandom(SALT_BYTES)
            copied = record._replace(salt=salt, payload=stored)
            chain = copied.extend(chain)
            last = None if record.chain is None else chain
            lines.append(encode_record(copied._replace(chain=last)) + b"\n")
        yield lines


# The checksum of the stubs of a log: the chain covers the erased records, not what is left.
_OP = struct.Struct("<q")


class StubDigest:
    """The checksum of stubs, fed in the order of the log: of their numbers and payloads.

    >>> digest = StubDigest()
    >>> digest.add(7, b'{"hole":1}')
    >>> digest.said["stubs"]
    1
    """

    def __init__(self) -> None:
        self.count = 0
        self._hash = hashlib.sha256()

    def add(self, op: int, payload: bytes | None) -> None:
        """Add a stub."""
        self.count += 1
        self._hash.update(_OP.pack(op) + (payload or b"") + b"\n")

    @property
    def said(self) -> dict[str, Any]:
        """How many stubs there are, and the first 128 bits of their SHA-256 as hex."""
        return {"stubs": self.count, "sha256": self._hash.hexdigest()[:32]}


def read_stubs(
    folder: Path, kind: str, until_op: int
) -> tuple[StubDigest, Record | None, dict[str, Any]]:
    """Return the digest of the stubs up to an operation, and what the log says about it.

    The latter is the last record of ``kind`` that is not itself a stub, None for none, with the
    digest of the stubs before it; payloads are decrypted. Cost: 0.1 ms a megabyte where the log has
    no stub; otherwise that of reading it.
    """
    digest = StubDigest()
    last = None
    before = digest.said
    if not mentions(folder, [b'"commitment":"']):
        return digest, last, before
    follower = LogFollower(folder)
    try:
        for records, _ in follower.read_records(until_op):
            for record in records:
                if record.erased is not None:
                    digest.add(record.op, follower.payload_of(record))
                elif record.kind.decode() == kind:
                    last = record._replace(payload=follower.payload_of(record))
                    before = digest.said
    finally:
        follower.close()
    return digest, last, before


def problem_of_stubs(
    found: dict[str, Any], before: dict[str, Any], said: dict[str, Any] | None
) -> str | None:
    """Return what is wrong with the stubs of a log; None for nothing.

    ``found``: the digest of all stubs; ``before``: of those before the last erasure's operation;
    ``said``: what that operation says, None if there is none.
    """
    if not found["stubs"] or said == before == found:
        return None
    if said is None:
        return f"{found['stubs']} operations are erased, and no operation 'erase' says so"
    return f"what is left of erased operations: the log says {said}, found {found}"


def said_of_stubs(record: Record | None) -> dict[str, Any] | None:
    """Return the digest of stubs that a record says, as `StubDigest.said` gives it."""
    if record is None or record.payload is None:
        return None
    said: dict[str, Any] | None = orjson.loads(record.payload).get("left")
    return said


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

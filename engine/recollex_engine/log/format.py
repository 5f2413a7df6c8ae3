r"""The bytes of the operation log, of its sealed payloads and of its head.

The log is a folder of files ``00000001.jsonl``, ``00000002.jsonl``, ...; all but the last are
sealed. Each may be compressed whole, as ``00000001.jsonl.gz``; the last one only while no writer
has the log open. Every line is one JSON object without spaces between its tokens, with its fields
in this order (LF is ``\n``)::

    file        = header { transaction }
    header      = {"recollex_log":VERSION,"file":NUMBER,"previous":NUMBER,"op":OP,"at":AT,
                  "chain":HASH} LF
    transaction = { line } last
    line        = {"op":OP,"at":AT,"kind":KIND,"salt":SALT,"payload":OBJECT} LF
                | {"op":OP,"at":AT,"kind":KIND,"commitment":HASH [,"payload":OBJECT]} LF    (a stub)
    last        = {"op":OP,"at":AT,"kind":KIND,"salt":SALT,"chain":HASH,"payload":OBJECT} LF
                | {"op":OP,"at":AT,"kind":KIND,"commitment":HASH,"chain":HASH
                   [,"payload":OBJECT]} LF                                              (a stub)

    OP     = 1, 2, 3, ...: consecutive over all files; a header repeats the last one before it
    AT     = recorded time, microseconds since 1970 UTC: one per transaction, strictly increasing
    KIND   = 1 to 32 of a-z 0-9 _, the first a letter
    SALT   = 16 random bytes, base64 (RFC 4648, section 4) without padding: 22 characters
    HASH   = 32 bytes, the same: 43 characters
    VERSION = 1, or 2 in each file of an encrypted agent: its payloads are sealed (see below)
    OBJECT = the payload, a JSON object on one line (JSON escapes a line feed inside a string)

Chain, with ``||`` for concatenation, numbers as 8 bytes little-endian and chain(0) = 32 zero
bytes::

    commitment(n) = sha256(salt || payload)                    the payload's bytes as on the line
    chain(n)      = sha256(chain(n-1) || op || at || kind || commitment(n))

The last line of a transaction carries the chain up to itself. A header carries the chain up to its
file, so a file can be verified alone. Erasing an operation, or a part of it, leaves a stub: its
kind and commitment stay, its payload and salt are gone. The chain still verifies. Because the salt
was random, nothing about the payload can be guessed from the commitment. A stub may have a payload
of its own: the part of the first one that was not erased, such as the numbers that later
operations count from. The commitment is not of this payload; the `erase` operation has a checksum
of all stubs before it (see `writing.erasure`).

The bytes after the last whole transaction of the last file are a torn tail: that transaction was
never acknowledged.

The payloads of an encrypted agent's log: sealed, each alone.

::

    payload  = {"sealed":SEALED}       on the line, in place of the object
    SEALED   = base64 without padding of the sealed bytes of the object (see `storage.encryption`):
               purpose "log", bound to op || at || what is left (0 or 1) || kind

Numbers, times and kinds of operations stay readable, and the chain of hashes is of the sealed
payloads. So a log can be verified, cut, compressed and copied without its key.

The head of a log, kept beside its folder: an operation that the log must hold, and its chain.

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
import hashlib
import os
import re
import struct
import zlib
from binascii import a2b_base64, b2a_base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from recollex_engine.errors import CorruptError, FormatError, InputError
from recollex_engine.storage.disk import flush, make_folder, open_file, replace_file, write_at
from recollex_engine.storage.encryption import Cipher, purpose_of
from recollex_engine.storage.formats import unknown_format
from recollex_engine.storage.pooled_file import PooledFile

FORMAT_VERSION = 1
SEALED_VERSION = 2
"""The version of a file with sealed payloads."""
SALT_BYTES = 16
NO_CHAIN = bytes(32)
BEFORE_ALL_TIMES = -(2**63)  # the recorded time of a log without operations

_NUMBER = rb"(0|-?[1-9]\d{0,18})"
_HASH = rb"([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048])"  # its last character: two spare bits, both 0
_SALT = rb"([A-Za-z0-9+/]{21}[AQgw])"
_KIND = rb"([a-z][a-z0-9_]{0,31})"
_KIND_TEXT = re.compile(_KIND.decode())
_RECORD = re.compile(
    rb'\{"op":' + _NUMBER + rb',"at":' + _NUMBER + rb',"kind":"' + _KIND + rb'",'
    rb'(?:"salt":"' + _SALT + rb'"|"commitment":"' + _HASH + rb'")'
    rb'(?:,"chain":"' + _HASH + rb'")?'
    rb'(?:,"payload":(\{.*\}))?\}',
    re.DOTALL,
)
_HEADER = re.compile(
    rb'\{"recollex_log":(\d{1,9}),"file":'
    + _NUMBER
    + rb',"previous":'
    + _NUMBER
    + rb',"op":'
    + _NUMBER
    + rb',"at":'
    + _NUMBER
    + rb',"chain":"'
    + _HASH
    + rb'"\}'
)
_NUMBERS = 2**63
_TWO_NUMBERS = struct.Struct("<qq")


@dataclass(frozen=True, slots=True)
class Position:
    """A position between two transactions, and the state of the log before it.

    ``file`` and ``offset`` (in its uncompressed bytes) locate it. ``op``, ``recorded_at`` and
    ``chain`` belong to the last operation before it.
    """

    file: int
    offset: int
    op: int
    recorded_at: int
    chain: bytes

    def to_json(self) -> dict[str, Any]:
        """Return the position as a JSON object, for a manifest."""
        return {
            "file": self.file,
            "offset": self.offset,
            "op": self.op,
            "recorded_at": self.recorded_at,
            "chain": encode_bytes(self.chain).decode(),
        }

    @staticmethod
    def from_json(value: dict[str, Any]) -> "Position":
        """Return the position that `to_json` wrote."""
        chain = decode_bytes(value["chain"].encode())
        return Position(value["file"], value["offset"], value["op"], value["recorded_at"], chain)


START = Position(file=1, offset=0, op=0, recorded_at=BEFORE_ALL_TIMES, chain=NO_CHAIN)
"""The position before the first line of any log."""


class Record(NamedTuple):
    """One parsed line: ``payload`` and ``salt`` are set, or for a stub ``erased``, its commitment.

    A stub has as ``payload`` the part that was not erased, if any. ``chain`` is set on the last
    line of a transaction.
    """

    op: int
    recorded_at: int
    kind: bytes
    salt: bytes | None
    payload: bytes | None
    erased: bytes | None
    chain: bytes | None

    @property
    def commitment(self) -> bytes:
        """sha256(salt || payload): computed, or taken from the stub."""
        if self.erased is not None:
            return self.erased
        return hashlib.sha256((self.salt or b"") + (self.payload or b"")).digest()

    def extend(self, chain: bytes) -> bytes:
        """Return the chain after this record, given the ``chain`` before it."""
        numbers = _TWO_NUMBERS.pack(self.op, self.recorded_at)
        return hashlib.sha256(chain + numbers + self.kind + self.commitment).digest()


def encode_bytes(data: bytes) -> bytes:
    """Return base64 without padding."""
    return b2a_base64(data, newline=False).rstrip(b"=")


def decode_bytes(text: bytes) -> bytes:
    """Return the bytes that `encode_bytes` encoded."""
    return a2b_base64(text + b"=" * (-len(text) % 4))


def check_operations(operations: Sequence[tuple[str, bytes]]) -> None:
    """Raise `InputError` unless each kind and payload is allowed on a line.

    The caller guarantees that a payload is valid JSON; only its first and last byte and line
    feeds are checked.
    """
    for kind in {kind for kind, _ in operations}:
        if not _KIND_TEXT.fullmatch(kind):
            raise InputError(f"kind must be 1 to 32 of a-z, 0-9 and _, got {kind!r}")
    for _, payload in operations:
        if b"\n" in payload or payload[:1] != b"{" or payload[-1:] != b"}":
            raise InputError("payload must be one JSON object encoded on one line")


def encode_transaction(
    before: Position, recorded_at: int, operations: list[tuple[str, bytes]], salts: bytes
) -> tuple[bytes, bytes]:
    """Return the lines of a transaction, and the chain after it.

    ``salts`` holds 16 bytes for each operation, in order; `check_operations` has accepted the
    operations. The function is pure. Cost: about 3 us an operation of 500 bytes.
    """
    sha256 = hashlib.sha256
    chain = before.chain
    op = before.op
    lines = []
    last = before.op + len(operations)
    at = b"%d" % recorded_at
    for kind_text, payload in operations:
        op += 1
        start = (op - before.op - 1) * SALT_BYTES
        salt = salts[start : start + SALT_BYTES]
        kind = kind_text.encode()
        commitment = sha256(salt + payload).digest()
        chain = sha256(chain + _TWO_NUMBERS.pack(op, recorded_at) + kind + commitment).digest()
        end = b"" if op < last else b',"chain":"%b"' % encode_bytes(chain)
        lines.append(
            b'{"op":%d,"at":%b,"kind":"%b","salt":"%b"%b,"payload":%b}\n'
            % (op, at, kind, encode_bytes(salt), end, payload)
        )
    return b"".join(lines), chain


def decode_record(line: bytes) -> Record | None:
    """Return the record on ``line`` (without its line feed), or None if it is not a record."""
    if b"\0" in line:  # a sector that did not reach the disk: JSON has no such byte
        return None
    match = _RECORD.fullmatch(line)
    if match is None:
        return None
    op, at, kind, salt, commitment, chain, payload = match.groups()
    if (salt is not None and payload is None) or not (
        -_NUMBERS <= int(at) < _NUMBERS and -_NUMBERS <= int(op) < _NUMBERS
    ):
        return None
    return Record(
        int(op),
        int(at),
        kind,
        None if salt is None else decode_bytes(salt),
        payload,
        None if commitment is None else decode_bytes(commitment),
        None if chain is None else decode_bytes(chain),
    )


def encode_record(record: Record) -> bytes:
    """Return the line, without line feed, of a record or a stub."""
    if record.erased is not None:
        return encode_stub(record, record.payload)
    end = b"" if record.chain is None else b',"chain":"%b"' % encode_bytes(record.chain)
    return b'{"op":%d,"at":%d,"kind":"%b","salt":"%b"%b,"payload":%b}' % (
        record.op,
        record.recorded_at,
        record.kind,
        encode_bytes(record.salt or b""),
        end,
        record.payload or b"{}",
    )


def erase_line(line: bytes, left: bytes | None = None) -> bytes:
    """Return the stub of a record's ``line``, both without line feed.

    ``left``: the payload of the stub, one JSON object on one line; None for a stub without one.
    Raises `FormatError` for a line that is not a record.
    """
    record = decode_record(line)
    if record is None:
        raise FormatError(f"not a record of the log: {line[:60]!r}")
    return encode_stub(record, left)


def encode_stub(record: Record, left: bytes | None) -> bytes:
    """Return the line, without line feed, of the stub of ``record``; see `erase_line`."""
    chain = b"" if record.chain is None else b',"chain":"%b"' % encode_bytes(record.chain)
    payload = b"" if left is None else b',"payload":%b' % left
    return b'{"op":%d,"at":%d,"kind":"%b","commitment":"%b"%b%b}' % (
        record.op,
        record.recorded_at,
        record.kind,
        encode_bytes(record.commitment),
        chain,
        payload,
    )


def encode_header(file: int, before: Position, sealed: bool = False) -> bytes:
    """Return the first line, with its line feed, of log file ``file``; sealed: its payloads are."""
    version = SEALED_VERSION if sealed else FORMAT_VERSION
    return b'{"recollex_log":%d,"file":%d,"previous":%d,"op":%d,"at":%d,"chain":"%b"}\n' % (
        version,
        file,
        file - 1,
        before.op,
        before.recorded_at,
        encode_bytes(before.chain),
    )


def is_sealed(header: bytes) -> bool:
    """Return whether a header's line says that the payloads of its file are sealed."""
    return header.startswith(b'{"recollex_log":%d,' % SEALED_VERSION)


def decode_header(line: bytes, path: Path | None = None) -> Position | None:
    """Return the position after the header on ``line`` (no line feed), or None if it is not one.

    Raises `FormatError` for a header of another version; ``path``: of its file, for the message.
    """
    match = _HEADER.fullmatch(line)
    if match is None:
        return None
    version, file, previous, op, at, chain = match.groups()
    if int(version) not in (FORMAT_VERSION, SEALED_VERSION):
        known = f"{FORMAT_VERSION} to {SEALED_VERSION}"
        raise unknown_format(path, int(version), known, "" if path else "the log")
    if int(previous) != int(file) - 1:
        return None
    return Position(int(file), len(line) + 1, int(op), int(at), decode_bytes(chain))


_PURPOSE = b"log"
_SEALED = re.compile(rb'\{"sealed":"([A-Za-z0-9+/]+)"\}')
_BOUND = struct.Struct("<qqB")


def seal_payload(
    cipher: Cipher, op: int, recorded_at: int, kind: bytes, payload: bytes, *, left: bool = False
) -> bytes:
    """Return the payload as an encrypted log holds it; ``left``: of a stub. Cost: 4 us."""
    bound = _BOUND.pack(op, recorded_at, left) + kind
    sealed = cipher.seal(purpose_of(_PURPOSE, op), payload, bound)
    return b'{"sealed":"%b"}' % encode_bytes(sealed)


def seal_operations(
    cipher: Cipher, before: int, recorded_at: int, operations: list[tuple[str, bytes]]
) -> list[tuple[str, bytes]]:
    """Return the operations of a transaction after operation ``before`` with sealed payloads."""
    return [
        (kind, seal_payload(cipher, op, recorded_at, kind.encode(), payload))
        for op, (kind, payload) in enumerate(operations, before + 1)
    ]


def open_payload(cipher: Cipher | None, record: Record, path: Path) -> bytes | None:
    """Return the payload of a record as it was given; None if all of it was erased.

    ``path``: of the log, for messages. Raises `CorruptError` for a payload that is not authentic.
    """
    if cipher is None or record.payload is None:
        return record.payload
    match = _SEALED.fullmatch(record.payload)
    found = None
    if match is not None and len(match[1]) % 4 != 1:
        bound = _BOUND.pack(record.op, record.recorded_at, record.erased is not None) + record.kind
        found = cipher.open(purpose_of(_PURPOSE, record.op), decode_bytes(match[1]), bound)
    if found is None:
        what = f"an authentic payload of operation {record.op}"
        raise CorruptError(path, what, "an altered one, or one of another agent")
    return found


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

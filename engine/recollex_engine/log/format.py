r"""The bytes of the operation log.

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
    VERSION = 1, or 2 in each file of an encrypted agent: its payloads are sealed (see
             `log.sealing`)
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
"""

import hashlib
import re
import struct
from binascii import a2b_base64, b2a_base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from recollex_engine.errors import FormatError, InputError
from recollex_engine.storage.formats import unknown_format

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

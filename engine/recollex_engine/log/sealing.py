"""The payloads of an encrypted agent's log: sealed, each alone.

::

    payload  = {"sealed":SEALED}       on the line, in place of the object
    SEALED   = base64 without padding of the sealed bytes of the object (see `storage.cipher`):
               purpose "log", bound to op || at || what is left (0 or 1) || kind

Numbers, times and kinds of operations stay readable, and the chain of hashes is of the sealed
payloads. So a log can be verified, cut, compressed and copied without its key.
"""

import re
import struct
from pathlib import Path

from recollex_engine.errors import CorruptError
from recollex_engine.log.format import Record, decode_bytes, encode_bytes
from recollex_engine.storage.cipher import Cipher, purpose_of

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

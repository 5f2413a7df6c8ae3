"""The checksum of the stubs of a log: the chain covers the erased records, not what is left."""

import hashlib
import struct
from pathlib import Path
from typing import Any

import orjson

from recollex_engine.log.format import Record
from recollex_engine.log.reader import LogFollower, mentions

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

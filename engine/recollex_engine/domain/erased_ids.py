"""What is kept of the ids of what was erased? A keyed digest of each, and nothing of the content.

By it a source that is read again is known to hold what was erased. The key stands beside the
digests, so it only keeps digests of two agents apart: a holder of the log who guesses an id can
confirm that it was erased. In an encrypted agent both are sealed.
"""

import os
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

ERASED_IDS = "ids"
"""The field of the operation `erase`: {"key": KEY, "digests": [DIGEST, ...]}, both in hex."""
_BYTES = 8  # of a digest: among a million ids and a million erased ones, two agree once in 10^7


def new_key() -> str:
    """Return a random key."""
    return os.urandom(16).hex()


def digest(key: str, kind: str, id: str) -> str:
    """Return the digest of the id of a memory, a fact or an event; ``kind``: which of them.

    >>> digest("00" * 16, "memory", "b1")
    '46827df25fd3f577'
    """
    said = f"{kind} {id}".encode("utf-8", "surrogatepass")
    return blake2b(said, key=bytes.fromhex(key), digest_size=_BYTES).hexdigest()


def erased_ids(key: str, ids: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return what an operation says of the ids that it erased; ``ids``: of (kind, id)."""
    return {"key": key, "digests": sorted(digest(key, kind, id) for kind, id in ids)}

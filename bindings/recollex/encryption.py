"""Encryption at rest: keys, and copies of agents with other keys; see docs/encryption.md.

::

    key = recollex.encryption.read_key("memory.key")
    with recollex.open("memory/", key=key) as store:
        ...
"""

from recollex.api.keys import (
    Key,
    KeyringKey,
    KeySource,
    copy,
    new_key,
    read_key,
    rekey,
    write_key,
)

__all__ = ["Key", "KeySource", "KeyringKey", "copy", "new_key", "read_key", "rekey", "write_key"]

"""Content ids: ids computed from a fact or event, so that recording it again gives the same id."""

from typing import Any
from uuid import UUID, uuid5

import orjson

_NAMESPACE = UUID("5b0f8a0e-52ad-5c5b-9a6e-6f1f3f7a1d2c")


def content_id(kind: str, *parts: Any) -> str:
    """Return the UUID (version 5, RFC 9562) of JSON values.

    >>> content_id("fact", "ann", "likes", {"text": "tea"}, None)
    '6f4ff7ec-8d2e-5c0f-b9a2-6f3bb7b9b8b5'
    """
    return str(uuid5(_NAMESPACE, orjson.dumps([kind, *parts]).decode()))

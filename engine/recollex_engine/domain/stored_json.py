"""JSON that was stored beside memories: metadata, sources and mentions of facts."""

from typing import Any

import orjson

from recollex_engine.errors import CorruptError


def read_stored(raw: bytes | str | memoryview, what: str) -> Any:
    """Return the value of stored JSON; raises `CorruptError`, which names ``what``.

    >>> read_stored('{"from": "phone"}', "metadata")
    {'from': 'phone'}
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise CorruptError(what, "JSON", f"{error}: `recollex verify` names the file") from error

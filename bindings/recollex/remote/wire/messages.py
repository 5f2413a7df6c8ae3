"""How do calls become messages? As MessagePack-RPC: arrays, one after another without separator.

::

    [0, id, method, [agent, {arguments}, {options}]]     request: id uint32, agent str or nil
    [1, id, nil, result]    [1, id, [name, message, data], nil]     response
    [2, method, [...]]      notification: "cancel" [id] from a client; from a server "part"
                            [id, [items]], "progress" [id, done, total], "closing" [name, message,
                            data]
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import msgpack

from recollex.remote.wire import codec
from recollex.remote.wire.error_codec import encode_error
from recollex_engine.errors import ProtocolError


# How does a long list travel? In chunks before its response, if the caller asks for them.
def joined(parts: Sequence[list[Any]], result: Any) -> Any:
    """Return the result whose first items came in chunks before the response.

    parts: the chunks, in order. result: that of the response, which has no items.

    >>> joined([[1, 2], [3]], [])
    [1, 2, 3]
    """
    if not parts:
        return result
    items = [item for part in parts for item in part]
    if isinstance(result, list):
        return items + result
    return result.holding(items)  # a FactList, which has fields beside its facts


PROTOCOL = 1
"""The version of the protocol, which both ends send in "hello"."""
REQUEST, RESPONSE, NOTIFICATION = range(3)
MOST_ID = 2**32 - 1
OPTIONS = frozenset({"deadline_ms", "key", "at", "parts", "progress", "traceparent"})
CAPABILITIES = ("cancel", "cuts", "deadlines", "deflate", "keys", "metrics", "parts", "progress")
"""What this version can do beyond calls."""

_NIL = b"\xc0"


class WireRequest(NamedTuple):
    """A received request. options: those of the protocol; their types were checked."""

    id: int
    method: str
    agent: str | None
    arguments: dict[str, Any]
    options: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Notification:
    """A received notification."""

    method: str
    parameters: list[Any]


def read_message(value: object) -> WireRequest | Notification:
    """Return the message of a decoded value. Raises `ProtocolError` for any other value."""
    if not isinstance(value, list) or not value:
        raise ProtocolError("a message is an array: [0, id, method, [...]] or [2, method, [...]]")
    if value[0] == NOTIFICATION and len(value) == 3:
        _, method, parameters = value
        if isinstance(method, bytes):  # as pynvim names what it sends first
            method = method.decode("utf-8", "replace")
        if isinstance(method, str) and isinstance(parameters, list):
            return Notification(method, parameters)
        raise ProtocolError("a notification is [2, method, [...]]")
    if value[0] != REQUEST or len(value) != 4:
        raise ProtocolError("a request is [0, id, method, [agent, {arguments}, {options}]]")
    _, id, method, parameters = value
    if type(id) is not int or not 0 <= id <= MOST_ID:
        raise ProtocolError(f"an id must be an int in [0, {MOST_ID}], got {str(id)[:40]}")
    if not isinstance(method, str) or not isinstance(parameters, list) or len(parameters) != 3:
        raise ProtocolError("a request is [0, id, method, [agent, {arguments}, {options}]]")
    agent, arguments, options = parameters
    if not (agent is None or isinstance(agent, str)) or not isinstance(arguments, dict):
        raise ProtocolError("the parameters are [agent (str or nil), {arguments}, {options}]")
    if not isinstance(options, dict):
        raise ProtocolError("the options are a map")
    if options:
        _check_options(options)
    return WireRequest(id, method, agent, arguments, options)


def _check_options(options: dict[str, Any]) -> None:
    if unknown := options.keys() - OPTIONS:
        raise ProtocolError(
            f"options are {', '.join(sorted(OPTIONS))}, got {str(sorted(map(str, unknown)))[:200]}"
        )
    parts = options.get("parts")
    milliseconds = options.get("deadline_ms")
    if parts is not None and (type(parts) is not int or not 1 <= parts <= 1_000_000):
        raise ProtocolError(f"parts must be an int in [1, 1000000], got {str(parts)[:40]}")
    if milliseconds is not None and (
        type(milliseconds) not in (int, float) or not 0 <= milliseconds <= 1e12
    ):
        raise ProtocolError(f"deadline_ms must lie in [0, 1e12], got {str(milliseconds)[:40]}")
    for name in ("key", "traceparent"):
        if not isinstance(options.get(name), str | None):
            raise ProtocolError(f"{name} must be a str")
    if not isinstance(options.get("progress", False), bool):
        raise ProtocolError("progress must be true or false")
    if not isinstance(options.get("at"), datetime | None):
        raise ProtocolError("at must be a moment")


def request(
    id: int,
    method: str,
    agent: str | None,
    arguments: Mapping[str, Any],
    options: Mapping[str, Any],
    deflate: bool = False,
) -> bytes:
    """Return the bytes of a request. Raises `InputError` for an argument that cannot be sent."""
    return codec.encode([REQUEST, id, method, [agent, arguments, options]], deflate)


def notification(method: str, parameters: list[Any]) -> bytes:
    """Return the bytes of a notification."""
    return codec.encode([NOTIFICATION, method, parameters])


def response(id: int, packed: bytes) -> bytes:
    """Return the bytes of a response to request ``id``; packed: the encoded result."""
    return b"\x94\x01" + _id(id) + _NIL + packed


def refusal(id: int, error: BaseException) -> bytes:
    """Return the bytes of a response that reports an error."""
    return b"\x94\x01" + _id(id) + codec.encode(encode_error(error)) + _NIL


def chunk(id: int, packed_items: bytes) -> bytes:
    """Return the bytes of a notification with a chunk of the result of request ``id``.

    packed_items: an encoded list. The notification is called "part" in the protocol.
    """
    return b"\x93\x02\xa4part\x92" + _id(id) + packed_items


def _id(id: int) -> bytes:
    return bytes((id,)) if id < 128 else bytes(msgpack.packb(id))

"""How does an error travel? As [name, message, data]; it arrives as an error of the same class.

The name is that of a class of `recollex_engine.errors`, which is looked up in one frozen table.
data holds the fields of the error. Any other exception is sent as `InternalError` without its
text, which is in the server's log. Paths of the server's disk are not sent (`without_paths`).
"""

import inspect
import os
import types
from collections.abc import Mapping
from typing import Any

from recollex_engine import errors
from recollex_engine.errors import (
    InternalError,
    ProtocolError,
    RecollexError,
    remade,
    without_paths,
)

ERRORS: Mapping[str, type[RecollexError]] = types.MappingProxyType(
    {
        name: kind
        for name, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, RecollexError)
    }
)
"""Name -> class of every error that may be sent."""

_PLAIN = str | int | float | bool | None
_FILES = "filename", "filename2"
_SYSTEM = "errno", "strerror", *_FILES
"""The fields of an `OSError`."""
_QUOTES = errors.UnknownIdError, errors.MergeCycleError, errors.ForbiddenError
"""Errors whose words are those of the caller: an id may be a path."""


def encode_error(error: BaseException) -> list[Any]:
    """Return an error as [name, message, data].

    >>> encode_error(errors.OverloadedError("too many calls wait", 0.5))
    ['OverloadedError', 'too many calls wait: try again in 0.5 s', {'retry_after': 0.5}]
    """
    if type(error).__name__ not in ERRORS or type(error) is not ERRORS[type(error).__name__]:
        return ["InternalError", "the server failed; its log says how", {}]
    data: dict[str, Any] = {
        name: value if isinstance(value, _PLAIN) else str(value)
        for name, value in vars(error).items()
        if not name.startswith("_")
    }
    if isinstance(error, OSError) and error.errno is not None:
        found = {name: getattr(error, name) for name in _SYSTEM}
        found |= {name: os.fsdecode(found[name]) for name in _FILES if found[name] is not None}
        data |= {name: value for name, value in found.items() if value is not None}
    message = str(error)
    if not isinstance(error, _QUOTES):
        paths = [path for name in ("path", *_FILES) if isinstance(path := data.get(name), str)]
        message = without_paths(message, *paths)
        data = {
            name: without_paths(value, *paths) if isinstance(value, str) else value
            for name, value in data.items()
        }
    if error.__cause__ is not None and type(error.__cause__).__name__ in ERRORS:
        data["cause"] = encode_error(error.__cause__)
    return [type(error).__name__, message, data]


def decode_error(sent: object) -> RecollexError:
    """Return the error that a server sent; `InternalError` for a name that is not known here."""
    if not isinstance(sent, list) or len(sent) != 3 or not isinstance(sent[2], dict):
        raise ProtocolError(f"an error is [name, message, data], got {str(sent)[:200]}")
    name, message, data = sent
    kind = ERRORS.get(name) if isinstance(name, str) else None
    if kind is None:
        return InternalError(f"{name}: {message}")
    fields = {str(name): value for name, value in data.items() if isinstance(value, _PLAIN)}
    args: tuple[Any, ...] = (message,)
    if issubclass(kind, OSError):
        number, text, first, second = (fields.pop(name, None) for name in _SYSTEM)
        if isinstance(number, int):
            args = (number, text, *_names(first, second))
    error = remade(kind, args, fields)
    if "cause" in data:
        error.__cause__ = decode_error(data["cause"])
    return error


def _names(first: object, second: object) -> tuple[object, ...]:
    """Return the arguments of an `OSError` after its number and text."""
    if second is not None:
        return first, None, second
    return () if first is None else (first,)

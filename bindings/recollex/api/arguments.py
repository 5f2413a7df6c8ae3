"""What callers give: lists, names and ids, as the engine wants them."""

import contextlib
from collections.abc import Iterable, Mapping, Set
from datetime import datetime
from typing import Any

from recollex_engine.clock import to_micros
from recollex_engine.domain.act import note
from recollex_engine.domain.checks import MAX_NAME, check_note, check_text
from recollex_engine.errors import InputError


def as_list(value: Any, name: str, kind: str = "a list") -> list[Any]:
    """Return the items of ``value``, which has an order; ``kind`` is what the caller may give."""
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping | Set):
        with contextlib.suppress(TypeError):  # an array without dimensions
            return list(value)
    raise InputError(f"{name} must be {kind}, got {type(value).__name__}")


def as_dict(value: Any) -> Any:
    """Return a mapping as a dict, None as an empty one, anything else as it is, to be refused."""
    if value is None:
        return {}
    return dict(value) if isinstance(value, Mapping) else value


def as_names(value: Any, name: str) -> tuple[str, ...]:
    """Return a list of names as a tuple, None as an empty one."""
    if value is None or (type(value) is tuple and not value):  # as most are
        return ()
    if isinstance(value, str):
        raise InputError(f"{name} must be a list of str, got a str: {name}=[{value[:80]!r}]")
    return tuple(as_list(value, name, "a list of str"))


def names_per_text(value: Any, name: str, count: int) -> list[tuple[str, ...]]:
    """Return the names of each text: one list for all, or a list of lists."""
    values: tuple[Any, ...] = as_names(value, name)
    if values and not isinstance(values[0], str):
        lists = [as_names(each, name) for each in values]
        if len(lists) != count:
            raise InputError(f"{name} must have one list a text: {count} texts, got {len(lists)}")
        return lists
    return [values] * count


def checked_id(value: object, name: str = "id") -> str:
    """Return an id or a name. Raises `InputError` for what cannot be one."""
    check_text(value, name, MAX_NAME)
    return str(value)


def one_or_more(value: Any, name: str) -> tuple[Any, ...]:
    """Return one str as a list of it, and a list as it is."""
    return (value,) if isinstance(value, str) else tuple(as_list(value, name))


def value_per_text(value: Any, name: str, whole: type, kind: str, count: int) -> list[Any]:
    """Return one value a text: ``value`` again and again if it is a ``whole``, else its items."""
    if value is None or isinstance(value, whole):
        return [value] * count
    values = as_list(value, name, f"{kind} or a list of one a text")
    if len(values) != count:
        raise InputError(f"{name} must have one item a text: {count} texts, got {len(values)}")
    return values


def micros_per_text(value: Any, name: str, count: int) -> list[int | None]:
    """Return one time a text, or None, in microseconds: a datetime for all, or a list of them."""
    moments = value_per_text(value, name, datetime, "a datetime with a time zone", count)
    return [None if moment is None else to_micros(moment, name) for moment in moments]


def optional_micros(value: datetime | None, name: str) -> int | None:
    """Return a datetime with a zone in microseconds, None as it is."""
    return None if value is None else to_micros(value, name)


def checked_note(by: Any, why: Any) -> dict[str, str]:
    """Return who makes an operation and why, as its record says it. Raises `InputError`."""
    check_note(by, why)
    return note(by, why)

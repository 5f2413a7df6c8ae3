"""Checks and conversions of the arguments of callers: lists, names, ids and times."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime
from typing import Any

from recollex_engine.clock import Moment, to_micros
from recollex_engine.domain.checks import MAX_NAME, check_note, check_text
from recollex_engine.domain.trust import note
from recollex_engine.errors import InputError
from recollex_engine.text.entity_types import EntityType, check_type


def as_list(value: Any, name: str, kind: str = "a list") -> list[Any]:
    """Return the items of an ordered ``value``; ``kind`` says in errors what a caller may give."""
    if type(value) is list or type(value) is tuple:  # an abstract class costs 1 us to ask
        return list(value)
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping | Set):
        with contextlib.suppress(TypeError):  # an array without dimensions
            return list(value)
    raise InputError(f"{name} must be {kind}, got {type(value).__name__}")


def as_dict(value: Any) -> Any:
    """Return a mapping as a dict, and None as an empty dict.

    Anything else is returned as it is: the engine refuses it.
    """
    if value is None:
        return {}
    return dict(value) if isinstance(value, Mapping) else value


def as_names(value: Any, name: str) -> tuple[str, ...]:
    """Return a list of names as a tuple, and None as an empty tuple."""
    if value is None or (type(value) is tuple and not value):  # as most are
        return ()
    if isinstance(value, str):
        raise InputError(f"{name} must be a list of str, got a str: {name}=[{value[:80]!r}]")
    return tuple(as_list(value, name, "a list of str"))


Entities = Sequence[str] | Mapping[str, str]
"""Names of entities, or a dict of names and their types."""


def as_entities(value: Any) -> tuple[tuple[str, ...], tuple[tuple[str, EntityType], ...]]:
    """Return the names of entities, and (name, type) of those whose type is given.

    value: a list of names, or a dict of name and type, None for a type that is not known.
    """
    if not isinstance(value, Mapping):
        return as_names(value, "entities"), ()
    types = {name: kind for name, kind in value.items() if kind is not None}
    typed = tuple((name, check_type(kind, f"the type of {name!r}")) for name, kind in types.items())
    return tuple(value), typed


def entities_per_text(value: Any, count: int) -> list[Any]:
    """Return `as_entities` for each text, of one list or dict for all texts or a list of them."""
    values: Any = value if isinstance(value, Mapping) else as_names(value, "entities")
    if isinstance(values, tuple) and values and not isinstance(values[0], str):
        if len(values) != count:
            raise InputError(
                f"entities must have one list a text: {count} texts, got {len(values)}"
            )
        return [as_entities(each) for each in values]
    return [as_entities(values)] * count


def names_per_text(value: Any, name: str, count: int) -> list[tuple[str, ...]]:
    """Return a list of names for each text, of one list for all texts or of a list of lists."""
    values: tuple[Any, ...] = as_names(value, name)
    if values and not isinstance(values[0], str):
        lists = [as_names(each, name) for each in values]
        if len(lists) != count:
            raise InputError(f"{name} must have one list a text: {count} texts, got {len(lists)}")
        return lists
    return [values] * count


def checked_id(value: object, name: str = "id") -> str:
    """Return an id or a name. Raises `InputError` for a value that cannot be one."""
    check_text(value, name, MAX_NAME)
    return str(value)


def one_or_more(value: Any, name: str) -> tuple[Any, ...]:
    """Return the items of a list as a tuple, and a str as a tuple of one."""
    if type(value) is tuple:  # as most are: nothing else is asked of its type
        return value
    return (value,) if isinstance(value, str) else tuple(as_list(value, name))


def value_per_text(
    value: Any, name: str, whole: type | tuple[type, ...], kind: str, count: int
) -> list[Any]:
    """Return one value for each text: the items of ``value``, or ``value`` itself.

    whole: the type of a value that holds for all texts; None holds for all texts, too.
    """
    if value is None or isinstance(value, whole):
        return [value] * count
    values = as_list(value, name, f"{kind} or a list of one a text")
    if len(values) != count:
        raise InputError(f"{name} must have one item a text: {count} texts, got {len(values)}")
    return values


def micros_per_text(value: Any, name: str, count: int) -> list[int | None]:
    """Return one time for each text, in microseconds or None, of one time or of a list."""
    moments = value_per_text(value, name, (datetime, str), "a datetime or ISO 8601", count)
    return [None if moment is None else to_micros(moment, name) for moment in moments]


def optional_micros(value: Moment | None, name: str) -> int | None:
    """Return a time in microseconds, and None as it is."""
    return None if value is None else to_micros(value, name)


def checked_note(by: Any, why: Any) -> dict[str, str]:
    """Return who makes an operation and why, as its record holds them. Raises `InputError`."""
    check_note(by, why)
    return note(by, why)

"""The object of a fact as JSON: a name, a number, a boolean, or an object that says its kind."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from recollex.api.json_values import mentions_of
from recollex_engine.domain.literals import FactObject, Text
from recollex_engine.errors import InputError


def read_object(value: Any, moment: Callable[[object, str], datetime]) -> FactObject:
    """Return the object of a fact; ``moment`` reads a time, whose name in errors it takes.

    Raises `InputError`.

    >>> read_object({"text": "blue"}, None), read_object("Rome", None), read_object(3, None)
    (Text(value='blue'), 'Rome', 3)
    """
    if not isinstance(value, Mapping):
        return value  # type: ignore[no-any-return]  # checked by the engine
    if len(value) != 1:
        raise InputError(f"object must have one field, its kind, got {dict(value)!r}")
    ((kind, content),) = value.items()
    if kind == "text":
        return Text(content)
    if kind == "time":
        return moment(content, "object")
    if kind == "mention":
        return mentions_of([content])[0]
    wanted: dict[str, type] = {"entity": str, "boolean": bool, "number": float}
    if kind in wanted:
        number = kind == "number" and isinstance(content, int) and not isinstance(content, bool)
        if isinstance(content, wanted[kind]) or number:
            return content  # type: ignore[no-any-return]
        raise InputError(f"object {kind} must be of its kind, got {content!r}")
    kinds = "entity, text, number, boolean, time or mention"
    raise InputError(f"object must be of kind {kinds}, got {kind!r}")

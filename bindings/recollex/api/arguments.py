"""Checks and conversions of the arguments of callers: lists, names, ids and times."""

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from datetime import datetime
from typing import Any, NoReturn

from recollex_engine.clock import Moment, to_micros, zone_of, zone_said
from recollex_engine.domain.checks import MAX_NAME, check_note, check_text
from recollex_engine.domain.fields import GIVEN
from recollex_engine.domain.statement import Statement, network_number
from recollex_engine.domain.trust import UNKNOWN, Stamp, note, stamp
from recollex_engine.errors import InputError
from recollex_engine.text.entity_types import EntityType, check_type


def instant(value: datetime, name: str) -> int | datetime:
    """Return a time in UTC as microseconds, and one of another zone as it is.

    Raises `errors.InputError` for a time without a zone.
    """
    micros = to_micros(value, name)
    return value if isinstance(value, datetime) and zone_of(value) is not None else micros


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


# Reads the arguments of `Agent.retain` and `Agent.correct`.
def read_statements(texts: list[Any], **given: Any) -> list[Statement]:
    """Return one statement for each text; an option is one value, or a list of one for each text.

    given: some of `fields.GIVEN`, by name, without the vectors. Raises `InputError`.
    """
    for words in texts:
        if isinstance(words, Mapping):
            refuse_text(words)
    count = len(texts)
    get = given.get
    named = entities_per_text(get("entities"), count)
    stamps = _stamps(get("source"), get("trust"), count)
    networks = value_per_text(get("network", "world"), "network", str, "a str", count)
    read = {
        "network": [network_number(each) for each in networks],
        "entities": [names for names, _ in named],
        "types": [types for _, types in named],
        "source": [source for source, _ in stamps],
        "trust": [trust for _, trust in stamps],
    }
    for field in GIVEN:
        if (value := get(field.name)) is not None and field.name not in read:
            read[field.key] = _PER_TEXT[field.form](value, field.name, count)
    if "said_at" in read and "zone" not in read:
        at = get("event_at")
        zones = map(zone_said, at) if isinstance(at, list | tuple) else [zone_said(at)]
        named = list(zones)
        read["zone"] = named if len(named) == count else named * count
    keys = tuple(read)
    return [
        Statement(words, **dict(zip(keys, each, strict=True)))
        for words, *each in zip(texts, *read.values(), strict=True)
    ]


def _texts(value: Any, name: str, count: int) -> list[Any]:
    return value_per_text(value, name, str, "a str", count)


def _objects(value: Any, name: str, count: int) -> list[Any]:
    return list(map(as_dict, value_per_text(value, name, Mapping, "a dict", count)))


_PER_TEXT: dict[str, Callable[[Any, str, int], list[Any]]] = {
    "text": _texts,
    "moment": micros_per_text,
    "names": names_per_text,
    "object": _objects,
}


def refuse_text(given: Any) -> NoReturn:
    """Raise `InputError` for what is no text, with what to write instead."""
    if not isinstance(given, Mapping):
        hint = ": retain_many takes several texts" if isinstance(given, list | tuple) else ""
        raise InputError(f"text must be a str, got {type(given).__name__}{hint}")
    own = next((name for name in ("text", "content", "memory") if name in given), None)
    hint = "give the text alone" if own is None else f"give its {own!r} as the text"
    raise InputError(
        f"text must be a str, got a dict: {hint}, and the rest as options. retain_dialogue takes "
        "dicts with role and content, or with speaker and text"
    )


def _stamps(source: Any, trust: Any, count: int) -> list[Stamp]:
    """Return a stamp for each text; see `read_statements`."""
    if isinstance(source, str | None) and isinstance(trust, str | None):
        return [stamp(source, trust)] * count
    sources = value_per_text(source, "source", str, "a str", count)
    levels = value_per_text(trust, "trust", str, "a str", count)
    return [stamp(*each) for each in zip(sources, levels, strict=True)]


def read_changes(
    event_at: Any,
    network: Any,
    context: Any,
    tags: Any,
    metadata: Any,
    valid_until: Any,
    stamped: Stamp = UNKNOWN,
) -> dict[str, Any]:
    """Return the fields of a `Statement` that a correction changes: those that are not None.

    stamped: of the correction. Raises `InputError`.
    """
    source, level = stamped
    changes = {
        "said_at": optional_micros(event_at, "event_at"),
        "network": None if network is None else network_number(network),
        "context": context,
        "tags": None if tags is None else as_names(tags, "tags"),
        "metadata": None if metadata is None else as_dict(metadata),
        "valid_until": optional_micros(valid_until, "valid_until"),
        "source": source,
        "trust": level if source else None,
    }
    return {name: value for name, value in changes.items() if value is not None}


def read_amendment(tags: Any, metadata: Any, valid_until: Any, zone: Any) -> dict[str, Any]:
    """Return the fields of a `Statement` that an amendment changes; ``...`` and None change none.

    A ``valid_until`` of None takes the end away. Raises `InputError`.
    """
    changes = read_changes(None, None, None, tags, metadata, None)
    if valid_until is not ...:
        changes["valid_until"] = optional_micros(valid_until, "valid_until")
    if zone is not None:
        check_text(zone, "zone", MAX_NAME)
        changes["zone"] = zone
    if not changes:
        raise InputError("say what to amend: tags, metadata, valid_until or zone")
    return changes

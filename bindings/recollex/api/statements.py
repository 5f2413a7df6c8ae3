"""Reads the arguments of `Agent.retain` and `Agent.correct`."""

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from recollex.api.arguments import (
    as_dict,
    as_names,
    entities_per_text,
    micros_per_text,
    names_per_text,
    optional_micros,
    value_per_text,
)
from recollex_engine.domain.fields import GIVEN
from recollex_engine.domain.statement import Statement, network_number
from recollex_engine.domain.trust import UNKNOWN, Stamp, stamp
from recollex_engine.errors import InputError


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


def read_amendment(tags: Any, metadata: Any, valid_until: Any) -> dict[str, Any]:
    """Return the fields of a `Statement` that an amendment changes; ``...`` and None change none.

    A ``valid_until`` of None takes the end away. Raises `InputError`.
    """
    changes = read_changes(None, None, None, tags, metadata, None)
    if valid_until is not ...:
        changes["valid_until"] = optional_micros(valid_until, "valid_until")
    if not changes:
        raise InputError("say what to amend: tags, metadata or valid_until")
    return changes

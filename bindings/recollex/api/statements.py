"""Reads the arguments of `Agent.retain` and `Agent.correct`."""

from collections.abc import Mapping
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
from recollex_engine.domain.statement import Statement, network_number
from recollex_engine.domain.trust import UNKNOWN, Stamp, stamp
from recollex_engine.errors import InputError


def read_statements(
    texts: list[Any],
    *,
    event_at: Any,
    id: Any,
    network: Any,
    context: Any,
    document_id: Any,
    entities: Any,
    tags: Any,
    metadata: Any,
    valid_until: Any,
    source: Any,
    trust: Any,
) -> list[Statement]:
    """Return one statement for each text; an option is one value, or a list of one for each text.

    Raises `InputError`.
    """
    for words in texts:
        if isinstance(words, Mapping):
            refuse_text(words)
    count = len(texts)
    return [
        Statement(
            words,
            said_at=said_at,
            id=own,
            network=network_number(kind),
            context=where,
            document=document,
            speaker=None,
            entities=mentioned[0],
            types=mentioned[1],
            tags=tuple(labels),
            metadata=as_dict(more),
            valid_until=end,
            source=known[0],
            trust=known[1],
        )
        for words, said_at, own, kind, where, document, mentioned, labels, more, end, known in zip(
            texts,
            micros_per_text(event_at, "event_at", count),
            value_per_text(id, "id", str, "a str", count),
            value_per_text(network, "network", str, "a str", count),
            value_per_text(context, "context", str, "a str", count),
            value_per_text(document_id, "document_id", str, "a str", count),
            entities_per_text(entities, count),
            names_per_text(tags, "tags", count),
            value_per_text(metadata, "metadata", Mapping, "a dict", count),
            micros_per_text(valid_until, "valid_until", count),
            _stamps(source, trust, count),
            strict=True,
        )
    ]


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

"""The values inside an operation in JSON: mentions, sources, participants."""

from collections.abc import Mapping, Sequence
from typing import Any

from recollex.api.arguments import as_list
from recollex_engine.domain.literals import Mention, Source
from recollex_engine.errors import InputError


def recorded_start(value: Any) -> Any:
    """Return when an operation is recorded, from MemoTrace's ``record`` and ``record_end``."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return value
    if len(value) != 2 or value[1] is not None:
        raise InputError(
            f"record must be [start, null]: an end is recorded by ARCHIVE_EDGE or RETRO_CORRECT, "
            f"got {value!r}"
        )
    return value[0]


def participant(value: Any) -> tuple[Any, Any]:
    """Return (name, role) of a participant."""
    if isinstance(value, str):
        return value, None
    if isinstance(value, Mapping) and "name" in value and set(value) <= {"name", "role"}:
        return value["name"], value.get("role")
    if isinstance(value, Sequence) and len(value) == 2:
        return value[0], value[1]
    raise InputError(f'participants must be names or {{"name": ..., "role": ...}}, got {value!r}')


def source_of(value: Any) -> Source | None:
    """Return a source that was given as a URI or as an object."""
    if value is None or isinstance(value, Source):
        return value
    if isinstance(value, str):
        return Source(value)
    if isinstance(value, Mapping) and "uri" in value and set(value) <= {"uri", "hash"}:
        return Source(value["uri"], value.get("hash"))
    raise InputError(f'source must be {{"uri": ..., "hash": ...}}, got {value!r}')


def mentions_of(values: Any) -> tuple[Mention, ...]:
    """Return mentions that were given as objects."""
    found = []
    for value in as_list(values, "mentions"):
        if isinstance(value, Mention):
            found.append(value)
        elif isinstance(value, Mapping) and set(value) == {"document", "span", "text"}:
            found.append(Mention(value["document"], value["span"], value["text"]))
        else:
            raise InputError(
                f'a mention must be {{"document": ..., "span": [0, 5], "text": ...}}, got {value!r}'
            )
    return tuple(found)

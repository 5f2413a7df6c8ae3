"""Which writes may be done twice? Those whose ids are made before they are first sent.

A memory whose id is there already changes nothing if all of it is equal, so a retain that is sent
again after a lost connection is stored once, whatever became of the first, even by a server that
was started anew. `argument_preparation` makes the ids.
"""

from collections.abc import Mapping
from typing import Any

from recollex_engine.domain.memory_operations import Retain
from recollex_engine.domain.operations import UpsertEdge, UpsertEntity, UpsertEpisode, UpsertEvent

METHODS = frozenset(
    {
        *("retain", "retain_dialogue", "apply", "transact", "checkpoint"),
        *("facts.add", "facts.add_entity", "events.add", "events.add_episode"),
    }
)
"""Writes that change nothing the second time, if `is_repeatable` says so of their arguments."""
OPERATIONS = (Retain, UpsertEdge, UpsertEntity, UpsertEpisode, UpsertEvent)
"""Operations that change nothing when they are recorded again: their ids are of their content."""
_WORDS = frozenset(kind.word for kind in OPERATIONS if kind is not Retain)


def is_idempotent(method: str, named: Mapping[str, Any]) -> bool:
    """Return whether a write with these arguments is such that doing it twice is doing it once.

    A time of recording must be later than the last, and so is refused the second time. Operations
    that close something find it once.
    """
    operations = named.get("operations", [])
    return (
        method in METHODS
        and named.get("recorded_at") is None
        and isinstance(operations, list)
        and all(map(_is_idempotent, operations))
    )


def _is_idempotent(operation: Any) -> bool:
    if isinstance(operation, Mapping):
        return operation.get("op") in _WORDS
    return isinstance(operation, OPERATIONS)

"""Which writes may be executed twice? Those whose ids are made before they are first sent.

Retaining a memory that exists with the same id and content changes nothing. So a retain that is
sent again after a lost connection is stored once, even if the server was restarted.
`argument_preparation` makes the ids.
"""

from collections.abc import Mapping
from typing import Any

from recollex_engine.domain.memory_operations import Retain
from recollex_engine.domain.operations import UpsertEdge, UpsertEntity, UpsertEpisode, UpsertEvent

METHODS = frozenset(
    {
        "retain",
        "retain_many",
        "retain_dialogue",
        "apply",
        "transact",
        "checkpoint",
        "facts.add",
        "facts.add_entity",
        "events.add",
        "events.add_episode",
    }
)
"""Writes that may be idempotent; `is_idempotent` decides by their arguments."""
OPERATIONS = (Retain, UpsertEdge, UpsertEntity, UpsertEpisode, UpsertEvent)
"""Operations that change nothing when they are recorded again: their ids depend on the content."""
_WORDS = frozenset(kind.word for kind in OPERATIONS if kind is not Retain)


def is_idempotent(method: str, named: Mapping[str, Any]) -> bool:
    """Return whether executing a write with these arguments twice is the same as once.

    A write with ``recorded_at`` is not: the time must be later than the last one, so the second is
    refused. Neither are operations that close something, which is open only once.
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

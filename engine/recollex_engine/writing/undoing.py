"""What does it take to undo operations on facts and events? The state before them, recorded anew.

Nothing is taken out of the log: a version that was opened is followed by one that equals the
version before it, or is closed where there was none. So the history shows what was undone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recollex_engine.domain.fact_schema import EVENT_KINDS
from recollex_engine.errors import InputError
from recollex_engine.state.column_set import NONE
from recollex_engine.state.columns import Columns
from recollex_engine.writing.fact_record import content_of, edges_of, event_fields


@dataclass(frozen=True, slots=True)
class Former:
    """What a fact or an event was before the operations that are undone.

    kind: "fact", "event" or "episode". content: as in a record of the log; None if it did not exist
    or was closed.
    """

    kind: str
    id: str
    content: dict[str, Any] | None


def together_with(columns: Columns, op: int) -> list[int]:
    """Return the operations of one act, ascending: of one transaction, with one ``by`` and ``why``.

    Raises `InputError` for a number that no operation has.
    """
    if not 1 <= op <= columns.op:
        raise InputError(f"op must be the number of an operation, 1 to {columns.op}, got {op}")
    at, by, why = (columns.array(name) for name in ("op_recorded_at", "op_by", "op_why"))
    first = int(np.searchsorted(at, at[op - 1], side="left"))
    end = int(np.searchsorted(at, at[op - 1], side="right"))
    alike = (by[first:end] == by[op - 1]) & (why[first:end] == why[op - 1])
    return [first + 1 + place for place in np.flatnonzero(alike).tolist()]


def former_state(columns: Columns, op: int) -> list[Former]:
    """Return what the act of operation ``op`` changed, as it was before.

    Raises `InputError` if it changed no fact, event or episode, or if one was changed since. Cost:
    a scan of the closed versions, 8 bytes each.
    """
    ops = together_with(columns, op)
    found = [
        *(each for kind in ("fact", "event") for each in _formers(columns, kind, ops)),
    ]
    if not found:
        raise InputError(
            f"operation {op} changed no fact, event or episode: only these can be undone"
        )
    return found


def _formers(columns: Columns, kind: str, ops: Sequence[int]) -> list[Former]:
    chosen = np.array(ops, np.uint64)
    opened = np.flatnonzero(np.isin(columns.array(f"{kind}_op"), chosen)).tolist()
    closed_by = columns.array(f"{kind}_closed_by")
    closed = np.flatnonzero((closed_by > 0) & np.isin(closed_by, chosen)).tolist()
    ids = columns.array(f"{kind}_id")
    previous = columns.array(f"{kind}_previous")
    touched: dict[int, list[int]] = {}
    for version in sorted({*opened, *closed}):
        touched.setdefault(int(ids[version]), []).append(version)
    found = []
    for key, versions in touched.items():
        id = columns.dictionary[f"{kind}_ids"].string(key)
        if columns.facts.newest(kind, key) != versions[-1]:
            raise InputError(f"the {kind} {id!r} was changed since: undo the later change first")
        if closed_by[versions[-1]] > 0 and versions[-1] not in closed:
            raise InputError(f"the {kind} {id!r} was closed since: undo that first")
        before = versions[0]
        if before in opened:
            before = int(previous[before])
            if before != NONE and before not in closed:
                before = NONE  # it was closed by an earlier act
        name = (
            kind if kind == "fact" else EVENT_KINDS[int(columns.array("event_kind")[versions[-1]])]
        )
        content = None if before == NONE else _content(columns, kind, key, before)
        found.append(Former(name, id, content))
    return found


def _content(columns: Columns, kind: str, key: int, version: int) -> dict[str, Any]:
    if kind == "fact":
        return content_of(columns, version)
    return event_content(columns, key, version)


def event_content(columns: Columns, key: int, version: int) -> dict[str, Any]:
    """Return the content of a version of an event, as in its log record."""
    edges = [
        (relation, [columns.entity_name(target), target], qualifier)
        if relation == "has_participant"
        else (relation, target, qualifier)
        for relation, target, qualifier in edges_of(columns, key, version)
    ]
    return event_fields(columns, version) | {"edges": edges}

"""What was done to an agent's memory, when, by whom and why? The entries of its log."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.agents.readable_agent import ReadableAgent
from recollex_engine.clock import from_micros
from recollex_engine.domain.fact_schema import PARTED_FROM
from recollex_engine.domain.removal import RETENTION
from recollex_engine.domain.schema import (
    AMENDS,
    CLOSING,
    ERASE,
    EXTRACT,
    FORM,
    HOLE,
    RETAINING,
    THINK,
)
from recollex_engine.domain.settings import REEMBED
from recollex_engine.errors import CorruptError, InputError
from recollex_engine.log.format import START
from recollex_engine.log.reader import (
    APART,
    LogFollower,
    LogOperation,
    position_before,
    read_operations,
)
from recollex_engine.state import fact_applying
from recollex_engine.state.columns import Columns
from recollex_engine.state.replica import LOG, UNREADABLE
from recollex_engine.state.view import View
from recollex_engine.state.word_pieces import VOCABULARY

_AMEND = "amend"
KINDS = (
    "create",
    *RETAINING,
    _AMEND,
    *CLOSING,
    ERASE,
    EXTRACT,
    THINK,
    FORM,
    RETENTION,
    REEMBED,
    VOCABULARY,
    *sorted(fact_applying.KINDS),
)
"""The kinds of operation that a log may have."""


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One operation of the log.

    op: its number. kind: such as "retain" or "forget"; "amend" is a correction that leaves the
    text. by, why: who did it, and the reason, as they were given. ids: of the memories that it
    records or closes, of the fact, event or episode, or the names of the entities. payload: the
    rest of the log record; None if it was erased. Entries of one transaction have the same
    `recorded_at`. An operation whose memory, fact or event was erased keeps its time, its kind and
    who did it.
    """

    op: int
    recorded_at: datetime
    kind: str
    by: str | None
    why: str | None
    ids: tuple[str, ...]
    payload: dict[str, Any] | None

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as JSON values."""
        return {
            "op": self.op,
            "recorded_at": self.recorded_at.isoformat(),
            "kind": self.kind,
            "by": self.by,
            "why": self.why,
            "ids": list(self.ids),
            "payload": self.payload,
        }


def entries(
    agent: ReadableAgent,
    since: int | None = None,
    until: int | None = None,
    kinds: Collection[str] | None = None,
) -> Iterator[LogEntry]:
    """Yield the operations in the view of ``agent``, in order.

    since, until: recorded in [since, until), microseconds. kinds: only these; None for all. Cost:
    6 us for an operation of 500 bytes, from the file that holds ``since`` on; of rare kinds, that
    of finding each. Raises `InputError` for a kind that is none of `KINDS`.
    """
    _check_kinds(kinds)
    view = agent.view()
    if view is None:
        return
    ops = _of_kinds(view, view.op, kinds)
    if len(ops) * APART < view.op:  # each is found on its own
        at = view.buffer("op_recorded_at")[ops - 1]
        first = 0 if since is None else int(np.searchsorted(at, since))
        end = len(ops) if until is None else int(np.searchsorted(at, until))
        found = entries_of(agent, ops[first:end].tolist())
        yield from (each for each in found if kinds is None or each.kind in kinds)
        return
    folder = agent.folder / LOG
    start = START if since is None else position_before(folder, since)
    follower = LogFollower(folder, start, verify=True)
    try:
        for transaction in follower.read_new(view.op):
            if until is not None and transaction.recorded_at >= until:
                return
            if since is not None and transaction.recorded_at < since:
                continue
            for operation in transaction.operations:
                entry = _entry(operation, view.columns)
                if kinds is None or entry.kind in kinds:
                    yield entry
    finally:
        follower.close()


def newest_entries(
    agent: ReadableAgent,
    before: int | None = None,
    limit: int = 100,
    kinds: Collection[str] | None = None,
) -> list[LogEntry]:
    """Return the last ``limit`` operations in the view of ``agent``, the newest first.

    before: only operations with a lower number; None for all. kinds: as for `entries`. Cost: that
    of a comparison of all kinds, and of finding and reading ``limit`` operations.
    """
    _check_kinds(kinds)
    view = agent.view()
    if view is None:
        return []
    found = list[LogEntry]()
    end = view.op if before is None else min(before - 1, view.op)
    ops = _of_kinds(view, max(0, end), kinds)
    while len(ops) and len(found) < limit:
        some = ops[-limit:]
        ops = ops[:-limit]
        read = entries_of(agent, some.tolist())
        chosen = [entry for entry in read if kinds is None or entry.kind in kinds]
        found += chosen[::-1][: limit - len(found)]
    return found


def _of_kinds(view: View, end: int, kinds: Collection[str] | None) -> npt.NDArray[np.int64]:
    """Return the operations up to ``end`` that may have one of ``kinds``, ascending."""
    if kinds is None:
        return np.arange(1, end + 1)
    recorded = set(kinds) | (set(RETAINING) if _AMEND in kinds else set())  # see `_entry`
    labels = [view.columns.dictionary["labels"].get(f"k:{kind}") for kind in recorded]
    known = [label for label in labels if label is not None]
    return np.flatnonzero(np.isin(view.buffer("op_kind")[:end], known)) + 1


def entries_of(agent: ReadableAgent, ops: Collection[int]) -> list[LogEntry]:
    """Return the entries of operations by their numbers, in order; of those in the agent's view."""
    view = agent.view()
    if view is None:
        return []
    wanted = [op for op in ops if 0 < op <= view.op]
    return [_entry(each, view.columns) for each in read_operations(agent.folder / LOG, wanted)]


def _check_kinds(kinds: Collection[str] | None) -> None:
    for kind in kinds or ():
        if kind not in KINDS:
            raise InputError(f"op must be some of {', '.join(KINDS)}, got {kind!r}")


def _entry(operation: LogOperation, columns: Columns) -> LogEntry:
    payload = operation.payload or {}
    try:
        ids = _ids(operation.kind, payload, columns) if payload and HOLE not in payload else ()
    except UNREADABLE as error:
        expected = f"a payload of operation {operation.op} that fits its kind"
        raise CorruptError(Path(LOG), expected, repr(error)) from error
    return LogEntry(
        operation.op,
        from_micros(operation.recorded_at),
        _AMEND if AMENDS in payload else operation.kind,
        payload.get("by"),
        payload.get("why"),
        tuple(ids),
        None if HOLE in payload else operation.payload,
    )


def _ids(kind: str, payload: dict[str, Any], columns: Columns) -> list[str]:
    """Return the ids of the memories, fact, event or entities of an operation."""
    if kind in CLOSING:
        return columns.dictionary["ids"].strings(columns.array("id")[payload["memories"]])
    if kind == "upsert_entity":
        return [payload["entity"][0]]
    if kind == "merge_entity":
        return [payload["source"][0], payload["target"][0]]
    if kind == "split_entity":
        return [payload[each][0] for each in ("source", PARTED_FROM) if each in payload]
    if kind == "link":
        return [payload["source"]]
    return [payload["id"]] if "id" in payload else []

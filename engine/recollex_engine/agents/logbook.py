"""What was done to an agent's memory, and what changed between two moments?"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.agents.readable_agent import ReadableAgent
from recollex_engine.clock import from_micros
from recollex_engine.domain.fact_schema import PARTED_FROM
from recollex_engine.domain.filter import Filter
from recollex_engine.domain.ids import ERASED_IDS, digest
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
from recollex_engine.facts.events import Event, find_events, read_event
from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.facts import Fact, read_fact
from recollex_engine.log.format import START
from recollex_engine.log.reader import (
    APART,
    LogFollower,
    LogOperation,
    position_before,
    read_operations,
)
from recollex_engine.ranking.filters import passing
from recollex_engine.recall.memory import Memory, read_memories
from recollex_engine.state import fact_applying
from recollex_engine.state.columns import Columns
from recollex_engine.state.replica import LOG, UNREADABLE
from recollex_engine.state.view import View
from recollex_engine.state.word_pieces import VOCABULARY


# What changed between two moments? Two views of an agent, compared.
@dataclass(frozen=True, slots=True)
class Difference:
    """The memories, facts and events that only one of two views shows.

    added: memories that are open only in the later view. closed: memories that were open in the
    earlier view and no longer are; each says how it was closed. added_facts, closed_facts: versions
    of facts, likewise. added_events, closed_events: events that only one view shows, each as that
    view shows it; so an event is closed together with a fact that it includes. A correction is in
    both. A memory that was added and closed between the views is in neither; the log has it. All
    are in recorded order.
    """

    added: list[Memory] = field(default_factory=list)
    closed: list[Memory] = field(default_factory=list)
    added_facts: list[Fact] = field(default_factory=list)
    closed_facts: list[Fact] = field(default_factory=list)
    added_events: list[Event] = field(default_factory=list)
    closed_events: list[Event] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether anything changed."""
        memories = self.added or self.closed
        facts = self.added_facts or self.closed_facts
        return bool(memories or facts or self.added_events or self.closed_events)

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as JSON values."""
        return {name: [each.to_dict() for each in getattr(self, name)] for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Differing:
    """What only one of two views shows, by numbers, before it is read.

    added, closed: memories; added_facts, closed_facts: versions of facts; added_events,
    closed_events: numbers of events. See `Difference`.
    """

    view: View
    then: FactView
    now: FactView
    added: list[int]
    closed: list[int]
    added_facts: list[int]
    closed_facts: list[int]
    added_events: list[int]
    closed_events: list[int]

    @property
    def counts(self) -> dict[str, int]:
        """How many each list has."""
        return {name: len(getattr(self, name)) for name in Difference.__slots__}

    def read(self, most: int | None = None) -> Difference:
        """Return the first ``most`` of each list; None for all. Cost: 5 us each."""
        return Difference(
            read_memories(self.view, self.added[:most]),
            read_memories(self.view, self.closed[:most]),
            [read_fact(self.now, version) for version in self.added_facts[:most]],
            [read_fact(self.now, version) for version in self.closed_facts[:most]],
            _read(self.now, self.added_events[:most]),
            _read(self.then, self.closed_events[:most]),
        )


def difference(earlier: View | None, later: View | None) -> Difference:
    """Return the difference of two views of an agent; None is an empty view.

    Cost: O(memories + versions of facts), 30 us for each event, and 5 us for each result.
    """
    found = differing(earlier, later)
    return Difference() if found is None else found.read()


def differing(
    earlier: View | None,
    later: View | None,
    worlds: tuple[int | None, int | None] = (None, None),
) -> Differing | None:
    """Return what only one of two views of an agent shows; None if ``later`` is empty.

    worlds: show of each view only what was so at this time of the world, microseconds; None for
    all. Then a memory may have ceased to be shown that is open in both views.
    """
    if later is None:
        return None
    before = np.zeros(later.memories, np.uint8)
    if earlier is not None:
        before[: earlier.memories] = passing(earlier, Filter(as_world=worlds[0]), earlier.open)
    after = passing(later, Filter(as_world=worlds[1]), later.open)
    then = FactView(later.columns, earlier.op if earlier is not None else 0, worlds[0])
    now = FactView(later.columns, later.op, worlds[1])
    were = then.all()
    are = now.all()
    began, ended = _events(then, now)
    return Differing(
        later,
        then,
        now,
        np.flatnonzero((before == 0) & (after == 1)).tolist(),
        np.flatnonzero((before == 1) & (after == 0)).tolist(),
        np.setdiff1d(are, were, assume_unique=True).tolist(),
        np.setdiff1d(were, are, assume_unique=True).tolist(),
        began,
        ended,
    )


def _events(then: FactView, now: FactView) -> tuple[list[int], list[int]]:
    """Return the events that ``now`` shows newly or in another version, and those of ``then``."""
    were, are = (
        {key: view.version_of(key, "event") for key in find_events(view)} for view in (then, now)
    )
    return (
        [key for key, version in are.items() if were.get(key) != version],
        [key for key, version in were.items() if are.get(key) != version],
    )


def _read(view: FactView, keys: list[int]) -> list[Event]:
    return [event for key in keys if (event := read_event(view, key)) is not None]


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


# Which ids were forgotten, archived or erased in an agent? A source that is read again asks.
GONE = ("forget", "archive", ERASE)
"""The kinds of operation that take memories out of later views."""


class GoneIds:
    """The ids of memories that operations of the kinds `GONE` have taken away.

    An id stays among them if a caller retains it again: the caller of this looks for an open
    memory first.
    """

    def __init__(self, entries: Iterable[LogEntry]) -> None:
        self._closed: set[str] = set()
        self._erased: dict[str, set[str]] = {}  # key -> digests
        for entry in entries:
            self._closed.update(entry.ids)
            if said := (entry.payload or {}).get(ERASED_IDS):
                self._erased.setdefault(said["key"], set()).update(said["digests"])

    def __contains__(self, id: str) -> bool:
        return id in self._closed or self.was_erased("memory", id)

    def was_erased(self, kind: str, id: str) -> bool:
        """Return whether a memory, a fact or an event with an id was erased."""
        return any(digest(key, kind, id) in known for key, known in self._erased.items())

"""Which memories are due by the retention rules of an agent? Found in its columns, and forgotten.

A writer forgets what is due in a transaction of its own, right after each transaction that
records something and before any other; its recorded time is one microsecond later. So the log
says what was forgotten, when and by which rule, and a replay repeats it without knowing the rules.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import DAY
from recollex_engine.domain.removal import RETENTION, Retention
from recollex_engine.domain.schema import NETWORKS
from recollex_engine.domain.trust import note
from recollex_engine.errors import CorruptError
from recollex_engine.facts.fact_view import Ordinals
from recollex_engine.log.reader import LogFollower, position_before
from recollex_engine.state.columns import Columns

LEAP = 366 * DAY
"""A gap between two recorded times from which the clock may have been set wrongly."""


def rules_in_force(columns: Columns, op: int, log: Path) -> tuple[Retention, ...]:
    """Return the rules of the last operation `retention` up to ``op``; () without one.

    Cost: one look-up where there never were rules; else 4 bytes for each operation, and the file of
    the log that has them.
    """
    label = columns.dictionary["labels"].get(f"k:{RETENTION}")
    if label is None:
        return ()
    places = np.flatnonzero(columns.array("op_kind")[:op] == label)
    if not len(places):
        return ()
    last = int(places[-1])
    recorded_at = int(columns.array("op_recorded_at")[last])
    follower = LogFollower(log, position_before(log, recorded_at))
    try:
        said = [
            operation.payload or {}
            for transaction in follower.read_new(last + 1)
            for operation in transaction.operations
            if operation.kind == RETENTION
        ]
    finally:
        follower.close()
    try:
        return tuple(Retention.from_dict(each) for each in said[-1]["rules"])
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise CorruptError(log, f"rules in operation {last + 1}", repr(error)) from error


def confirmed(columns: Columns, now: int) -> int:
    """Return the time that rules take for now: that of the clock, unless it has just leapt.

    After a gap of more than `LEAP` the time before the gap holds until a day has been recorded: a
    clock that is a century ahead for a while makes nothing go.
    """
    times = columns.array("op_recorded_at")
    op = columns.op_at(now - DAY)
    if 0 < op < columns.op and times[op - 1] + LEAP < times[op] <= now:
        return int(times[op - 1])
    return now


class RetentionRules:
    """The rules of an agent, and up to which memory each of them has been applied.

    Threads: one at a time; the caller holds the writer's lock.
    """

    def __init__(self, rules: Sequence[Retention]) -> None:
        self.rules = tuple(rules)
        self._done = [0] * len(self.rules)  # memories below it have gone, or are not the rule's

    def __bool__(self) -> bool:
        return bool(self.rules)

    def due(self, columns: Columns, now: int) -> list[tuple[str, dict[str, Any]]]:
        """Return the operations that forget what is due at ``now``: at most one for each rule.

        A later rule does not see what an earlier one forgets. Cost: for an age, a bisection and the
        memories that went; for a count, a few bytes for each memory since the last that went.
        """
        operations: list[tuple[str, dict[str, Any]]] = []
        gone: set[int] = set()
        for place, rule in enumerate(self.rules):
            first = self._done[place]
            end = bound(columns, rule, now, first, gone)
            if end > first:
                found = _kept(columns, rule, first, end)
                memories = [each for each in found.tolist() if each not in gone]
                gone.update(memories)
                self._done[place] = end
                if memories:
                    said = note(RETENTION, rule.why)
                    operations.append(("forget", {"memories": memories, **said}))
        return operations


def bound(columns: Columns, rule: Retention, now: int, first: int, gone: set[int]) -> int:
    """Return the memory before which all memories of the rule's network are due.

    ``first``: an earlier bound; ``gone``: memories that are due by other rules.
    """
    end = first
    if rule.micros is not None:
        op = columns.op_at(now - rule.micros - 1)
        end = max(end, int(columns.array("op_memories")[op - 1]) if op else 0)
    if rule.count is not None:
        count = columns.memories
        is_open = columns.array("closed_by")[first:count] == 0
        found = np.flatnonzero(is_open & _of_network(columns, rule, first, count)) + first
        if gone:
            found = found[~np.isin(found, list(gone))]
        if len(found) >= rule.count:
            end = max(end, int(found[-rule.count]) if rule.count else count)
    return end


def _kept(columns: Columns, rule: Retention, first: int, end: int) -> Ordinals:
    """Return the memories of [first, end) that are due by ``rule``.

    These are open ones, and archived ones that have no newer version.
    """
    closed = columns.array("closed_by")[first:end]
    found = _of_network(columns, rule, first, end) & (closed == 0)
    archive = columns.dictionary["labels"].get("k:archive")
    if archive is not None:
        ended = np.flatnonzero(closed)
        kinds = columns.array("op_kind")[closed[ended].astype(np.int64) - 1]
        ended = ended[(kinds == archive) & (columns.array("forgotten_by")[first:end][ended] == 0)]
        for place in ended[_of_network(columns, rule, first, end)[ended]].tolist():
            memory = first + place
            found[place] = columns.newest_of(int(columns.array("id")[memory])) == memory
    return np.flatnonzero(found) + first


def _of_network(columns: Columns, rule: Retention, first: int, end: int) -> npt.NDArray[np.bool_]:
    if rule.network is None:
        return np.ones(end - first, bool)
    same: npt.NDArray[np.bool_] = columns.array("network")[first:end] == NETWORKS.index(
        rule.network
    )
    return same


def to_erase(columns: Columns, rules: Sequence[Retention], now: int) -> Ordinals:
    """Return the memories to erase by the rules that erase: int64[n], ascending.

    These are open and closed ones before a rule's bound, and those that it has forgotten, of ids
    that have no other version.
    """
    count = columns.memories
    ids = columns.array("id")[:count]
    erased = columns.array("closed_by")[:count] == columns.array("op")[:count]
    goes = np.zeros(count, bool)
    for rule in rules:
        if rule.erase:
            end = bound(columns, rule, now, 0, set())
            goes[:end] |= _of_network(columns, rule, 0, end)
            goes |= _forgotten_by(columns, rule)
    goes &= ~erased
    stays = np.unique(ids[~goes & ~erased])
    return np.flatnonzero(goes & ~np.isin(ids, stays))


def _forgotten_by(columns: Columns, rule: Retention) -> npt.NDArray[np.bool_]:
    """Return which memories the rule has forgotten: bool[memories]."""
    count = columns.memories
    labels = columns.dictionary["labels"]
    by = labels.get(f"b:{RETENTION}")
    why = labels.get(f"y:{rule.why}")
    if by is None or why is None:
        return np.zeros(count, bool)
    mine = (columns.array("op_by") == by) & (columns.array("op_why") == why)
    closed, forgotten = (columns.array(name)[:count] for name in ("closed_by", "forgotten_by"))
    ops = np.where(forgotten != 0, forgotten, closed).astype(np.int64)
    found: npt.NDArray[np.bool_] = (ops != 0) & mine[ops - 1]
    return found

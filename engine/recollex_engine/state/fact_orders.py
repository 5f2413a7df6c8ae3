"""Versions of facts in the order of a column: by start, end, subject, predicate or object.

An order is a few sorted runs of versions, each at least twice as long as the next, so versions
that are added are sorted among their like and every version is merged few times. Versions in no
run yet are scanned. Nothing is stored: an order is made when a question first needs it.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recollex_engine.state.column_set import ColumnSet
from recollex_engine.storage.column import read_only
from recollex_kernels.memories.facts import RUN, extremes_in_order

UNSORTED = 4096
"""The most versions that are scanned because no run holds them: 10 us."""
OTHER = {"fact_start": "fact_end", "fact_end": "fact_start"}
"""The orders that also keep the extremes of another column, by the names of the columns."""


@dataclass(frozen=True, slots=True)
class SortedRun:
    """The versions [first, end), sorted by a column, equal ones by number.

    order: uint32[n], the versions. extremes: int64[2, n / 64], see `extremes_in_order`.
    """

    first: int
    end: int
    order: npt.NDArray[np.uint32]
    extremes: npt.NDArray[np.int64]


class FactOrder:
    """The order of one column. Size: 4 bytes a version, and half a byte for the extremes.

    Threads: any number.
    """

    def __init__(self, columns: ColumnSet, name: str) -> None:
        self._column: Callable[[], npt.NDArray[np.int64]] = lambda: read_only(columns.array(name))
        other = OTHER.get(name)
        self._other: Callable[[], npt.NDArray[np.int64]] | None = (
            None if other is None else lambda: read_only(columns.array(other))
        )
        self._lock = threading.Lock()
        self._runs: tuple[SortedRun, ...] = ()

    def runs(self, count: int) -> tuple[SortedRun, ...]:
        """Return runs of all but at most `UNSORTED` of the first ``count`` versions.

        They begin with version 0 and lack none up to the end of the last, which may lie beyond
        ``count``. Cost: 0.2 us; 100 ns for each of a million versions when they are first sorted.
        """
        runs = self._runs
        if count - _end(runs) <= UNSORTED:
            return runs
        with self._lock:
            runs = self._runs
            if count - _end(runs) > UNSORTED:
                self._runs = runs = self._extended(runs, count)
        return runs

    def _extended(self, runs: tuple[SortedRun, ...], end: int) -> tuple[SortedRun, ...]:
        values = self._column()
        order = np.arange(_end(runs), end, dtype=np.uint32)
        while runs and runs[-1].end - runs[-1].first < 2 * len(order):
            order = np.concatenate((runs[-1].order, order))
            runs = runs[:-1]
        # the sort knows sorted stretches, and merges them
        order = order[np.argsort(values[order], kind="stable")]
        extremes = np.empty((2, 0), np.int64)
        if self._other is not None:
            extremes = extremes_in_order(self._other(), read_only(order))
        return *runs, SortedRun(_end(runs), end, read_only(order), read_only(extremes))


def _end(runs: tuple[SortedRun, ...]) -> int:
    return runs[-1].end if runs else 0


class ClosedRuns:
    """Which whole runs of versions, in recorded order, have no open version left.

    Runs whose last version was closed since this was computed count as open: they are looked at.
    Threads: any number.
    """

    def __init__(self, columns: ColumnSet) -> None:
        self._columns = columns
        self._negated = read_only(np.empty((2, 0), np.int64))

    def negated(self, count: int) -> npt.NDArray[np.int64]:
        """Return the operation by which each run was closed, as `select_facts` takes extremes.

        Shape: int64[2, r]; the first row holds the operations below zero, the second the greatest
        number. A run is closed for the operations from -n on, so where n > -op - 1. Cost: O(1);
        computed again for 1 ns a version when there is an eighth more.
        """
        known = self._negated.shape[1] * RUN
        if count > known + known // 8 + UNSORTED:
            closed = self._columns.array("fact_closed_by")[: count // RUN * RUN].reshape(-1, RUN)
            last = np.where((closed > 0).all(1), closed.max(1), 2**63 - 1).astype(np.int64)
            self._negated = read_only(np.stack((-last, np.full(len(last), 2**63 - 1))))
        return self._negated


class FactOrders:
    """The orders of the columns of facts of one agent, made as they are needed.

    Threads: any number.
    """

    def __init__(self, columns: ColumnSet) -> None:
        self._columns = columns
        self.closed: ClosedRuns = ClosedRuns(columns)
        self._orders: dict[str, FactOrder] = {}

    def of(self, name: str) -> FactOrder:
        """Return the order of a column of `fact_schema.FACT`."""
        found = self._orders.get(name)
        if found is None:
            found = self._orders.setdefault(name, FactOrder(self._columns, name))
        return found

"""The derived state of facts and events: chain heads, newest versions, merges.

It is kept beside the columns of an agent and computed on opening, in 15 ms a million versions.

Versions of facts in the order of a column: by start, end, subject, predicate or object.
An order is a few sorted runs of versions, each at least twice as long as the next, so versions
that are added are sorted among their like and every version is merged few times. Versions in no
run yet are scanned. Nothing is stored: an order is made when a question first needs it.
"""

import threading
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.fact_schema import ALIAS_OF, CHAINS, RELATIONS, TARGETS
from recollex_engine.state.column_set import NONE, Chain, ColumnSet, newest, put_newest
from recollex_engine.state.mentions import Identities
from recollex_engine.storage.column import read_only
from recollex_engine.storage.dictionary import Dictionary
from recollex_kernels.memories.facts import RUN, Columns, Facts, extremes_in_order

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


TABLES = ("fact", "event", "node", "phrase")
"""The tables whose items are in the order of their operations; a view counts them by operation."""
CACHED_MERGES = 16
"""The most sets of merges that are cached, for views of different operations."""

SELECTED = (
    "fact_closed_by",
    "fact_start",
    "fact_end",
    "fact_subject",
    "fact_predicate",
    "fact_kind",
    "fact_object",
)
"""The columns by which facts are selected."""
GATHERED = (
    ("fact_id", "fact_subject", "fact_kind", "fact_object", "fact_predicate", "fact_zone"),
    ("fact_start", "fact_end", "fact_op", "fact_closed_by", "op_recorded_at"),
    ("fact_confidence",),
    ("fact_evidence_end", "fact_evidence", "id"),
    ("entity_name",),
)
"""The columns that facts are read from, as `gather_facts` takes them."""

INCOMING = {RELATIONS.index(relation): kind for relation, kind in TARGETS.items()}
"""The kind of an edge's target, by the number of its relation."""


class FactTables:
    """The chain heads and columns of facts and events, after ``applied`` runs of operations.

    The heads are taken at once, and a column when it is first needed, so after the heads: every
    entry that a head names is in it (see `chain.Chain`). ``counts``: how many items each table has;
    later items of a column mean nothing. Views of this and all earlier operations may share one.
    """

    __slots__ = (
        "_columns",
        "_data",
        "_dictionaries",
        "_gathered",
        "_selected",
        "applied",
        "counts",
        "heads",
        "incoming",
    )

    def __init__(self, columns: ColumnSet, state: "FactState") -> None:
        self.applied: int = state.applied  # first: a run applied meanwhile makes this outdated
        self.counts: dict[str, int] = {table: columns[f"{table}_op"].count for table in TABLES}
        self.heads: dict[str, npt.NDArray[np.uint32]] = {
            name: chain.head for name, chain in state.chains.items()
        }
        self.incoming: dict[str, npt.NDArray[np.uint32]] = {
            kind: chain.head for kind, chain in state.incoming.items()
        }
        self._columns = columns
        self._dictionaries = state.dictionaries
        self._data: dict[str, Any] = {}
        self._selected: Facts | None = None
        self._gathered: Columns | None = None

    def readable(self, name: str) -> npt.NDArray[Any]:
        """Return a column with its spare capacity, read-only, for kernels."""
        return read_only(self._columns[name].buffer)

    @property
    def selected(self) -> Facts:
        """The columns that `select_facts` takes."""
        if self._selected is None:
            self._selected = cast(Facts, tuple(map(self.readable, SELECTED)))
        return self._selected

    @property
    def gathered(self) -> Columns:
        """The columns and strings that `gather_facts` takes."""
        if self._gathered is None:
            columns = [tuple(map(self.readable, names)) for names in GATHERED]
            parts = [each if len(each) > 1 else each[0] for each in columns]
            flat = [self._dictionaries[name].flat for name in ("fact_ids", "labels", "ids")]
            strings = [(read_only(heap), read_only(ends)) for heap, ends in flat]
            self._gathered = cast(Columns, (*parts, *strings))
        return self._gathered

    def data(self, name: str) -> Any:
        """Return a column with its spare capacity, for reading single items: 50 ns each."""
        try:
            return self._data[name]
        except KeyError:
            found = self._data[name] = self._columns[name].buffer.data
            return found


class FactState:
    """The derived state of facts, events and entities, over the columns of one agent.

    Threads: one writer extends; any number read. A reader takes a chain's head first and its
    columns afterwards (see `chain.Chain`).
    """

    def __init__(self, columns: ColumnSet, dictionaries: Mapping[str, Dictionary]) -> None:
        self._columns = columns
        self.dictionaries = dictionaries
        array = columns.array
        self._newest = {
            kind: newest(array(f"{kind}_id"), max(64, dictionaries[f"{kind}_ids"].count * 3 // 2))
            for kind in ("fact", "event")
        }
        self.chains: dict[str, Chain] = {
            keys: Chain(array(keys), _above(array(keys))) for keys in CHAINS
        }
        self.incoming: dict[str, Chain] = {
            kind: self._incoming(kind) for kind in ("fact", "entity", "event")
        }
        alias = dictionaries["labels"].get(f"p:{ALIAS_OF}")
        self.aliases: list[int] = []
        if alias is not None:
            self.aliases = np.flatnonzero(array("fact_predicate") == alias).tolist()
        self._identity_ops: list[int] = []
        self.linked: set[int] = set()
        if self.aliases or columns["merge_op"].count:
            closed = array("fact_closed_by")[self.aliases]
            changes = [
                *array("merge_op").tolist(),
                *array("split_op").tolist(),
                *array("fact_op")[self.aliases].tolist(),
                *closed[closed > 0].tolist(),
            ]
            self._identity_ops = sorted(changes)
            self.linked = {
                *array("merge_source").tolist(),
                *array("merge_target").tolist(),
                *array("fact_subject")[self.aliases].tolist(),
                *array("fact_object")[self.aliases].tolist(),
            }
        """The entities that any merge or alias ever named; all others were never merged."""
        self._identities: dict[int, Identities] = {}
        self.applied = 0  # runs of operations since opening
        self.orders: FactOrders = FactOrders(columns)
        self._tables = FactTables(columns, self)

    def tables(self) -> FactTables:
        """Return the newest tables, the same while nothing was applied. Cost: 0.2 us."""
        tables = self._tables
        if tables.applied != self.applied:
            tables = self._tables = FactTables(self._columns, self)
        return tables

    def _incoming(self, kind: str) -> Chain:
        """Return the chains of the edges that lead to nodes of one kind."""
        relation = self._columns.array("edge_relation")
        target = self._columns.array("edge_target")
        if not len(relation):
            return Chain(np.empty(0, np.uint32), 0)
        wanted = [number for number, each in INCOMING.items() if each == kind]
        places = np.flatnonzero(np.isin(relation, wanted))
        chain = Chain(np.empty(0, np.uint32), _above(target[places]))
        chain.head[target[places]] = places.astype(np.uint32)
        return chain

    def newest(self, kind: str, key: int) -> int:
        """Return the newest version, open or not, whose id is number ``key``; NONE if none."""
        newest = self._newest[kind]  # it may lag behind the dictionary
        return int(newest[key]) if key < len(newest) else NONE

    def extend_newest(self, kind: str, first: int, keys: Sequence[int]) -> None:
        """Record that the versions from ``first`` on are the newest of ids ``keys``."""
        newest = self._newest[kind]
        count = self.dictionaries[f"{kind}_ids"].count
        if count > len(newest):
            grown = np.full(count * 3 // 2, NONE, np.uint32)
            grown[: len(newest)] = newest
            self._newest[kind] = newest = grown
        put_newest(newest, keys, first)

    def head(self, keys: str, key: int) -> int:
        """Return the newest entry of a chain of `CHAINS`; NONE if it is empty."""
        head = self.chains[keys].head
        return head.item(key) if key < len(head) else NONE

    def extend_chain(
        self, name: str, keys: Sequence[int], others: Mapping[str, Sequence[Any]]
    ) -> None:
        """Append ``keys`` and the other columns of a chain's entries; its heads last."""
        if not keys:
            return
        chain = self.chains[name]
        first = self._columns[name].count
        previous = chain.previous(keys, first)
        moved = self._columns.extend_all({CHAINS[name]: previous, **others, name: keys})
        chain.publish(keys, first, max(keys) + 1, moved)

    def extend_incoming(self, edges: Sequence[tuple[int, int]]) -> None:
        """Append the previous edge of each new edge (relation, target); the heads last."""
        column = self._columns["edge_target_previous"]
        storage = column.buffer
        first = column.count
        heads: dict[tuple[str, int], int] = {}
        previous = []
        for place, (relation, target) in enumerate(edges, first):
            kind = INCOMING.get(relation)
            if kind is None:
                previous.append(NONE)
                continue
            head = self.incoming[kind].head
            old = int(head[target]) if target < len(head) else NONE
            previous.append(heads.get((kind, target), old))
            heads[kind, target] = place
        column.extend(np.array(previous, np.uint32))
        for kind, chain in self.incoming.items():
            count = max((key + 1 for each, key in heads if each == kind), default=0)
            chain.publish((), 0, count, storage is not column.buffer)
        for (kind, target), place in heads.items():
            self.incoming[kind].head[target] = place

    def note_identities(
        self, ops: Sequence[int], aliases: Iterable[int], entities: Sequence[int]
    ) -> None:
        """Record operations that change merges or aliases, new aliases, and their entities."""
        self.linked.update(entities)
        self.aliases += aliases
        self._identity_ops += ops

    def merge_number(self, op: int) -> int:
        """Return how many operations up to ``op`` changed merges: equal numbers, equal merges."""
        return bisect_right(self._identity_ops, op)

    def identities(self, op: int) -> Identities:
        """Return the merges after operation ``op``. Cost: 1 us, more if they are not cached."""
        key = self.merge_number(op)
        found = self._identities.get(key)
        if found is None:
            if len(self._identities) >= CACHED_MERGES:
                self._identities = {}
            found = self._identities[key] = Identities(self.links(op))
        return found

    def links(self, op: int, parted: Collection[int] = ()) -> list[tuple[int, int]]:
        """Return (source, target) of the merges and aliases after operation ``op``, in order.

        parted: sources whose merges are left out.
        """
        array = self._columns.array
        links = [
            (number, source, target)
            for number, source, target, end in self.merges(op)
            if end is None and source not in parted
        ]
        for version in self.aliases:
            start = int(array("fact_op")[version])
            end = int(array("fact_closed_by")[version])
            if start <= op and not 0 < end <= op:
                subject = int(array("fact_subject")[version])
                links.append((start, subject, int(array("fact_object")[version])))
        return [(source, target) for _, source, target in sorted(links)]

    def merges(self, op: int) -> list[tuple[int, int, int, int | None]]:
        """Return (operation, source, target, end) of the merges up to ``op``, in order.

        end: the operation that parted them; None for a merge that holds after ``op``.
        """
        array = self._columns.array
        recorded = array("merge_op")
        parted = array("split_op")
        count = int(np.searchsorted(recorded, np.uint64(op), "right"))
        splits: dict[int, list[int]] = {}
        until = int(np.searchsorted(parted, np.uint64(op), "right"))
        for source, number in zip(
            array("split_source")[:until].tolist(), parted[:until].tolist(), strict=True
        ):
            splits.setdefault(source, []).append(number)
        return [
            (number, source, target, next((s for s in splits.get(source, ()) if s > number), None))
            for number, source, target in zip(
                recorded[:count].tolist(),
                array("merge_source")[:count].tolist(),
                array("merge_target")[:count].tolist(),
                strict=True,
            )
        ]


def _above(keys: npt.NDArray[Any]) -> int:
    """Return a number above all ``keys``."""
    return int(keys.max()) + 1 if len(keys) else 0

"""Which facts of a cut meet all conditions, in which order? And how many do?

A selection looks at candidates and leaves out those that fail a condition. The candidates come from
the chain of a subject, an object or an evidence, if it is short; else from the order of a column in
which the fewest versions can meet their condition (see `state.fact_state`). For a page of a
longer list, the versions are instead walked in the order of the list until the page is full, if
that is expected to look at fewer.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import orjson

from recollex_engine.clock import OPEN_END
from recollex_engine.domain.fact_schema import CHAINS
from recollex_engine.domain.intervals import EVERY, OPEN_START, Box, Span
from recollex_engine.domain.literals import ENTITY, KINDS, MENTION, from_column, to_record
from recollex_engine.errors import InputError
from recollex_engine.facts.fact_view import FactView, Ordinals
from recollex_engine.state.column_set import NONE
from recollex_engine.state.fact_state import SortedRun
from recollex_engine.storage.column import read_only
from recollex_kernels.memories.facts import first_at_least, select_facts, walk_chain

ORDERS = {"recorded": None, "start": "fact_start", "end": "fact_end"}
"""What facts may be ordered by, and its column."""
SHORT = 2048
"""The most entries of a chain that are walked; an order is used instead of longer ones."""

_ANY = np.empty(0, np.int64)
_NOTHING = read_only(np.empty(0, np.uint32))
_NO_EXTREMES = read_only(np.empty((2, 0), np.int64))


@dataclass(frozen=True, slots=True, kw_only=True)
class FactConditions:
    """What a fact must meet; None for anything.

    object: a name, or a literal (see `literals`). evidence: it cites one of these memories. valid:
    the bounds of its valid time.
    """

    subject: str | None = None
    predicate: str | None = None
    object: object = None
    evidence: Sequence[int] | None = None
    valid: Box = EVERY


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Which part of the facts, in which order: one of `ORDERS`, equal ones as recorded.

    descending: the opposite order. offset: how many are skipped; limit: the most that are returned.
    """

    order_by: str = "recorded"
    descending: bool = False
    limit: int | None = None
    offset: int = 0

    @property
    def needed(self) -> int | None:
        """How many facts are needed from the beginning of the order; None for all."""
        return None if self.limit is None else self.offset + self.limit


WHOLE = Page()
"""All facts, in recorded order."""


def check_order(order_by: object) -> str:
    """Return ``order_by`` if it is one of `ORDERS`; raises `InputError` otherwise."""
    if order_by not in ORDERS:
        raise InputError(f"order_by must be one of {', '.join(ORDERS)}, got {order_by!r}")
    return str(order_by)


def select(view: FactView, conditions: FactConditions, page: Page = WHOLE) -> Ordinals:
    """Return the visible facts that meet all conditions: a page of them, int64[n].

    Cost: 10 us, and 5 ns for each candidate, see above.
    """
    selection = _read(view, conditions)
    if selection is None:
        return np.empty(0, np.int64)
    needed = None if view.least_trust else page.needed
    pieces = selection.pieces(page, needed)
    found = [selection.matching(piece) for piece in pieces]
    versions: Ordinals = np.concatenate([_NOTHING, *found]).astype(np.int64)
    if len(pieces) != 1 or not pieces[0].is_in_order:
        versions = np.sort(versions)
        if (column := ORDERS[page.order_by]) is not None:
            versions = versions[np.argsort(view.array(column)[versions], kind="stable")]
        if page.descending:
            versions = versions[::-1]
    versions = view.trusted(versions)
    return versions[page.offset : page.needed]


def count(view: FactView, conditions: FactConditions) -> int:
    """Return how many visible facts meet all conditions. Cost: as for `select` of all."""
    if view.least_trust:
        return len(select(view, conditions))
    selection = _read(view, conditions)
    if selection is None:
        return 0
    return sum(selection.number(piece) for piece in selection.pieces(WHOLE, None))


@dataclass(frozen=True, slots=True)
class _Piece:
    """Candidates: ``order[first:end]``, or the versions [first, end) if ``order`` is empty.

    bounds: of what ``extremes`` must hold. most: how many matching ones are wanted. is_in_order:
    whether the matching ones are the answer in its order. of: the column whose condition all
    candidates meet, as they come from its order; "" for none.
    """

    order: npt.NDArray[np.uint32]
    first: int
    end: int
    most: int
    backwards: bool = False
    extremes: npt.NDArray[np.int64] = field(default_factory=lambda: _NO_EXTREMES)
    bounds: Span = (0, 0)
    is_in_order: bool = False
    of: str = ""

    @property
    def size(self) -> int:
        return self.end - self.first


@dataclass(frozen=True, slots=True)
class _Selection:
    """Conditions by their numbers. keys: the column and the bounds of each that has an order."""

    view: FactView
    count: int
    wanted: npt.NDArray[np.int64]
    subjects: npt.NDArray[np.int64]
    objects: npt.NDArray[np.int64]
    valid: Box
    listed: npt.NDArray[np.uint32] | None
    keys: dict[str, list[Span]]

    def pieces(self, page: Page, needed: int | None) -> list[_Piece]:
        """Return the candidates that are expected to cost least."""
        if self.listed is not None:
            return [_Piece(self.listed, 0, len(self.listed), len(self.listed))]
        ranges = {name: self._ranges(name, spans) for name, spans in self.keys.items()}
        sizes = {name: sum(piece.size for piece in found) for name, found in ranges.items()}
        fewest = min(sizes, key=sizes.__getitem__, default=None)
        scanned = self.count if fewest is None else sizes[fewest]
        column = ORDERS[page.order_by]
        if needed is not None:
            share = math.prod(
                max(size, 1) / self.count for name, size in sizes.items() if name != column
            )
            ordered = self.count if column is None else sizes.get(column, self.count)
            if min(ordered, needed / share) < scanned:
                return self._walk(column, ranges, page.descending, needed)
        return [self._recorded(self.count)] if fewest is None else ranges[fewest]

    def _recorded(self, most: int, descending: bool = False, is_in_order: bool = False) -> _Piece:
        """Return all versions in recorded order, less the runs that are closed."""
        closed = self.view.state.orders.closed.negated(self.count)
        bounds = (OPEN_START, -self.view.op - 1)
        return _Piece(_NOTHING, 0, self.count, most, descending, closed, bounds, is_in_order)

    def _walk(
        self,
        column: str | None,
        ranges: dict[str, list[_Piece]],
        descending: bool,
        most: int,
    ) -> list[_Piece]:
        """Return the versions in the order of ``column``; ``most`` that match are enough."""
        if column is None:
            return [self._recorded(most, descending, True)]
        pieces = ranges.get(column)
        if pieces is None:
            pieces = self._ranges(column, [(OPEN_START, OPEN_END)])
        return [
            _Piece(
                each.order,
                each.first,
                each.end,
                most if len(each.order) else each.size,  # versions in no run are in no order
                descending,
                each.extremes,
                each.bounds,
            )
            for each in pieces
        ]

    def _ranges(self, name: str, spans: list[Span]) -> list[_Piece]:
        """Return the candidates by a column whose value lies in one of ``spans``."""
        runs = self.view.state.orders.of(name).runs(self.count)
        pieces = [piece for run in runs for piece in self._of_run(name, run, spans)]
        sorted_end = runs[-1].end if runs else 0
        if sorted_end < self.count:
            pieces.append(_Piece(_NOTHING, sorted_end, self.count, self.count - sorted_end))
        return pieces

    def _of_run(self, name: str, run: SortedRun, spans: list[Span]) -> Iterator[_Piece]:
        values = self.view.tables.readable(name)
        bounds = self.valid.end if name == "fact_start" else self.valid.start
        for least, greatest in spans:
            first = 0 if least == OPEN_START else first_at_least(values, run.order, least)
            end = len(run.order)
            if greatest != OPEN_END:
                end = first_at_least(values, run.order, greatest + 1)
            if first < end:
                yield _Piece(
                    run.order,
                    first,
                    end,
                    end - first,
                    extremes=run.extremes,
                    bounds=bounds,
                    of=name,
                )

    def matching(self, piece: _Piece) -> npt.NDArray[np.uint32]:
        """Return the candidates of a piece that meet all conditions."""
        out = np.empty(min(piece.most, piece.size), np.uint32)
        return out[: self._select(piece, out)]

    def number(self, piece: _Piece) -> int:
        """Return how many candidates of a piece meet all conditions."""
        return self._select(piece, np.empty(0, np.uint32))

    @property
    def _of_any_predicate(self) -> npt.NDArray[np.int64]:
        """The conditions for candidates that all have the predicate."""
        wanted = self.wanted.copy()
        wanted[6] = -1
        return wanted

    def _select(self, piece: _Piece, out: npt.NDArray[np.uint32]) -> int:
        bounds = (piece.first, piece.end, piece.backwards, *piece.bounds)
        return select_facts(
            self.view.tables.selected,
            self._of_any_predicate if piece.of == "fact_predicate" else self.wanted,
            self.subjects,
            self.objects,
            piece.order,
            piece.extremes,
            np.array(bounds, np.int64),
            piece.most,
            out,
        )


def _read(view: FactView, conditions: FactConditions) -> _Selection | None:
    """Return the conditions by their numbers; None if no fact can meet them."""
    valid = conditions.valid
    if view.world is not None:
        valid &= Box((OPEN_START, view.world), (view.world + 1, OPEN_END))
    if valid.is_empty or not view.count:
        return None
    subjects = _ANY
    objects = _ANY
    predicate = -1
    kind = -1
    keys: dict[str, list[Span]] = {}
    chains: list[npt.NDArray[np.uint32] | None] = []
    if conditions.subject is not None:
        if (entity := view.entity(conditions.subject)) is None:
            return None
        subjects = np.array(view.members(entity), np.int64)
        chains.append(_chain(view, "fact_subject", subjects, None))
        keys["fact_subject"] = [(each, each) for each in subjects.tolist()]
    if conditions.object is not None:
        if (found := _object(view, conditions.object)) is None:
            return None
        kind, objects = found
        if kind == ENTITY:
            chains.append(_chain(view, "fact_entity", objects, "fact_entity_fact"))
        keys["fact_object"] = [(each, each) for each in objects.tolist()]
    if conditions.evidence is not None:
        cited = np.array(list(dict.fromkeys(conditions.evidence)), np.int64)
        chains.append(_chain(view, "fact_evidence", cited, "fact_evidence_fact", whole=True))
        assert chains[-1] is not None
        chains = chains[-1:]  # no other column tells which memories a fact cites
    if conditions.predicate is not None:
        label = view.columns.dictionary["labels"].get(f"p:{conditions.predicate}")
        if label is None:
            return None
        predicate = label
        keys["fact_predicate"] = [(label, label)]
    for name, span in (("fact_start", valid.start), ("fact_end", valid.end)):
        if span != (OPEN_START, OPEN_END):
            keys[name] = [span]
    known = [chain for chain in chains if chain is not None]
    listed = min(known, key=len) if known else None
    wanted = (view.op, view.count, *valid.start, *valid.end, predicate, kind)
    return _Selection(
        view,
        view.count,
        np.array(wanted, np.int64),
        subjects,
        objects,
        valid,
        listed,
        {} if listed is not None else keys,
    )


def _chain(
    view: FactView,
    keys: str,
    chosen: npt.NDArray[np.int64],
    to: str | None,
    whole: bool = False,
) -> npt.NDArray[np.uint32] | None:
    """Return the versions along the chains of ``chosen``; None if they are long.

    to: the column of the chain's entries that holds their versions. whole: however long they are.
    """
    previous = view.tables.readable(CHAINS[keys])
    found = []
    for key in chosen.tolist():
        head = view.head(keys, key)
        if head == NONE:
            continue
        room = SHORT
        while True:
            out = np.empty(room, np.uint32)
            length = walk_chain(head, previous, out)
            if length < room:
                break
            if not whole:
                return None
            room *= 8
        found.append(out[:length])
    entries = np.concatenate([_NOTHING, *found]) if len(found) != 1 else found[0]
    versions = entries if to is None else np.unique(view.tables.readable(to)[entries])
    return read_only(versions)


def _object(view: FactView, value: object) -> tuple[int, npt.NDArray[np.int64]] | None:
    """Return the kind and the numbers of an object; None if no fact can have it."""
    record = to_record(value)
    if "entity" in record:
        entity = view.entity(record["entity"])
        if entity is None:
            return None
        return ENTITY, np.array(view.members(entity), np.int64)
    number = view.literal(record)
    return None if number is None else (KINDS.index(next(iter(record))), np.array([number]))


# Which subjects, predicates or objects do facts have, and how many facts have each?
PARTS = ("subject", "predicate", "object")
"""The parts of a fact whose values are counted."""


def check_part(part: object, name: str) -> str:
    """Return ``part`` if it is one of `PARTS`; raises `InputError` otherwise."""
    if part not in PARTS:
        raise InputError(f"{name} must be one of {', '.join(PARTS)}, got {part!r}")
    return str(part)


def distinct_values(view: FactView, conditions: FactConditions, part: str) -> int:
    """Return how many different values of a part the facts of a selection have.

    Cost: that of the selection, and 50 ns for each of its facts.
    """
    return sum(len(values) for _, values, _ in _counted(view, select(view, conditions), part))


def value_counts(view: FactView, conditions: FactConditions, part: str) -> dict[str, int]:
    """Return how many facts of a selection have each value of a part.

    The most frequent first, equally frequent ones by name. Literals are spelled as JSON. Cost: as
    for `distinct_values`, and 2 us for each value.
    """
    found = {
        _spelled(view, part, kind, value): count
        for kind, values, counts in _counted(view, select(view, conditions), part)
        for value, count in zip(values.tolist(), counts.tolist(), strict=True)
    }
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _counted(
    view: FactView, versions: Ordinals, part: str
) -> Iterator[tuple[int, Ordinals, Ordinals]]:
    """Yield the kind, the different numbers and how many facts have each."""
    numbers = view.array(f"fact_{part}")[versions].astype(np.int64)
    kinds = view.array("fact_kind")[versions] if part == "object" else None
    for kind in range(len(KINDS) if part == "object" else 1):
        chosen = numbers if kinds is None else numbers[kinds == kind]
        if kind != ENTITY:
            yield kind, *np.unique(chosen, return_counts=True)
            continue
        if part != "predicate" and view.identities:
            chosen = view.identities.roots(view.columns.entities)[chosen].astype(np.int64)
        counts = np.bincount(chosen)
        values = np.flatnonzero(counts)
        yield kind, values, counts[values]


def _spelled(view: FactView, part: str, kind: int, number: int) -> str:
    if part == "predicate":
        return view.columns.known_label(number)
    if kind == ENTITY:
        return view.entity_name(number)
    if kind == MENTION:  # a label already holds its JSON
        return view.columns.known_label(number)
    value = from_column(kind, number, view.columns.known_label, view.entity_name)
    return orjson.dumps(value).decode()

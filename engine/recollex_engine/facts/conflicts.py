"""Which facts contradict each other? Two with the same subject and predicate and different objects.

Their valid times must overlap. TEMPR 2.5 demands that conflicts are shown, not resolved: both facts
stay, each with its interval and evidence. `has_attr` and `mentioned_in` may have many objects, so
their facts never conflict.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from recollex_engine.domain.fact_schema import HAS_ATTRIBUTE, MENTIONED_IN
from recollex_engine.domain.literals import ENTITY
from recollex_engine.facts.fact_view import FactView, Ordinals

MANY_VALUED = (HAS_ATTRIBUTE, MENTIONED_IN)


def conflicts_of(view: FactView, version: int, beside: Ordinals | None = None) -> list[int]:
    """Return the visible facts that contradict a version, in recorded order.

    ``beside``: the visible facts of its subject, if the caller has them. Cost: reading these facts.
    """
    predicate = view.data("fact_predicate")[version]
    if view.columns.label(predicate) in MANY_VALUED:
        return []
    if beside is None:
        beside = view.of_subject(view.data("fact_subject")[version])
    beside = beside[view.array("fact_predicate")[beside] == predicate]
    return [other for other in beside.tolist() if _contradict(view, version, other)]


def all_conflicts(view: FactView, versions: Ordinals) -> Iterator[tuple[int, int]]:
    """Yield every pair of ``versions`` that contradict each other, the earlier recorded one first.

    Pairs are ordered by their first fact, then by their second. Cost: sorting the versions, then
    looking at the pairs of facts whose valid times overlap.
    """
    subjects = view.array("fact_subject")[versions]
    if view.identities:
        subjects = view.identities.roots(view.columns.entities)[subjects]
    predicates = view.array("fact_predicate")[versions]
    starts = view.array("fact_start")[versions]
    ends = view.array("fact_end")[versions]
    order = np.lexsort((starts, predicates, subjects))
    alike = (np.diff(subjects[order]) == 0) & (np.diff(predicates[order]) == 0)
    pairs: list[tuple[int, int]] = []
    running: list[int] = []
    # Facts of one subject and predicate are neighbours in this order.
    for place in np.flatnonzero(alike).tolist():
        one = order[place]
        other = order[place + 1]
        if not running or running[-1] != one:
            running = [int(one)]
        running = [each for each in running if ends[each] > starts[other]]
        pairs += [
            (min(first, second), max(first, second))
            for each in running
            if _contradict(view, first := int(versions[each]), second := int(versions[other]))
        ]
        running.append(int(other))
    yield from sorted(pairs)


def _contradict(view: FactView, one: int, other: int) -> bool:
    if one == other or view.columns.label(view.data("fact_predicate")[one]) in MANY_VALUED:
        return False
    start = view.data("fact_start")
    end = view.data("fact_end")
    if not (start[one] < end[other] and start[other] < end[one]):
        return False
    return _object(view, one) != _object(view, other)


def _object(view: FactView, version: int) -> tuple[int, int]:
    kind = view.data("fact_kind")[version]
    number = view.data("fact_object")[version]
    return kind, view.root(number) if kind == ENTITY else number


def overlap(one: Sequence[int], other: Sequence[int]) -> tuple[int, int]:
    """Return the interval that two overlapping intervals share.

    >>> overlap((1, 5), (3, 9))
    (3, 5)
    """
    return max(one[0], other[0]), min(one[1], other[1])

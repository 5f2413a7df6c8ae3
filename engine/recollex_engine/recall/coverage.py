"""Budgeted maximum coverage: which parcels cover the most needs for their cost?

A parcel holds items and covers needs. The coverage of a choice is the weight of the needs that it
covers, divided by the weight of the needs that any parcel covers. It is submodular: a need counts
once.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parcel:
    """Items that must be packed together, and the needs that they cover, both as numbers.

    spare: whether it is taken only if no other parcel that covers more fits.
    """

    items: tuple[int, ...]
    needs: tuple[int, ...]
    spare: bool = False


@dataclass(frozen=True, slots=True)
class CoverageItem:
    """The cost of one item, and the section that it is in."""

    cost: int
    section: int


@dataclass(frozen=True, slots=True)
class CoverageChoice:
    """The parcels that were taken, in order, and why no more were taken.

    stopped: "coverage" if enough was covered, "budget" if a parcel that covers more did not fit,
    "all" if no parcel covers more.
    """

    parcels: tuple[int, ...]
    coverage: float
    cost: int
    stopped: str


def choose(
    parcels: Sequence[Parcel],
    weights: Sequence[float],
    items: Sequence[CoverageItem],
    headings: Sequence[int],
    budget: int,
    enough: float,
) -> CoverageChoice:
    """Return the parcels taken greedily, until ``enough`` is covered or no useful parcel fits.

    Each step takes the parcel that fits the rest of the budget and has the greatest ratio of new
    weight to new cost. Weight is new if its need is not covered yet; cost is new if its item is not
    paid yet. Ties: the earlier parcel. A parcel without new cost comes before all others; spare
    parcels come last. An item is paid once, and so is the heading of its section,
    ``headings[section]``.

    Cost: O(parcels) a step, plus an update of the parcels that share an item or a need with the
    parcel taken, or of all parcels if it opens a section.

    >>> parcels = [Parcel((0, 1), (0, 1)), Parcel((1,), (1,)), Parcel((2,), (2,))]
    >>> items = [Item(8, 0), Item(2, 0), Item(9, 0)]
    >>> choose(parcels, [1.0, 1.0, 1.0], items, [0], 12, 1.0)
    Choice(parcels=(1, 0), coverage=0.6666666666666666, cost=10, stopped='budget')
    """
    reachable = sorted({need for parcel in parcels for need in parcel.needs})
    whole = sum(weights[need] for need in reachable)
    taken: list[int] = []
    covered: set[int] = set()
    packed: set[int] = set()
    opened: set[int] = set()
    # reached: always summed in one order, so that full coverage is exactly `whole`
    reached = 0.0
    spent = 0
    sharing: dict[tuple[str, int], list[int]] = {}
    for place, parcel in enumerate(parcels):
        for name, numbers in (("item", parcel.items), ("need", parcel.needs)):
            for number in numbers:
                sharing.setdefault((name, number), []).append(place)
    gains = [0.0] * len(parcels)
    costs = [0] * len(parcels)

    def look(place: int) -> None:
        parcel = parcels[place]
        gains[place] = sum(weights[need] for need in parcel.needs if need not in covered)
        new = [item for item in parcel.items if item not in packed]
        sections = {items[item].section for item in new} - opened
        costs[place] = sum(items[item].cost for item in new)
        costs[place] += sum(headings[section] for section in sections)

    for place in range(len(parcels)):
        look(place)
    while whole and reached < enough * whole:
        best = -1
        most = (False, 0.0)
        for place, gain in enumerate(gains):
            if gain > 0 and costs[place] <= budget - spent:
                ratio = gain / costs[place] if costs[place] else math.inf
                offer = not parcels[place].spare, ratio
                if offer > most:
                    best = place
                    most = offer
        if best < 0:
            break
        parcel = parcels[best]
        taken.append(best)
        spent += costs[best]
        sections = {items[item].section for item in parcel.items}
        stale: set[int] = set(range(len(parcels))) if sections - opened else set()
        opened |= sections
        for name, numbers, known in (
            ("item", parcel.items, packed),
            ("need", parcel.needs, covered),
        ):
            for number in numbers:
                if number not in known:
                    known.add(number)
                    stale.update(sharing[name, number])
        reached = sum(weights[need] for need in reachable if need in covered)
        for place in sorted(stale):
            look(place)
    if not whole or reached >= enough * whole:
        stopped = "coverage" if whole else "all"
    else:
        stopped = "budget" if any(gain > 0 for gain in gains) else "all"
    return CoverageChoice(tuple(taken), reached / whole if whole else 1.0, spent, stopped)

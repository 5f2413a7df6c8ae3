"""Greedy packing of parcels, against looking at all of them at every step."""

from itertools import chain, combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.recall.packing import CoverageChoice, CoverageItem, Parcel, choose

NUMBERS = st.integers(0, 5)
PARCELS = st.lists(
    st.builds(
        Parcel,
        st.lists(NUMBERS, min_size=1, max_size=3, unique=True).map(tuple),
        st.lists(NUMBERS, max_size=3, unique=True).map(tuple),
        st.booleans(),
    ),
    max_size=7,
)
WEIGHTS = st.lists(st.sampled_from([0.25, 0.5, 1.0]), min_size=6, max_size=6)
ITEMS = st.lists(
    st.builds(CoverageItem, st.sampled_from([0, 1, 2, 2, 5]), st.integers(0, 1)),
    min_size=6,
    max_size=6,
)
HEADINGS = st.lists(st.integers(0, 2), min_size=2, max_size=2)
ENOUGH = st.sampled_from([0.3, 0.75, 1.0])


def cost(parcels, items, headings):
    packed = {item for parcel in parcels for item in parcel.items}
    return sum(items[item].cost for item in packed) + sum(
        headings[section] for section in {items[item].section for item in packed}
    )


def gain(parcels, weights):
    return sum(weights[need] for need in {need for parcel in parcels for need in parcel.needs})


def naive(parcels, weights, items, headings, budget, enough):
    whole, taken = gain(parcels, weights), []
    while whole and gain([parcels[p] for p in taken], weights) < enough * whole:
        now = [parcels[p] for p in taken]
        offers = []
        for place, parcel in enumerate(parcels):
            more = gain([*now, parcel], weights) - gain(now, weights)
            extra = cost([*now, parcel], items, headings) - cost(now, items, headings)
            if more > 0 and cost([*now, parcel], items, headings) <= budget:
                ratio = more / extra if extra else float("inf")
                offers.append((parcel.spare, -ratio, place))
        if not offers:
            break
        taken.append(min(offers)[2])
    return tuple(taken)


@given(PARCELS, WEIGHTS, ITEMS, HEADINGS, st.integers(0, 20), ENOUGH)
@settings(deadline=None, max_examples=300)
def test_takes_what_a_naive_greedy_takes(parcels, weights, items, headings, budget, enough):
    found = choose(parcels, weights, items, headings, budget, enough)
    assert found.parcels == naive(parcels, weights, items, headings, budget, enough)
    taken = [parcels[place] for place in found.parcels]
    assert found.cost == cost(taken, items, headings) <= budget
    whole = gain(parcels, weights)
    assert found.coverage == (gain(taken, weights) / whole if whole else 1.0)
    rest = [parcel for parcel in parcels if gain([*taken, parcel], weights) > gain(taken, weights)]
    enough_is_covered = bool(whole) and found.coverage >= enough
    assert (found.stopped == "coverage") == enough_is_covered
    if not enough_is_covered:
        assert (found.stopped == "budget") == bool(rest)
        assert all(cost([*taken, parcel], items, headings) > budget for parcel in rest)


@given(PARCELS, WEIGHTS, ITEMS, HEADINGS, st.integers(0, 20))
@settings(deadline=None, max_examples=100)
def test_never_beats_every_subset_and_meets_it_where_all_fits(
    parcels, weights, items, headings, budget
):
    subsets = chain.from_iterable(combinations(parcels, n) for n in range(len(parcels) + 1))
    best = max(gain(each, weights) for each in subsets if cost(each, items, headings) <= budget)
    found = choose(parcels, weights, items, headings, budget, 1.0)
    reached = gain([parcels[place] for place in found.parcels], weights)
    assert reached <= best
    if cost(parcels, items, headings) <= budget:
        assert reached == best


def test_nothing_to_choose_from_is_all():
    assert choose([], [], [], [], 10, 0.9) == CoverageChoice((), 1.0, 0, "all")
    assert choose([Parcel((0,), ())], [], [CoverageItem(1, 0)], [0], 10, 0.9).stopped == "all"

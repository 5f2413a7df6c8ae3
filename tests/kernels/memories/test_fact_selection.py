"""The selection of facts against a list comprehension over all versions."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.memories.facts import (
    RUN,
    extremes_in_order,
    first_at_least,
    select_facts,
    walk_chain,
)
from recollex_kernels.memories.filters import NONE
from tests.kernels.inputs import frozen

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")

NOTHING = np.empty(0, np.uint32)
NO_RUNS = np.empty((2, 0), np.int64)


def made(seed, n):
    """Columns of n versions with few distinct values."""
    rng = np.random.default_rng(seed)
    start = rng.integers(-5, 5, n)
    columns = (
        (rng.integers(0, 4, n), np.uint64),
        (start, np.int64),
        (start + rng.integers(1, 4, n), np.int64),
        (rng.integers(0, 3, n), np.uint32),
        (rng.integers(0, 3, n), np.uint32),
        (rng.integers(0, 2, n), np.uint8),
        (rng.integers(0, 3, n), np.int64),
    )
    return tuple(frozen(values, dtype) for values, dtype in columns)


def meets(facts, v, wanted, subjects, objects):
    closed, start, end, subject, predicate, kind, number = (int(column[v]) for column in facts)
    op, count, start_low, start_high, end_low, end_high, of_predicate, of_kind = wanted
    return (
        v < count
        and (closed == 0 or closed > op)
        and start_low <= start <= start_high
        and end_low <= end <= end_high
        and of_predicate in (-1, predicate)
        and of_kind in (-1, kind)
        and (not subjects or subject in subjects)
        and (not objects or number in objects)
    )


few = st.lists(st.integers(0, 3), max_size=2)


@settings(max_examples=300)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(0, 3 * RUN),
    st.tuples(st.integers(0, 4), *[st.integers(-6, 8)] * 4, st.integers(-1, 2), st.integers(-1, 1)),
    few,
    few,
    st.sampled_from(["numbers", "start", "drawn"]),
    st.booleans(),
    st.integers(0, 2 * RUN),
)
def test_equals_a_scan_of_all_candidates(
    seed, n, conditions, subjects, objects, source, back, most
):
    facts = made(seed, n)
    wanted = (conditions[0], n - n // 8, *conditions[1:])
    order, extremes, low, high = NOTHING, NO_RUNS, 0, 0
    first, end = (seed % (n + 1)) // 3, n
    if source == "start":
        order = frozen(np.argsort(facts[1], kind="stable"), np.uint32)
        extremes = extremes_in_order(facts[2], order)
        low, high = wanted[4], wanted[5]
    elif source == "drawn":
        order = frozen(np.random.default_rng(seed).permutation(n), np.uint32)
    out = np.empty(most, np.uint32)
    found = select_facts(
        facts,
        frozen(wanted, np.int64),
        frozen(subjects, np.int64),
        frozen(objects, np.int64),
        order,
        extremes,
        frozen([first, end, back, low, high], np.int64),
        most,
        out,
    )
    candidates = (order.tolist() if len(order) else list(range(n)))[first:end]
    expected = [
        v
        for v in (candidates[::-1] if back else candidates)
        if meets(facts, v, wanted, subjects, objects)
    ][:most]
    assert out[:found].tolist() == expected


def test_counts_beyond_what_it_writes():
    facts = made(1, 200)
    wanted = frozen([9, 200, -9, 9, -9, 9, -1, -1], np.int64)
    bounds = frozen([0, 200, 0, 0, 0], np.int64)
    nothing = np.empty(0, np.int64)
    out = np.full(3, 77, np.uint32)
    opened = np.flatnonzero(facts[0] == 0)
    assert select_facts(facts, wanted, nothing, nothing, NOTHING, NO_RUNS, bounds, 200, out) == len(
        opened
    )
    assert out.tolist() == opened[:3].tolist()


@given(st.lists(st.integers(-3, 3), max_size=40), st.integers(-4, 4))
def test_the_first_place_is_that_of_a_binary_search(values, bound):
    column = frozen(values, np.int64)
    order = frozen(np.argsort(column, kind="stable"), np.uint32)
    expected = int(np.searchsorted(column[order], bound))
    assert first_at_least(column, order, bound) == expected


@given(st.lists(st.integers(0, 3), max_size=40), st.integers(0, 3), st.integers(0, 9))
def test_a_chain_is_walked_newest_first(keys, key, room):
    head, previous = {}, []
    for place, each in enumerate(keys):
        previous.append(head.get(each, int(NONE)))
        head[each] = place
    out = np.empty(room, np.uint32)
    found = walk_chain(head.get(key, int(NONE)), frozen(previous, np.uint32), out)
    chain = [place for place, each in enumerate(keys) if each == key][::-1]
    assert out[:found].tolist() == chain[:room]

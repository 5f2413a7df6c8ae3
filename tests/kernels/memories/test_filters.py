from itertools import chain, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.memories.filters import (
    NONE,
    RUN,
    extremes_of_runs,
    keep_chain,
    keep_listed,
    mask_equal,
    mask_holding,
    mask_labels,
    mask_networks,
    mask_open,
    mask_overlap,
    mask_within,
    open_and_last,
    overlap_of_runs,
)
from tests.kernels.inputs import frozen, kept

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")

masks = st.lists(st.integers(0, 1), max_size=40)
NEVER = np.iinfo(np.int64).max


def column(data, mask, values):
    return data.draw(st.lists(values, min_size=len(mask), max_size=len(mask)))


@given(st.lists(st.integers(0, 6), max_size=40), st.integers(0, 5))
def test_closures_up_to_an_operation_are_told_from_later_ones(closed_by, op):
    out = np.full(len(closed_by), 7, np.uint8)
    last, later = open_and_last(frozen(closed_by, np.uint64), op, out)
    assert out.tolist() == [c == 0 or c > op for c in closed_by]
    assert last == max((c for c in closed_by if c <= op), default=0)
    assert later == sum(c > op for c in closed_by)


@given(masks, st.integers(0, 5), st.data())
def test_open_keeps_what_a_later_operation_closed(mask, op, data):
    closed = column(data, mask, st.sampled_from([0, 1, 2, 3, 4, 5, 2**63 + 1]))
    out = np.array(mask, np.uint8)
    mask_open(frozen(closed, np.uint64), op, out)
    assert out.tolist() == [
        int(k and (c == 0 or c > op)) for k, c in zip(mask, closed, strict=True)
    ]


@given(masks, st.integers(0, 15), st.data())
def test_networks_keeps_those_whose_bit_is_set(mask, bits, data):
    network = column(data, mask, st.integers(0, 4))
    out = np.array(mask, np.uint8)
    mask_networks(frozen(network, np.uint8), bits, out)
    assert out.tolist() == [int(k and bits >> w & 1) for k, w in zip(mask, network, strict=True)]


def test_holding_equals_the_interval_test_for_every_small_interval():
    spans = list(product(range(-3, 5), [*range(-3, 5), NEVER]))
    starts = frozen([s for s, _ in spans], np.int64)
    ends = frozen([e for _, e in spans], np.int64)
    for at, mask in product([*range(-4, 6), NEVER - 1, -NEVER], (0, 1)):
        out = np.full(len(spans), mask, np.uint8)
        mask_holding(starts, ends, at, out)
        assert out.tolist() == [int(mask and s <= at < e) for s, e in spans]


@given(st.integers(0, 2**32 - 1), st.integers(0, 5 * RUN), st.integers(0, 3 * RUN))
def test_overlap_of_runs_equals_overlap(seed, n, more):
    rng = np.random.default_rng(seed)
    start = np.sort(rng.integers(0, 40, n + more)) + rng.integers(0, 3, n + more)
    end = start + rng.choice([-1, 0, 1, 9, 2**62], n + more, p=[0.1, 0.3, 0.3, 0.29, 0.01])
    whole = (n + more) // RUN * RUN
    extremes = extremes_of_runs(start[:whole], end[:whole])
    mask = rng.choice(np.array([0, 1], np.uint8), n)
    for each in (start, end, mask, extremes):
        kept(each)
    for since, until in product(range(-2, 48, 7), range(-1, 49, 5)):
        expected, out = mask.copy(), np.zeros(n, np.uint8)
        mask_overlap(start[:n], end[:n], since, until, expected)
        overlap_of_runs(*extremes, start[:n], end[:n], since, until, mask, out)
        assert out.tolist() == expected.tolist()


def test_overlap_equals_the_interval_test_for_every_small_interval():
    spans = list(product(range(-3, 5), [*range(-3, 5), NEVER]))
    starts = frozen([s for s, _ in spans], np.int64)
    ends = frozen([e for _, e in spans], np.int64)
    for since, until, mask in product(range(-3, 5), range(-3, 5), (0, 1)):
        if since > until:
            continue
        out = np.full(len(spans), mask, np.uint8)
        mask_overlap(starts, ends, since, until, out)
        assert out.tolist() == [
            int(mask and (since <= s < until if e <= s else s < until and e > since))
            for s, e in spans
        ]


@given(
    masks,
    st.lists(st.integers(0, 4), max_size=3),
    st.sampled_from([np.int64, np.uint64]),
    st.data(),
)
def test_labels_keeps_those_with_every_wanted_label(mask, wanted, offset_type, data):
    own = column(data, mask, st.lists(st.integers(0, 4), max_size=4))
    offsets = np.cumsum([0] + [len(labels) for labels in own])
    out = np.array(mask, np.uint8)
    mask_labels(
        frozen(offsets, offset_type),
        frozen(list(chain.from_iterable(own)), np.uint32),
        frozen(wanted, np.uint32),
        out,
    )
    assert out.tolist() == [
        int(k and set(wanted) <= set(ls)) for k, ls in zip(mask, own, strict=True)
    ]


@given(masks, st.data())
def test_equal_keeps_the_wanted_value(mask, data):
    values = column(data, mask, st.sampled_from([0, 7, 4_294_967_295]))
    out = np.array(mask, np.uint8)
    mask_equal(frozen(values, np.uint32), 4_294_967_295, out)
    assert out.tolist() == [
        int(k and v == 4_294_967_295) for k, v in zip(mask, values, strict=True)
    ]


@given(masks, st.lists(st.integers(0, 12), max_size=12))
def test_a_list_keeps_its_own_and_nothing_behind_the_mask(mask, listed):
    wanted = sorted(set(listed))
    out = np.zeros(len(mask), np.uint8)
    keep_listed(frozen(wanted, np.uint32), frozen(mask, np.uint8), out)
    assert out.tolist() == [int(kept and m in wanted) for m, kept in enumerate(mask)]


@given(masks, st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12)), max_size=12))
def test_a_chain_keeps_what_is_along_it(mask, entries):
    """Entries of three keys in one flat array, each with the entry before it of its key."""
    newest, previous = {}, []
    for entry, (key, _) in enumerate(entries):
        previous.append(newest.get(key, int(NONE)))
        newest[key] = entry
    out = np.zeros(len(mask), np.uint8)
    arrays = frozen(previous, np.uint32), frozen([m for _, m in entries], np.uint32)
    keep_chain(newest.get(1, int(NONE)), *arrays, frozen(mask, np.uint8), out)
    wanted = {m for key, m in entries if key == 1}
    assert out.tolist() == [int(kept and m in wanted) for m, kept in enumerate(mask)]


@given(st.integers(0, 10**6), st.lists(st.integers(-1, 9), min_size=4, max_size=4))
def test_those_within_a_box_stay(seed, box):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(0, 200))
    start, end = rng.integers(0, 9, n), rng.integers(0, 9, n)
    mask = (rng.random(n) < rng.choice([1.0, 0.5, 0.01])).astype(np.uint8)
    least, latest, earliest, last = box
    inside = (start >= least) & (start <= latest) & (end >= earliest) & (end <= last)
    out = mask.copy()
    mask_within(frozen(start, np.int64), frozen(end, np.int64), *box, out)
    assert out.tolist() == (mask & inside).tolist()

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.memories.columns import all_below, all_earlier, all_rise
from tests.kernels.inputs import frozen

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")

NONE = 0xFFFFFFFF
numbers = st.sampled_from([0, 1, 2, 3, 2**31, NONE - 1, NONE])


@given(st.lists(st.integers(0, 4), max_size=12), st.integers(0, 2), st.integers(1, 5))
def test_items_that_rise_within_bounds(items, first, last):
    expected = all(a <= b for a, b in itertools.pairwise([first, *items, last])) or not items
    for dtype in ("<i8", "<u8", "<u4"):
        assert all_rise(frozen(items, dtype), first, last) == expected


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_number_that_is_negative_when_signed_does_not_rise(at):
    items = [3, 5, 7]
    items[at] += 2**63
    assert all_rise(frozen([3, 5, 7], "<u8"), 0, 7)
    assert not all_rise(frozen(items, "<u8"), 0, 2**63 - 1)
    lowest = frozen([-(2**63), 0, 2**63 - 1], "<i8")
    assert all_rise(lowest, -(2**63), 2**63 - 1)


@given(st.lists(numbers, max_size=40), numbers, st.booleans())
def test_items_below_an_end_or_none(items, end, none):
    expected = all(item < end or (none and item == NONE) for item in items)
    assert all_below(frozen(items, "<u4"), end, none) == expected
    small = [item % 4 for item in items]
    assert all_below(frozen(small, "u1"), end, none) == all(item < end for item in small)


@given(st.lists(st.sampled_from([0, 1, 2, 5, NONE - 1, NONE]), max_size=8))
def test_items_that_are_indexes_of_earlier_ones(items):
    expected = all(item < place or item == NONE for place, item in enumerate(items))
    assert all_earlier(frozen(items, "<u4")) == expected

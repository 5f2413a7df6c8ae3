import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels._scores import best_first, strongest, unit

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")

few = st.lists(st.sampled_from([-1.5, -0.0, 0.0, 0.25, 3.0, 1e300]), max_size=70)


@given(few)
def test_best_first_equals_a_stable_sort(values):
    expected = sorted(range(len(values)), key=lambda i: -values[i])
    assert best_first(np.array(values, np.float64)).tolist() == expected


@given(few, st.integers(-1, 80), st.randoms(use_true_random=False))
def test_the_strongest_equal_a_full_sort(values, k, random):
    ids = list(range(len(values)))
    random.shuffle(ids)
    expected = sorted(range(len(values)), key=lambda i: (-values[i], ids[i]))[: max(0, k)]
    found = strongest(np.array(values, np.float64), np.array(ids, np.uint32), k)
    assert found.tolist() == expected


@given(few)
def test_what_is_in_order_stays(values):
    scores = np.sort(np.array(values, np.float64))[::-1].copy()
    assert best_first(scores).tolist() == list(range(len(values)))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=30))
def test_unit_lies_between_its_ends_and_keeps_the_order(values):
    found = unit(np.array(values, np.float64)).tolist()
    assert all(0 <= s <= 1 for s in found)
    if values and max(values) / 2 > min(values) / 2:
        assert found[values.index(max(values))] == 1 and found[values.index(min(values))] == 0
    else:
        assert found == [1.0] * len(values)
    ranked = sorted(zip(values, found, strict=True))
    assert [s for _, s in ranked] == sorted(found)


def test_unit_is_linear():
    assert unit(np.array([-2.0, 0.0, 1.0, 2.0])).tolist() == pytest.approx([0, 0.5, 0.75, 1])

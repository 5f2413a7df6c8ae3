import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.machine.top_k import best_first, kth_greatest, strongest, unit

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")

few = st.lists(st.sampled_from([-1.5, -0.0, 0.0, 0.25, 3.0, 1e300]), max_size=70)


@given(few)
def test_best_first_equals_a_stable_sort(values):
    expected = sorted(range(len(values)), key=lambda i: -values[i])
    assert best_first(np.array(values, np.float64)).tolist() == expected


@given(
    st.sampled_from((np.float32, np.float64)),
    st.integers(2, 700),
    st.integers(0, 9),
    st.sampled_from((0.0, 1.0, 1e-30, 1e30)),
)
def test_best_first_equals_a_stable_sort_of_scores_however_spread(kind, n, seed, far):
    rng = np.random.default_rng(seed)
    spread = [rng.standard_normal(n), np.exp(3 * rng.standard_normal(n)), rng.integers(0, 30, n)]
    for scores in spread:
        scores = scores.astype(kind)
        scores[rng.integers(0, n)] *= kind(far)  # one far from the others crowds them
        assert best_first(scores).tolist() == np.argsort(-scores, kind="stable").tolist()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("edge", ["infinite", "wide", "narrow"])
def test_best_first_of_a_range_that_cannot_be_cut(kind, edge):
    limits = np.finfo(kind)
    ends = {"infinite": np.inf, "wide": limits.max, "narrow": limits.smallest_subnormal}
    scores = np.array([0, 1, -1, 0, 1, 0], kind) * kind(ends[edge] if edge != "infinite" else 1)
    if edge == "infinite":
        scores[1], scores[2] = np.inf, -np.inf
    assert best_first(scores).tolist() == np.argsort(-scores, kind="stable").tolist()


def test_best_first_of_a_nan_stays_inside_the_list():
    for place in range(40):
        scores = np.arange(40.0) % 7
        scores[place] = np.nan
        assert set(best_first(scores).tolist()) <= set(range(40))


@given(few, st.integers(-1, 80))
def test_the_strongest_equal_a_full_sort(values, k):
    expected = sorted(range(len(values)), key=lambda i: (-values[i], i))[: max(0, k)]
    assert strongest(np.array(values, np.float64), k).tolist() == expected


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_strongest_of_many(kind):
    rng = np.random.default_rng(0)
    for distinct in (3, 50, 10**6):
        values = rng.integers(0, distinct, 5000).astype(kind)
        expected = sorted(range(5000), key=lambda i: (-values[i], i))
        for k in (1, 2, 99, 4999):
            assert strongest(values, k).tolist() == expected[:k]
            assert kth_greatest(values, k) == values[expected[k - 1]]


@pytest.mark.parametrize(("kind", "width"), [(np.float32, 32), (np.float64, 64)])
@given(data=st.data())
def test_the_kth_of_any_floats(kind, width, data):
    floats = st.floats(allow_nan=False, width=width)
    values = np.array(data.draw(st.lists(floats, min_size=1, max_size=40)), kind)
    k = data.draw(st.integers(1, len(values)))
    assert kth_greatest(values, k) == np.sort(values)[len(values) - k]


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

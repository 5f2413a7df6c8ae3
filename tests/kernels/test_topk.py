import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.topk import top_allowed, topk

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")

few_values = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), max_size=200)  # forces ties


def frozen(values, dtype):
    array = np.array(values, dtype=dtype)
    array.flags.writeable = False
    return array


@given(few_values, st.integers(0, 6) | st.integers(0, 250))
def test_topk_equals_a_full_sort(values, k):
    ids, best = topk(frozen(values, np.float32), k)
    expected = sorted(range(len(values)), key=lambda i: (-values[i], i))[:k]
    assert ids.tolist() == expected
    assert best.tolist() == [values[i] for i in expected]


def test_topk_of_many_distinct_values_equals_a_full_sort():
    values = np.random.default_rng(0).standard_normal(20_000).astype(np.float32)
    values[5000:6000] = values[:1000]
    ids, best = topk(values, 100)
    expected = np.lexsort((np.arange(20_000), -values))[:100]
    assert ids.tolist() == expected.tolist()
    assert best.tolist() == values[expected].tolist()


@given(
    st.lists(st.tuples(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), st.integers(0, 1)), max_size=150),
    st.sampled_from([-2.0, 0.0, 0.5]),
    st.integers(0, 6) | st.integers(0, 200),
)
def test_top_allowed_equals_a_full_sort(memories, floor, k):
    scores, allowed = [s for s, _ in memories], [a for _, a in memories]
    found, best = top_allowed(frozen(scores, np.float32), frozen(allowed, np.uint8), floor, k)
    order = [m for m in range(len(scores)) if allowed[m] and scores[m] > floor]
    order = sorted(order, key=lambda m: (-scores[m], m))[:k]
    assert found.tolist() == order
    assert best.tolist() == [scores[m] for m in order]


def test_top_allowed_of_many_equals_a_full_sort():
    rng = np.random.default_rng(1)
    scores = rng.integers(0, 300, 8000).astype(np.float32)
    allowed = rng.integers(0, 2, 8000).astype(np.uint8)
    found, _ = top_allowed(scores, allowed, 0.0, 100)
    order = sorted(np.flatnonzero(allowed), key=lambda m: (-scores[m], m))[:100]
    assert found.tolist() == order

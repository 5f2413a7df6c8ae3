import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels._topk import top_allowed

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")


def frozen(values, dtype):
    array = np.array(values, dtype=dtype)
    array.flags.writeable = False
    return array


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
    order = sorted(np.flatnonzero(allowed), key=lambda m: (-scores[m], m))
    for k in (1, 100, 3000):  # the buffer is pruned often, seldom, never
        assert top_allowed(scores, allowed, -1.0, k)[0].tolist() == order[:k]

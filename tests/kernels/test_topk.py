import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.topk import top_memories, topk

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


def best_memories(scores, memory_of_row, allowed, floor, k):
    best = {}
    for row, (score, memory) in enumerate(zip(scores, memory_of_row, strict=True)):
        if score > floor and allowed[memory] and (memory not in best or score > best[memory][0]):
            best[memory] = (score, row)
    order = sorted(best, key=lambda m: (-best[m][0], m))[:k]
    return order, [best[m][1] for m in order], [best[m][0] for m in order]


@given(
    st.lists(st.tuples(st.integers(1, 4), st.booleans()), max_size=60),
    st.sampled_from([-2.0, 0.0, 0.5]),
    st.integers(0, 6) | st.integers(0, 40),
    st.data(),
)
def test_top_memories_equals_a_dictionary_and_a_sort(memories, floor, k, data):
    memory_of_row = [m for m, (rows, _) in enumerate(memories) for _ in range(rows)]
    n = len(memory_of_row)
    scores = data.draw(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), min_size=n, max_size=n))
    allowed = [int(a) for _, a in memories]
    found = top_memories(
        frozen(scores, np.float32),
        frozen(memory_of_row, np.uint32),
        frozen(allowed, np.uint8),
        floor,
        k,
    )
    assert tuple(part.tolist() for part in found) == best_memories(
        scores, memory_of_row, allowed, floor, k
    )


def test_top_memories_of_many_rows_equals_a_dictionary_and_a_sort():
    rng = np.random.default_rng(1)
    memory_of_row = np.repeat(np.arange(4000), rng.integers(1, 4, 4000)).astype(np.uint32)
    scores = rng.integers(0, 300, memory_of_row.size).astype(np.float32)
    allowed = rng.integers(0, 2, 4000).astype(np.uint8)
    found = top_memories(scores, memory_of_row, allowed, 0.0, 100)
    assert tuple(part.tolist() for part in found) == best_memories(
        scores.tolist(), memory_of_row.tolist(), allowed, 0.0, 100
    )

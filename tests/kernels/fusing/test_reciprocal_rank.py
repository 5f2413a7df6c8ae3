import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.fusing.reciprocal_rank import rrf
from tests.kernels.inputs import kept

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")

ordinals = st.sampled_from([0, 1, 2, 3, 128, 256, 4_000_000_000, 4_294_967_294])
arms = st.lists(st.lists(ordinals, unique=True, max_size=6), min_size=1, max_size=5)


def fuse(lists, weights, k):
    table = np.full((len(lists), max(len(x) for x in lists) + 1), 7, np.uint32)
    for arm, memories in enumerate(lists):
        table[arm, : len(memories)] = memories
    sizes = np.array([len(x) for x in lists], np.int64)
    strengths = np.array(weights, np.float64)
    for array in (table, sizes, strengths):
        kept(array)
    return rrf(table, sizes, strengths, k)


def oracle(lists, weights, k):
    scores = {}
    for memories, weight in zip(lists, weights, strict=True):
        for rank, memory in enumerate(memories, start=1):
            part = weight / (k + rank)
            scores[memory] = scores[memory] + part if memory in scores else part
    order = sorted(scores, key=lambda m: (-scores[m], -m))
    return order, [scores[m] for m in order]


@given(arms, st.data())
def test_rrf_equals_a_dictionary_and_a_sort(lists, data):
    size = len(lists)
    weights = data.draw(st.lists(st.sampled_from([1.0, 0.5, 0.3]), min_size=size, max_size=size))
    memories, scores = fuse(lists, weights, 60.0)
    assert (memories.tolist(), scores.tolist()) == oracle(lists, weights, 60.0)


def test_rrf_of_four_long_lists_equals_a_dictionary_and_a_sort():
    rng = np.random.default_rng(0)
    lists = [rng.permutation(300)[:200].tolist() for _ in range(4)]
    memories, scores = fuse(lists, [1.0] * 4, 60.0)
    assert (memories.tolist(), scores.tolist()) == oracle(lists, [1.0] * 4, 60.0)


def test_rrf_gives_the_example_of_the_paper():
    semantic = [10, 11, 2, 12]  # TEMPR 3.2: B is third, second and tenth, A first and fifth
    keyword = [13, 2, 14, 15, 10]
    graph = [20, 21, 22, 23, 24, 25, 26, 27, 28, 2]
    memories, scores = fuse([semantic, keyword, graph], [1.0] * 3, 60.0)
    assert memories[:2].tolist() == [2, 10]
    assert scores[0] == 1 / 63 + 1 / 62 + 1 / 70
    assert scores[1] == 1 / 61 + 1 / 65


def test_rrf_of_empty_arms_is_empty():
    memories, scores = fuse([[], []], [1.0, 1.0], 60.0)
    assert memories.size == 0
    assert scores.size == 0

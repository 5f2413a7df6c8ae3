import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.links import links
from tests.kernels.unit_vectors import bits, clustered, cosines_of, encoded, frozen

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")


def nearest_earlier(vectors, memory_of_row, allowed, first_scan, row, threshold, limit):
    own = memory_of_row[row]
    scores = cosines_of(vectors, range(len(vectors)), vectors[row].astype(np.float32))
    best = {}
    for other in range(first_scan, row):
        memory, score = int(memory_of_row[other]), scores[other]
        if memory < own and allowed[memory] and score >= np.float32(threshold):
            best[memory] = max(score, best.get(memory, score))
    order = sorted(best, key=lambda m: (-best[m], m))[:limit]
    return order, [float(best[m]) for m in order]


@given(st.integers(0, 10**6), st.sampled_from([2, 4, 0]), st.sampled_from([-2.0, 0.3, 0.7]))
@settings(max_examples=40)
def test_links_equal_comparing_every_pair(seed, grid, threshold):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 300))
    vectors = clustered(n, int(rng.choice([8, 40, 64])), seed, grid)
    memory_of_row = np.repeat(np.arange(n), rng.integers(1, 4, n))[:n]
    allowed = rng.integers(0, 4, n) > 0
    first_new = int(rng.integers(max(0, n - 12), n))
    first_scan = int(rng.choice([0, n // 3]))
    limit = int(rng.choice([1, 3, 10]))
    memories = np.empty((n - first_new, limit), np.uint32)
    weights = np.empty((n - first_new, limit), np.float32)
    counts = np.empty(n - first_new, np.int64)
    links(
        bits(vectors),
        *encoded(vectors),
        frozen(memory_of_row, np.uint32),
        frozen(allowed, np.uint8),
        first_scan,
        first_new,
        n,
        threshold,
        limit,
        memories,
        weights,
        counts,
    )
    for i, row in enumerate(range(first_new, n)):
        expected = nearest_earlier(
            vectors, memory_of_row, allowed, first_scan, row, threshold, limit
        )
        found = memories[i, : counts[i]].tolist(), weights[i, : counts[i]].tolist()
        assert found == expected

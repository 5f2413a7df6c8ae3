import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.vectors.semantic_links import likely_links, links
from tests.kernels.inputs import frozen
from tests.kernels.unit_vectors import (
    bits,
    clustered,
    cosines_of,
    encoded,
    estimates,
    scale_of_turned,
    signs_of,
    turned,
)

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
        encoded(vectors),
        frozen(memory_of_row, np.uint32),
        frozen(allowed, np.uint8),
        first_scan,
        first_new,
        n,
        threshold,
        limit,
        (memories, weights, counts),
    )
    for i, row in enumerate(range(first_new, n)):
        expected = nearest_earlier(
            vectors, memory_of_row, allowed, first_scan, row, threshold, limit
        )
        found = memories[i, : counts[i]].tolist(), weights[i, : counts[i]].tolist()
        assert found == expected


def found_likely(vectors, memory_of_row, allowed, first_scan, first_new, threshold, limit):
    n = len(vectors)
    memories = np.empty((n - first_new, limit), np.uint32)
    weights = np.empty((n - first_new, limit), np.float32)
    counts = np.empty(n - first_new, np.int64)
    likely_links(
        bits(vectors),
        encoded(vectors),
        tuple(frozen(part, part.dtype) for part in signs_of(vectors)),
        frozen(memory_of_row, np.uint32),
        frozen(allowed, np.uint8),
        first_scan,
        first_new,
        n,
        threshold,
        limit,
        (memories, weights, counts),
    )
    return [
        (memories[i, :count].tolist(), weights[i, :count].tolist())
        for i, count in enumerate(counts.tolist())
    ]


def likely_earlier(vectors, memory_of_row, allowed, first_scan, row, threshold, limit):
    """Those whose estimate is near enough the threshold, and the least of a full list, in order."""
    query = vectors[row].astype(np.float32)
    scores, guess = cosines_of(vectors, range(len(vectors)), query), estimates(vectors, query)
    scale = np.float64(np.float32(scale_of_turned(turned(query))))
    if not scale:
        return [], []
    least = np.float32((threshold - 0.135) / scale)
    best = {}
    for other in range(first_scan, row):
        memory, score = int(memory_of_row[other]), scores[other]
        if memory == memory_of_row[row] or not allowed[memory] or guess[other] <= least:
            continue
        if score < np.float32(threshold):
            continue
        best[memory] = max(score, best.get(memory, score))
        for worst in sorted(best, key=lambda m: (-best[m], m))[limit:]:
            del best[worst]
        if len(best) == limit:
            least = max(least, np.float32((np.float64(min(best.values())) - 0.135) / scale))
    order = sorted(best, key=lambda m: (-best[m], m))
    return order, [float(best[m]) for m in order]


@given(st.integers(0, 10**6), st.sampled_from([2, 4, 0]), st.sampled_from([-2.0, 0.3, 0.7]))
@settings(max_examples=40)
def test_likely_links_are_the_best_of_what_one_bit_lets_through(seed, grid, threshold):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 1300 if seed % 5 == 0 else 200))
    vectors = clustered(n, int(rng.choice([8, 40, 64])), seed, grid)
    memory_of_row = np.repeat(np.arange(n), rng.integers(1, 4, n))[:n]
    allowed = rng.integers(0, 4, n) > 0
    first_new = int(rng.integers(max(0, n - 12), n))
    first_scan = int(rng.choice([0, n // 3]))
    limit = int(rng.choice([1, 3, 10]))
    found = found_likely(vectors, memory_of_row, allowed, first_scan, first_new, threshold, limit)
    for row, links_of_row in enumerate(found, first_new):
        expected = likely_earlier(
            vectors, memory_of_row, allowed, first_scan, row, threshold, limit
        )
        assert links_of_row == expected


def test_likely_links_miss_next_to_none():
    vectors = clustered(1500, 384, 3)
    every = np.arange(1500)
    found = found_likely(vectors, every, np.ones(1500), 0, 1400, 0.7, 5)
    expected = [
        nearest_earlier(vectors, every, np.ones(1500), 0, row, 0.7, 5) for row in range(1400, 1500)
    ]
    assert sum(len(memories) for memories, _ in expected) > 400
    same = sum(a == b for a, b in zip(found, expected, strict=True))
    assert same >= 98

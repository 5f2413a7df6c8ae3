import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.vectors.nearest import best_of_rows, scan_top
from tests.kernels.inputs import frozen, read_only
from tests.kernels.unit_vectors import bits, clustered, cosines_of, encoded

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")


def brute(vectors, first_row, end_row, memory_of_row, allowed, query, floor, k):
    scores = cosines_of(vectors, range(len(vectors)), query)
    best = {}
    for row in range(first_row, end_row):
        memory, score = int(memory_of_row[row]), scores[row]
        better = memory not in best or score > best[memory][0]
        if allowed[memory] and score >= np.float32(floor) and better:
            best[memory] = (score, row)
    order = sorted(best, key=lambda m: (-best[m][0], m))[:k]
    return order, [best[m][1] for m in order], [float(best[m][0]) for m in order]


def check_scan(vectors, query, memory_of_row, allowed, first_row, end_row, floor, k):
    parts = encoded(vectors)
    found = scan_top(
        bits(vectors),
        parts,
        first_row,
        end_row,
        frozen(memory_of_row, np.uint32),
        frozen(np.searchsorted(memory_of_row, np.arange(len(allowed) + 1)), np.uint32),
        frozen(allowed, np.uint8),
        query,
        floor,
        k,
    )
    expected = brute(vectors, first_row, end_row, memory_of_row, allowed, query, floor, k)
    assert tuple(part.tolist() for part in found) == expected


@given(st.integers(0, 10**6))
@settings(max_examples=20)
def test_memories_without_rows_are_passed_over(seed):
    rng = np.random.default_rng(seed)
    vectors = clustered(600, 8, seed, 4)
    memory_of_row = np.cumsum(rng.integers(1, 9, 600))
    allowed = rng.random(memory_of_row[-1] + 1) < rng.choice([0.002, 0.02, 1.0])
    query = read_only(vectors[0].astype(np.float32))
    check_scan(vectors, query, memory_of_row, allowed, 0, 600, -2.0, 20)


@given(st.integers(0, 10**6), st.sampled_from([2, 4, 0]), st.sampled_from([-2.0, 0.0, 0.5]))
@settings(max_examples=40)
def test_scan_equals_scoring_every_row_and_sorting(seed, grid, floor):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 2600))
    width = int(rng.choice([8, 40, 64]))
    vectors = clustered(n, width, seed, grid) * np.float16(rng.choice([1.0, 0.01, 100.0]))
    query = read_only(vectors[rng.integers(n)].astype(np.float32))
    memory_of_row = np.repeat(np.arange(n), rng.integers(1, 4, n))[:n]
    allowed = rng.random(n) < rng.choice([1.0, 0.7, 0.02])
    first_row = int(rng.integers(0, n) if rng.random() < 0.3 else 0)
    end_row = int(rng.integers(first_row, n + 1) if rng.random() < 0.3 else n)
    k = int(rng.choice([0, 1, 10, 100, 5000]))
    check_scan(vectors, query, memory_of_row, allowed, first_row, end_row, floor, k)


@pytest.mark.parametrize("query_size", [0.0, 1e-20, 1.0, 1e6])
def test_scan_of_wide_rows_equals_scoring_every_row(query_size):
    vectors = clustered(3000, 384, 5)
    vectors[100:200] = vectors[:100]  # equal rows of different memories
    vectors[300] = 0
    query = read_only((vectors[7].astype(np.float32) * np.float32(query_size)).astype(np.float32))
    check_scan(vectors, query, np.arange(3000) // 2, np.ones(3000), 0, 3000, -10.0, 100)
    check_scan(vectors, query, np.arange(3000), np.ones(3000), 0, 3000, 0.3, 20)


@given(st.integers(0, 10**6), st.sampled_from([2, 4, 0]), st.sampled_from([-2.0, 0.0, 0.5]))
@settings(max_examples=40)
def test_the_best_of_some_rows_are_those_of_scoring_them(seed, grid, floor):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 400))
    vectors = clustered(n, 40, seed, grid)
    query = read_only(vectors[rng.integers(n)].astype(np.float32))
    memory_of_row = np.repeat(np.arange(n), rng.integers(1, 4, n))[:n]
    allowed = rng.random(n) < 0.7
    visible = int(rng.integers(1, n + 1))  # a graph may propose rows that a view does not see
    rows = rng.permutation(n)[: int(rng.integers(0, n + 1))]
    k = int(rng.choice([0, 1, 10, 100]))
    found = best_of_rows(
        bits(vectors),
        frozen(rows, np.uint32),
        frozen(memory_of_row[:visible], np.uint32),
        frozen(allowed, np.uint8),
        query,
        floor,
        k,
    )
    chosen = np.zeros(n, bool)
    chosen[rows[rows < visible]] = True
    of_others = memory_of_row + n * ~chosen  # rows that were not given belong to no allowed memory
    masks = np.concatenate([allowed, np.zeros(n, bool)])
    expected = brute(vectors, 0, n, of_others, masks, query, floor, k)
    assert tuple(part.tolist() for part in found) == expected

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import recollex_kernels
from recollex_kernels.vectors.cascade import cascade_of_rows, cascade_top
from tests.kernels.inputs import frozen, read_only
from tests.kernels.unit_vectors import (
    bits,
    clustered,
    cosines_of,
    encoded,
    estimates,
    four_bit_estimates,
    signs_of,
)

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")


def oracle(vectors, first, end, memory_of_row, allowed, query, floor, k, proposed, scored):
    guess, better = estimates(vectors, query), four_bit_estimates(vectors, query)
    rows = [row for row in range(first, end) if allowed[memory_of_row[row]]]
    near = sorted(rows, key=lambda row: (-guess[row], row))[:proposed]
    near = sorted(near, key=lambda row: (-better[row], row))[:scored]
    scores = cosines_of(vectors, range(len(vectors)), query)
    best = {}
    for row in sorted(near):
        memory, score = int(memory_of_row[row]), scores[row]
        if score >= np.float32(floor) and (memory not in best or score > best[memory][0]):
            best[memory] = (score, row)
    order = sorted(best, key=lambda m: (-best[m][0], m))[:k]
    return order, [best[m][1] for m in order], [float(best[m][0]) for m in order]


@given(st.integers(0, 10**6), st.sampled_from([2, 4, 0]), st.sampled_from([-2.0, 0.3]))
@settings(max_examples=60)
def test_the_best_of_those_whose_estimates_are_the_greatest_twice(seed, grid, floor):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9000 if seed % 4 == 0 else 1500))
    width = int(rng.choice([8, 40, 64, 72, 384]))
    vectors = clustered(n, width, seed, grid) * np.float16(rng.choice([1.0, 0.01, 100.0]))
    query = read_only(vectors[rng.integers(n)].astype(np.float32))
    rows_of_each = rng.integers(1, int(rng.choice([2, 4])), n)
    memory_of_row = np.repeat(np.arange(n), rows_of_each)[:n]
    allowed = rng.random(n) < rng.choice([1.0, 0.7, 0.02])
    if seed % 2 == 0:  # a run of memories, as of a window of time
        allowed &= np.abs(np.arange(n) - rng.integers(n)) < n // 5
    first = int(rng.integers(0, n) if rng.random() < 0.3 else 0)
    end = int(rng.integers(first, n + 1) if rng.random() < 0.3 else n)
    k, proposed = int(rng.choice([0, 1, 10, 5000])), int(rng.choice([1, 30, 5000]))
    scored = int(rng.choice([1, 20, 5000]))
    found = cascade_top(
        bits(vectors),
        *encoded(vectors)[:2],
        tuple(frozen(part, part.dtype) for part in signs_of(vectors)),
        first,
        end,
        frozen(memory_of_row, np.uint32),
        frozen(np.searchsorted(memory_of_row, np.arange(n + 1)), np.uint32),
        frozen(allowed, np.uint8),
        query,
        floor,
        k,
        proposed,
        scored,
    )
    limits = floor, k, proposed, scored
    expected = oracle(vectors, first, end, memory_of_row, allowed, query, *limits)
    assert tuple(part.tolist() for part in found) == expected


@given(st.integers(0, 10**6), st.sampled_from([0.9, 0.4, 0.02]))
@settings(max_examples=30)
def test_rows_whose_codes_lie_together_are_searched_as_among_all(seed, share):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9000 if seed % 4 == 0 else 1500))
    vectors = clustered(n, 40, seed, int(rng.choice([2, 0])))
    query = read_only(vectors[rng.integers(n)].astype(np.float32))
    numbers = frozen(np.arange(n + 1), np.uint32)
    chosen = rng.random(n) < share
    allowed = frozen(chosen & (rng.random(n) < rng.choice([1.0, 0.5, 0.0])), np.uint8)
    rows = read_only(np.flatnonzero(chosen).astype(np.uint32))
    codes, signs = encoded(vectors)[:2], signs_of(vectors)
    own = tuple(read_only(part[chosen]) for part in signs)
    limits = query, float(rng.choice([-2.0, 0.3])), 10, int(rng.choice([1, 30, 600])), 20
    every = cascade_top(bits(vectors), *codes, signs, 0, n, numbers[:n], numbers, allowed, *limits)
    for known in (False, True) if allowed[rows].all() else (False,):
        parts = bits(vectors), *codes, own, rows, rows, known, numbers[:n], allowed
        found = cascade_of_rows(*parts, *limits)
        assert [part.tolist() for part in found] == [part.tolist() for part in every]


def test_rows_of_zeros_and_a_query_of_zeros_are_ranked_by_row():
    vectors = np.zeros((700, 64), np.float16)
    query = read_only(np.zeros(64, np.float32))
    numbers = frozen(np.arange(701), np.uint32)
    found = cascade_top(
        bits(vectors),
        *encoded(vectors)[:2],
        signs_of(vectors),
        0,
        700,
        numbers[:700],
        numbers,
        frozen(np.ones(700), np.uint8),
        query,
        -1.0,
        5,
        600,
        10,
    )
    assert found[0].tolist() == [0, 1, 2, 3, 4]


PLAIN = """
import hashlib
import numpy as np
from recollex_kernels.vectors.cascade import cascade_top, encode_signs
from recollex_kernels.vectors.codes import encode

rng = np.random.default_rng(1)
for width in (40, 384):
    vectors = rng.standard_normal((5000, width)).astype(np.float16).view(np.uint16)
    words, factors = np.empty((5000, -(-width // 64)), np.uint64), np.empty(5000, np.float32)
    encode_signs(vectors, words, factors)
    codes, steps = np.empty((5000, width // 2), np.uint8), np.empty((3, 5000), np.float32)
    encode(vectors, codes, *steps)
    print(hashlib.sha256(words.tobytes() + factors.tobytes()).hexdigest())
    numbers = np.arange(5001, dtype=np.uint32)
    allowed = (rng.random(5000) < 0.2).astype(np.uint8)
    query = rng.standard_normal(width).astype(np.float32)
    vectors.flags.writeable = query.flags.writeable = False  # as the engine's
    parts = (vectors, codes, steps[0], (words, factors), 0, 5000, numbers[:5000], numbers)
    for mask in (np.ones_like(allowed), allowed):
        for part in cascade_top(*parts, mask, query, -1e9, 40, 90, 60):
            print(part.tolist())
"""


def test_every_processor_proposes_the_same_rows():
    printed = []
    for extra in ({}, {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}):
        kernels = str(Path(recollex_kernels.__file__).parents[1])
        run = subprocess.run(
            [sys.executable, "-c", PLAIN],
            env=os.environ | extra | {"PYTHONPATH": kernels},
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        printed.append(run.stdout)
    assert printed[0] == printed[1]

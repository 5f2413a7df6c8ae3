import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollex_kernels
from recollex_kernels.machine.bit_masks import TILE
from recollex_kernels.vectors._query_levels import (
    PLANES,
    TOGETHER,
    encode_levels,
    estimate_tile,
    level_estimates,
    scale_of,
)
from tests.kernels.unit_vectors import (
    clustered,
    cosines_of,
    estimates,
    levels,
    scale_of_turned,
    turned,
    unpacked,
)

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")


@numba.njit
def estimated(held, factors, first, planes, total, limit, out, to):
    return level_estimates(held, factors, first, planes, total, np.float32(limit), out, to)


@given(st.integers(0, 10**6), st.sampled_from([1, 2, 6, 7]), st.integers(0, 9))
def test_estimates_are_the_products_of_signs_and_levels_times_a_factor(seed, words, first):
    rng = np.random.default_rng(seed)
    width = 64 * words
    held = rng.integers(0, 2**64, (TILE + 9, words), np.uint64)
    query = rng.standard_normal(width).astype(np.float32)
    if seed % 3 == 0:  # the greatest sum: all bits differ, and all but one are large
        held[:] = 2**64 - 1
        query[:] = -1
        query[0] = 0
    factors = rng.random(TILE + 9).astype(np.float32)
    planes = np.empty((PLANES, TOGETHER * words), np.uint64)
    total = np.int32(encode_levels(query, planes))
    products = ((2 * unpacked(held, width) - 1) @ levels(query)).astype(np.float32) * factors
    expected = products[first : first + TILE]
    limit = rng.choice([-np.inf, rng.choice(expected), np.inf])
    out = np.zeros(TILE + 5, np.float32)
    reached = estimated(held, factors, first, planes, total, limit, out, 3)
    assert out.tolist() == [0] * 3 + expected.tolist() + [0] * 2
    assert [reached >> p & 1 for p in range(TILE)] == (expected > limit).tolist()


@given(st.integers(0, 10**6), st.sampled_from([8, 40, 72]))
def test_components_beyond_the_width_count_nothing(seed, width):
    query = np.random.default_rng(seed).integers(-3, 4, width).astype(np.float32)
    planes = np.empty((PLANES, TOGETHER * -(-width // 64)), np.uint64)
    total = encode_levels(query, planes)
    assert total == np.abs(levels(query)).sum()
    held = np.ones((TILE, width), np.uint8)
    held = np.packbits(np.pad(held, ((0, 0), (0, -width % 64))), axis=1, bitorder="little")
    ones, out = np.ones(TILE, np.float32), np.empty(TILE, np.float32)
    estimated(held.view(np.uint64), ones, 0, planes, np.int32(total), 0.0, out, 0)
    assert out.tolist() == [levels(query).sum()] * TILE


@given(st.integers(0, 10**6), st.sampled_from([2, 6]), st.integers(1, TILE), st.booleans())
def test_some_rows_are_estimated_as_those_of_a_whole_tile(seed, words, size, listed):
    rng = np.random.default_rng(seed)
    held = rng.integers(0, 2**64, (200, words), np.uint64)
    factors = rng.random(200).astype(np.float32)
    planes = rng.integers(0, 2**64, (PLANES, words), np.uint64)
    planes, total = np.tile(planes, TOGETHER), np.int32(rng.integers(500))
    rows = rng.integers(0, 200, 100 if listed else 0).astype(np.uint32)
    first, low = 0 if listed else 60, int(rng.integers(100 - size)) if size < 100 else 0
    chosen = rows[low : low + size] if listed else np.arange(first + low, first + low + size)
    whole, out = np.empty(TILE, np.float32), np.empty(TILE + 2, np.float32)
    own, own_factors = np.zeros((TILE, words), np.uint64), np.zeros(TILE, np.float32)
    own[:size], own_factors[:size] = held[chosen], factors[chosen]
    limit = np.float32(-1)
    expected = estimated(own, own_factors, 0, planes, total, limit, whole, 0)
    scratch = np.full((TILE, words), 2**64 - 1, np.uint64), np.ones(TILE, np.float32)
    asked = rows, first, low, size, planes, total, limit, out, 2, scratch
    reached = estimate_tile((held, factors), *asked)
    assert out[2 : 2 + size].tolist() == whole[:size].tolist()
    assert reached == expected & (2**size - 1)


@given(st.integers(0, 10**6), st.sampled_from([8, 72, 384]))
def test_a_scale_makes_similarities_of_estimates(seed, width):
    query = np.random.default_rng(seed).standard_normal(width).astype(np.float32)
    query *= seed % 5 > 0
    assert scale_of(query) == scale_of_turned(query)


def test_estimates_err_by_less_than_a_twentieth():
    vectors = clustered(3000, 384, 5)
    query = vectors[7].astype(np.float32)
    scale = scale_of_turned(turned(query))
    apart = estimates(vectors, query) * scale - cosines_of(vectors, range(3000), query)
    assert abs(apart.mean()) < 0.01
    assert apart.std() < 0.05


PLAIN = """
import numba, numpy as np
from recollex_kernels.vectors._query_levels import PLANES, TOGETHER, level_estimates

@numba.njit
def estimated(held, factors, planes, total, limit, out):
    return level_estimates(held, factors, 0, planes, total, limit, out, 0)

rng, ones = np.random.default_rng(1), np.full((64, 6), 2**64 - 1, np.uint64)
words = rng.integers(0, 2**64, (64, 6), np.uint64), rng.integers(0, 2**64, (PLANES, 6), np.uint64)
for held, own in (words, (ones, np.array([[0] * 6, ones[0]], np.uint64))):
    planes, out = np.tile(own, TOGETHER), np.empty(64, np.float32)
    factors, limit = rng.random(64).astype(np.float32), np.float32(-99)
    reached = estimated(held, factors, planes, np.int32(500), limit, out)
    differ, sums = held ^ planes[0, :6], np.zeros(64, np.int32)
    for bits in (differ, differ & planes[1, :6], differ & planes[1, :6]):
        sums += np.unpackbits(bits.view(np.uint8), axis=1).sum(1, np.int32)
    expected = (500 - 2 * sums).astype(np.float32) * factors
    print(*(out == expected), *((reached >> p & 1) == (expected[p] > limit) for p in range(64)))
"""


@pytest.mark.parametrize(("processor", "features"), [("generic", ""), ("haswell", "+avx2")])
def test_other_processors_estimate_the_same(processor, features):
    if "avx2" in features and "avx2" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has no AVX2")
    run = subprocess.run(
        [sys.executable, "-c", PLAIN],
        env=os.environ
        | {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": features}
        | {"PYTHONPATH": str(Path(recollex_kernels.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert set(run.stdout.split()) == {"True"}

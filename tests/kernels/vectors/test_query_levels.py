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
from recollex_kernels.vectors._level_sums import PLANES, TOGETHER, level_sums
from recollex_kernels.vectors._query_levels import encode_levels, scale_of
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
def sums_of(held, first, groups, planes, out):
    level_sums(held, first, groups, planes, out)


@given(st.integers(0, 10**6), st.sampled_from([1, 2, 6, 7]), st.integers(1, 9))
def test_sums_tell_the_products_of_signs_and_levels(seed, words, groups):
    rng = np.random.default_rng(seed)
    rows, width = groups * TOGETHER, 64 * words
    held = rng.integers(0, 2**64, (rows + 3, words), np.uint64)
    query = rng.standard_normal(width).astype(np.float32)
    if seed % 3 == 0:  # the greatest sum: all bits differ, and all but one are large
        held[:] = 2**64 - 1
        query[:] = -1
        query[0] = 0
    planes = np.empty((PLANES, TOGETHER * words), np.uint64)
    total = encode_levels(query, planes)
    out = np.empty(rows, np.int32)
    sums_of(held, 3, groups, planes, out)
    products = (2 * unpacked(held[3:], width) - 1) @ levels(query)
    assert (total - 2 * out).tolist() == products.tolist()


@given(st.integers(0, 10**6), st.sampled_from([8, 40, 72]))
def test_components_beyond_the_width_count_nothing(seed, width):
    query = np.random.default_rng(seed).integers(-3, 4, width).astype(np.float32)
    planes = np.empty((PLANES, TOGETHER * -(-width // 64)), np.uint64)
    total = encode_levels(query, planes)
    assert total == np.abs(levels(query)).sum()
    held = np.ones((TOGETHER, width), np.uint8)
    held = np.packbits(np.pad(held, ((0, 0), (0, -width % 64))), axis=1, bitorder="little")
    out = np.empty(TOGETHER, np.int32)
    sums_of(held.view(np.uint64), 0, 1, planes, out)
    assert (total - 2 * out).tolist() == [levels(query).sum()] * TOGETHER


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
from recollex_kernels.vectors._level_sums import PLANES, TOGETHER, level_sums

@numba.njit
def sums_of(held, planes, out):
    level_sums(held, 0, len(out) // TOGETHER, planes, out)

rng = np.random.default_rng(1)
for held in (rng.integers(0, 2**64, (80, 6), np.uint64), np.full((8, 6), 2**64 - 1, np.uint64)):
    own = rng.integers(0, 2**64, (PLANES, 6), np.uint64) if len(held) > 8 else [[0] * 6, held[0]]
    planes, out = np.tile(np.array(own, np.uint64), TOGETHER), np.empty(len(held), np.int32)
    sums_of(held, planes, out)
    differ = held ^ planes[0, :6]
    for bits in (differ, differ & planes[1, :6], differ & planes[1, :6]):
        out -= np.unpackbits(bits.view(np.uint8), axis=1).sum(1, np.int32)
    print(*out)
"""


@pytest.mark.parametrize(("processor", "features"), [("generic", ""), ("haswell", "+avx2")])
def test_other_processors_sum_the_same(processor, features):
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
    assert set(run.stdout.split()) == {"0"}

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

import recollex_kernels
from recollex_kernels.vectors.codes import cosines, eight_bits
from tests.kernels.unit_vectors import bits, cosines_of

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")


def tree(lanes):
    while lanes.shape[1] > 1:
        half = lanes.shape[1] // 2
        lanes = lanes[:, :half] + lanes[:, half:]
    return lanes[:, 0]


def similarity(vectors, query):
    """The definition, in float32 numpy: blocks of 32 lanes, then blocks of 8, then the trees."""
    v = vectors.astype(np.float32)
    whole = v.shape[1] // 32 * 32
    a, b = np.zeros((len(v), 32), np.float32), np.zeros((len(v), 8), np.float32)
    for j in range(0, whole, 32):
        a += v[:, j : j + 32] * query[j : j + 32]
    for j in range(whole, v.shape[1], 8):
        b += v[:, j : j + 8] * query[j : j + 8]
    return tree(a) + tree(b)


def test_every_float16_is_decoded_exactly():
    every = np.arange(65536, dtype=np.uint16).reshape(-1, 8)
    expected = every.view(np.float16).astype(np.float32)
    for lane in range(8):
        alone = np.zeros_like(every)
        alone[:, lane] = every[:, lane]
        query = np.zeros(8, np.float32)
        query[lane] = 1
        out = np.empty(len(every), np.float32)
        cosines(alone, np.arange(len(every), dtype=np.uint32), query, out)
        assert np.array_equal(out, expected[:, lane], equal_nan=True)


PLAIN = """
import numpy as np
from recollex_kernels.vectors.codes import cosines

every = np.arange(65536, dtype=np.uint16).reshape(-1, 8)
rows = np.arange(len(every), dtype=np.uint32)
out = np.empty(len(every), np.float32)
for lane in range(8):
    query = np.zeros(8, np.float32)
    query[lane] = 1
    alone = np.where(np.arange(8) == lane, every, np.uint16(0))
    cosines(alone, rows, query, out)
    assert np.array_equal(out, every.view(np.float16)[:, lane].astype(np.float32), equal_nan=True)
rng = np.random.default_rng(0)
vectors = rng.standard_normal((100, 72)).astype(np.float16).view(np.uint16)
cosines(vectors, rows[:100], rng.standard_normal(72).astype(np.float32), out)
print(out[:100].tobytes().hex())
"""


def test_a_processor_without_float16_gives_the_same_bits():
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((100, 72)).astype(np.float16)
    query = rng.standard_normal(72).astype(np.float32)
    run = subprocess.run(
        [sys.executable, "-c", PLAIN],
        env=os.environ
        | {
            "NUMBA_CPU_NAME": "generic",
            "NUMBA_CPU_FEATURES": "",
            "PYTHONPATH": str(Path(recollex_kernels.__file__).parents[1]),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == cosines_of(vectors, range(100), query).tobytes().hex()


@pytest.mark.parametrize("width", [8, 24, 32, 40, 384, 1000])
def test_cosines_equal_the_definition_to_the_bit(width):
    rng = np.random.default_rng(width)
    vectors = rng.standard_normal((50, width)).astype(np.float16)
    query = rng.standard_normal(width).astype(np.float32)
    rows = rng.integers(0, 50, 80)
    assert cosines_of(vectors, rows, query).tobytes() == similarity(vectors, query)[rows].tobytes()


@pytest.mark.parametrize("size", [1.0, 1e-6, 1e-3, 6e4])
def test_eight_bits_are_the_nearest(size):
    rng = np.random.default_rng(3)
    vectors = (rng.uniform(-1, 1, (200, 40)) * size).astype(np.float16)
    vectors[::7] = 0
    out = np.empty((200, 40), np.int8)
    eight_bits(bits(vectors), out)
    scales = np.abs(vectors).max(axis=1).astype(np.float64) / 127
    assert not out[scales == 0].any()
    lost = vectors.astype(np.float64) - scales[:, None] * out
    assert (np.abs(lost) <= scales[:, None] * 0.5001).all()
    assert np.abs(out.astype(int)).max() == 127

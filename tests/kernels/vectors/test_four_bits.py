import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import recollex_kernels
from recollex_kernels.machine.jit import kernel
from recollex_kernels.vectors._four_bits import TOGETHER, bounds, encode_query, four_sums
from recollex_kernels.vectors.codes import cosines, encode


@kernel
def sums_of(codes, rows, query, out):
    for i in range(0, rows.shape[0], 4):
        four_sums(codes, rows[i], rows[i + 1], rows[i + 2], rows[i + 3], query, out, i)


def encoded(vectors):
    n, width = vectors.shape
    parts = np.empty((n, width // 2), np.uint8), *(np.empty(n, np.float32) for _ in range(3))
    encode(vectors.view(np.uint16), *parts)
    return parts


def unpacked(codes):
    """The codes of components 0, 1, ... of each row, 0 to 15."""
    return np.hstack([codes & 15, codes >> 4])


def approximation(vectors):
    codes, steps, _, _ = encoded(vectors)
    return steps[:, None].astype(np.float64) * (unpacked(codes) - 7.5)


def similarities_and_bounds(vectors, query):
    """Each row's similarity, and the bound of it, the vectors a multiple of four."""
    n, width = vectors.shape
    codes, *rest = encoded(vectors)
    exact = np.empty(n, np.float32)
    cosines(vectors.view(np.uint16), np.arange(n, dtype=np.uint32), query, exact)
    query_codes, sums = np.empty(width, np.int8), np.empty(n, np.int32)
    step, per_norm, per_loss, shift = encode_query(query, query_codes)
    sums_of(codes, np.arange(n), query_codes, sums)
    assert sums.tolist() == (unpacked(codes).astype(int) @ query_codes.astype(int)).tolist()
    likely, most = np.empty(n, np.float32), np.empty(n, np.float32)
    given = np.float32(step), np.float32(per_norm), np.float32(per_loss), np.int32(shift)
    bounds(sums, tuple(rest), 0, n, given, likely, most, 0)
    assert (likely <= most).all()
    return exact, most


@pytest.mark.parametrize("width", [8, 64, 72, 136, 384])
@pytest.mark.parametrize("size", [1e-30, 1e-3, 1.0, 1e4])
def test_the_bound_holds_for_any_query(width, size):
    rng = np.random.default_rng(width)
    vectors = rng.standard_normal((300, width)).astype(np.float16)
    vectors[::9] = 0
    for _ in range(5):
        query = (rng.standard_normal(width) * size).astype(np.float32)
        exact, most = similarities_and_bounds(vectors, query)
        assert (exact <= most).all()


@pytest.mark.parametrize("width", [8, 64, 384])
def test_the_bound_holds_and_is_tight_when_the_query_is_what_the_codes_lose(width):
    rng = np.random.default_rng(width)
    vectors = rng.standard_normal((40, width)).astype(np.float16)
    for row, lost in enumerate(vectors.astype(np.float64) - approximation(vectors)):
        query = (lost / np.linalg.norm(lost)).astype(np.float32)
        exact, most = similarities_and_bounds(vectors, query)
        assert (exact <= most).all()
        assert most[row] - exact[row] < 0.05 * np.linalg.norm(vectors[row].astype(np.float64))


@pytest.mark.parametrize("width", [8, 64, 384])
def test_the_bound_holds_when_a_row_is_what_the_query_loses(width):
    rng = np.random.default_rng(width)
    for _ in range(20):
        query = rng.standard_normal(width).astype(np.float32)
        codes = np.empty(width, np.int8)
        half_step, *_ = encode_query(query, codes)
        signs = np.sign(query.astype(np.float64) - 2 * half_step * codes)
        rows = np.repeat(signs[None, :].astype(np.float16), TOGETHER, axis=0)
        exact, most = similarities_and_bounds(rows, query)
        assert (exact <= most).all()


@pytest.mark.parametrize("size", [1.0, 1e-6, 1e-3, 6e4])
def test_norm_and_loss_are_true_bounds(size):
    rng = np.random.default_rng(3)
    vectors = (rng.uniform(-1, 1, (200, 40)) * size).astype(np.float16)
    vectors[::7] = 0
    _, _, norms, losses = encoded(vectors)
    near = approximation(vectors)
    for found, true in (
        (norms, np.linalg.norm(near, axis=1)),
        (losses, np.linalg.norm(vectors.astype(np.float64) - near, axis=1)),
    ):
        assert (found >= true).all()
        assert (found <= true * 1.00001).all()
    assert not norms[::7].any() and not losses[::7].any()


def test_four_bits_lose_little_of_a_random_direction():
    vectors = np.random.default_rng(0).standard_normal((100, 384))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float16)
    *_, losses = encoded(vectors)
    assert 0.09 < np.median(losses) < 0.115


def test_the_widest_codes_do_not_overflow():
    for width in (384, 1024, 4096):
        codes = np.full((1, width // 2), 255, np.uint8)
        query, sums = np.full(width, 127, np.int8), np.empty(4, np.int32)
        for sign in (1, -1):
            sums_of(codes, np.zeros(4, np.int64), sign * query, sums)
            assert sums.tolist() == [sign * 15 * 127 * width] * 4


PLAIN = """
import numpy as np
from test_four_bits import sums_of

rng = np.random.default_rng(1)
for width in (8, 64, 72, 136, 384):
    codes = rng.integers(0, 256, (8, width // 2)).astype(np.uint8)
    query = rng.integers(-127, 128, width).astype(np.int8)
    out = np.empty(8, np.int32)
    sums_of(codes, np.array([3, 0, 0, 7, 6, 5, 4, 1]), query, out)
    print(out.tolist())
"""


@pytest.mark.parametrize(
    ("processor", "features"),
    [("generic", ""), ("haswell", "+avx2"), ("alderlake", "+avx2,+avxvnni")],
)
def test_every_processor_gives_the_same_sums(processor, features):
    """What this processor runs, and what older ones would, are equal."""
    if "vnni" in features and "avx_vnni" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has no AVX-VNNI")
    printed = []
    for extra in ({}, {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": features}):
        here = str(Path(__file__).parent)
        kernels = str(Path(recollex_kernels.__file__).parents[1])
        run = subprocess.run(
            [sys.executable, "-c", PLAIN],
            env=os.environ | extra | {"PYTHONPATH": f"{kernels}:{here}"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        printed.append(run.stdout)
    assert printed[0] == printed[1]

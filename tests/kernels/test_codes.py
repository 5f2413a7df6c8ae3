import numpy as np
import pytest

from recollex_kernels._codes import code_dot, encode_query
from recollex_kernels.vectors import cosines, quantize


def similarities_and_bounds(vectors, query):
    n, width = vectors.shape
    codes, scales = np.empty((n, width), np.int8), np.empty(n, np.float32)
    residuals, exact = np.empty(n, np.float32), np.empty(n, np.float32)
    quantize(vectors.view(np.uint16), codes, scales, residuals)
    cosines(vectors.view(np.uint16), np.arange(n, dtype=np.uint32), query, exact)
    query_codes = np.empty(width, np.int16)
    step, per_scale, per_residual = encode_query(query, query_codes)
    dots = np.array([code_dot(row, query_codes) for row in codes], np.float64)
    assert dots.tolist() == (codes.astype(np.int64) @ query_codes.astype(np.int64)).tolist()
    return exact, scales * (step * dots + per_scale) + residuals.astype(np.float64) * per_residual


def lost_by_codes(vectors):
    n, width = vectors.shape
    codes, scales = np.empty((n, width), np.int8), np.empty(n, np.float32)
    quantize(vectors.view(np.uint16), codes, scales, np.empty(n, np.float32))
    return vectors.astype(np.float64) - scales[:, None].astype(np.float64) * codes


@pytest.mark.parametrize("width", [8, 64, 384])
@pytest.mark.parametrize("size", [1e-30, 1e-3, 1.0, 1e4])
def test_the_bound_holds_for_any_query(width, size):
    rng = np.random.default_rng(width)
    vectors = rng.standard_normal((300, width)).astype(np.float16)
    for _ in range(5):
        query = (rng.standard_normal(width) * size).astype(np.float32)
        exact, bounds = similarities_and_bounds(vectors, query)
        assert (exact <= bounds).all()


@pytest.mark.parametrize("width", [8, 64, 384])
def test_the_bound_holds_and_is_tight_when_the_query_is_what_the_codes_lose(width):
    rng = np.random.default_rng(width)
    vectors = rng.standard_normal((40, width)).astype(np.float16)
    for row, lost in enumerate(lost_by_codes(vectors)):
        query = (lost / np.linalg.norm(lost)).astype(np.float32)
        exact, bounds = similarities_and_bounds(vectors, query)
        assert (exact <= bounds).all()
        assert bounds[row] - exact[row] < 0.05 * np.linalg.norm(lost)


@pytest.mark.parametrize("width", [8, 64, 384])
def test_the_bound_holds_when_a_row_is_what_the_query_loses(width):
    rng = np.random.default_rng(width)
    for _ in range(20):
        query = rng.standard_normal(width).astype(np.float32)
        codes = np.empty(width, np.int16)
        step, _, _ = encode_query(query, codes)
        signs = np.sign(query.astype(np.float64) - step * codes)
        exact, bounds = similarities_and_bounds(signs[None, :].astype(np.float16), query)
        assert (exact <= bounds).all()


def test_the_widest_codes_do_not_overflow():
    for width in (384, 1024, 4096):
        query = np.ones(width, np.float32)
        codes = np.empty(width, np.int16)
        step, _, _ = encode_query(query, codes)
        row = np.full(width, 127, np.int8)
        assert code_dot(row, codes) == 127 * int(codes.astype(np.int64).sum())
        assert abs(step * codes[0] - 1) < 1e-6

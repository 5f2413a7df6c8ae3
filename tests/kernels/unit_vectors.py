"""Vectors for tests of kernels, as the engine keeps them, and their exact similarities."""

import numpy as np

from recollex_kernels.vectors import cosines, encode


def frozen(values, dtype):
    array = np.array(values, dtype=dtype)
    array.flags.writeable = False
    return array


def bits(vectors):
    array = np.ascontiguousarray(vectors, dtype=np.float16).view(np.uint16)
    array.flags.writeable = False
    return array


def cosines_of(vectors, rows, query):
    out = np.empty(len(rows), np.float32)
    cosines(bits(vectors), frozen(rows, np.uint32), query, out)
    return out


def encoded(vectors):
    n, width = vectors.shape
    parts = np.empty((n, width // 2), np.uint8), *(np.empty(n, np.float32) for _ in range(3))
    encode(bits(vectors), *parts)
    for array in parts:
        array.flags.writeable = False
    return parts


def clustered(n, width, seed, grid=None):
    """Unit vectors around a few centres; a coarse grid forces equal scores."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((8, width))[rng.integers(0, 8, n)]
    vectors = vectors + 0.5 * rng.standard_normal((n, width))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    if grid:
        vectors = np.round(vectors * grid) / grid
    return vectors.astype(np.float16)

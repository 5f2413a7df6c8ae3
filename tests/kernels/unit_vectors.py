"""Vectors for tests of kernels, as the engine keeps them, and their exact similarities."""

from functools import reduce
from operator import add

import numpy as np

from recollex_kernels.vectors._one_bit import turn
from recollex_kernels.vectors.cascade import encode_signs
from recollex_kernels.vectors.codes import cosines, encode
from tests.kernels.inputs import frozen, kept, read_only


def bits(vectors):
    return read_only(np.ascontiguousarray(vectors, dtype=np.float16).view(np.uint16))


def cosines_of(vectors, rows, query):
    out = np.empty(len(rows), np.float32)
    cosines(bits(vectors), frozen(rows, np.uint32), query, out)
    return out


def encoded(vectors):
    n, width = vectors.shape
    parts = np.empty((n, width // 2), np.uint8), *(np.empty(n, np.float32) for _ in range(3))
    encode(bits(vectors), *parts)
    for array in parts:
        kept(array)
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


def turned(row):
    """A row as its signs are taken of it."""
    row = np.asarray(row, np.float32)
    out = np.empty_like(row)
    turn(row, out)
    return out


def signs_of(vectors):
    n, width = vectors.shape
    words, factors = np.empty((n, -(-width // 64)), np.uint64), np.empty(n, np.float32)
    encode_signs(bits(vectors), words, factors)
    return words, factors


def unpacked(words, width):
    return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, :width].astype(int)


def levels(q):
    """The odd whole numbers of a turned query: its signs, three where it is large."""
    q = q.astype(np.float64)
    large = q * q * len(q) > sum((q * q).tolist())  # in order, as a loop adds
    return np.where(q >= 0, 1, -1) * (1 + 2 * large)


def scale_of_turned(q):
    """What makes a similarity of an estimate."""
    q = q.astype(np.float64)
    along = in_order(q * levels(q))
    return in_order(q * q) / along if along > 0 else 0.0


def in_order(numbers):
    """The sum as a loop adds it; `sum` compensates what it rounds, since Python 3.12."""
    return reduce(add, numbers.tolist())


def estimates(vectors, query):
    """What one bit a component says of a query of four levels."""
    words, factors = signs_of(vectors)
    q = turned(query)
    whole = (2 * unpacked(words, len(q)) - 1) @ levels(q)
    return whole.astype(np.float32) * factors


def four_bit_estimates(vectors, query):
    """What four bits a component say: the equation, with whole numbers of row and query."""
    codes, steps, *_ = encoded(vectors)
    u = np.hstack([codes & 15, codes >> 4]).astype(int)
    step = np.float64(np.abs(query).max()) / 127
    d = np.rint(query / step).astype(int) if step else np.zeros(len(query), int)
    whole = 2 * (u @ d) - 15 * d.sum()
    return whole.astype(np.float32) * steps

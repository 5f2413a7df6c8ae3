"""Estimates from one bit a component of a row and four levels of a query.

Of a turned query q (see `_one_bit`) each component becomes s (1/2 + m) in steps of t: s its sign, m
1 where its size is above t, the root of the mean of its squares, which is nearly the step that
loses least if components are normal. A row's bits are b in {-1, 1}; x tells where b and s differ:
    <b, q>  ~  t (D/2 + sum m - S),   S = the number of x + 2 * the number of x and m
whole numbers except t, which is the same for all rows. What is compared is
    (D + 2 sum m - 2 S) |v|^2 / <b, v>
Three bits of a query take half as much time again, and make the error a ninth less.

The planes of a query are words like a row's: where it is negative no bit of s, and m. Beyond D both
are 0, as a row's bits are.
"""

import numpy as np

from recollex_kernels.machine.bit_masks import TILE
from recollex_kernels.machine.jit import F32, U32, U64, kernel
from recollex_kernels.machine.prefetch import prefetch, prefetch_row
from recollex_kernels.vectors._level_estimates import TOGETHER, level_estimates
from recollex_kernels.vectors.codes import OneBit

_AHEAD = 48  # rows prefetched ahead


@kernel
def encode_levels(turned: F32, out_planes: U64) -> int:
    """Fill the planes of a turned query, s and m, and return D + 2 sum m.

    They are repeated as the words of rows are: ``out_planes[p, j]`` is word j mod W of plane p.

    Shapes: turned float32[D]; out_planes uint64[PLANES, TOGETHER * W]. Cost: O(D).
    """
    width = turned.shape[0]
    words = out_planes.shape[1] // TOGETHER
    square = 0.0
    for j in range(width):
        square += np.float64(turned[j]) * np.float64(turned[j])
    out_planes[:, :] = np.uint64(0)
    total = int(width)
    for j in range(width):
        q = np.float64(turned[j])
        large = int(q * q * width > square)
        total += 2 * large
        out_planes[0, j // 64] |= np.uint64(q >= 0) << np.uint64(j % 64)
        out_planes[1, j // 64] |= np.uint64(large) << np.uint64(j % 64)
    for j in range(words, out_planes.shape[1]):
        out_planes[0, j], out_planes[1, j] = out_planes[0, j - words], out_planes[1, j - words]
    return int(total)


@kernel
def scale_of(turned: F32) -> float:
    """Return |q|^2 / <q, s (1 + 2 m)> of a turned query: what is compared, times it, estimates.

    It is 0 for a query of zeros. Cost: O(D).
    """
    width = turned.shape[0]
    square = 0.0
    along = 0.0
    for j in range(width):
        square += np.float64(turned[j]) * np.float64(turned[j])
    for j in range(width):
        q = abs(np.float64(turned[j]))
        along += q * (3.0 if q * q * width > square else 1.0)
    return square / along if along > 0 else 0.0


@kernel
def estimate_tile(
    signs: OneBit,
    chosen: U32,
    first: int,
    low: int,
    size: int,
    planes: U64,
    total: np.int32,
    limit: np.float32,
    out: F32,
    to: int,
    scratch: tuple[U64, F32],
) -> np.uint64:
    """Do what `level_estimates` does for rows that do not lie together, or for fewer of them.

    Callers use `level_estimates` themselves where 64 rows lie together: a call of this kernel
    counts a reference to each array, and a scan of 100,000 rows takes four times as long.

    Row p is chosen[low + p], first + low + p if none are chosen, for p < size, at most `TILE`.
    scratch: uint64[TILE, W], float32[TILE].
    """
    bits, factors = signs
    tile, own = scratch
    for p in range(size):
        if low + p + _AHEAD < chosen.shape[0]:
            ahead = chosen[low + p + _AHEAD]
            prefetch_row(bits, ahead)
            prefetch(factors, int(ahead))
        row = int(chosen[low + p]) if chosen.shape[0] > 0 else first + low + p
        own[p] = factors[row]
        for w in range(bits.shape[1]):
            tile[p, w] = bits[row, w]
    reached = level_estimates(tile, own, 0, planes, total, limit, out, to)
    return reached if size == TILE else reached & ((np.uint64(1) << np.uint64(size)) - np.uint64(1))

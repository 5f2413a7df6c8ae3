"""Maximal marginal relevance, over vectors or over similarities that are known already.

Both ways of computing it use the similarity of ``_float16``, which is the same number for (a, b)
and (b, a), so they give the same order to the bit.
"""

import numpy as np

from recollex_kernels._float16 import decode_row, similarity
from recollex_kernels._jit import F32, F64, I64, U16, U32, kernel
from recollex_kernels._scores import unit


@kernel
def gram(vectors: U16, rows: U32) -> F32:
    """Return the similarity of every pair of rows, float32[n, n], symmetric.

    Shapes: vectors uint16[N, D], float16 bit patterns; rows uint32[n], in [0, N), may repeat.

    Cost: n (n + 1) / 2 similarities, about 14 ns each for D = 384: 70 us for 100 rows.
    """
    n = rows.shape[0]
    out = np.empty((n, n), np.float32)
    row = np.empty(vectors.shape[1], np.float32)
    for i in range(n):
        decode_row(vectors, rows[i], row)
        for j in range(i + 1):
            s = similarity(vectors, rows[j], row)
            out[i, j] = s
            out[j, i] = s
    return out


@kernel
def _next(near: F32, relevance: F64, apart: float, nearest: F32) -> int:
    """Return the place to take next, having brought ``nearest`` up to date with ``near``.

    ``near`` float32[n] are the similarities to the one taken last; ``relevance`` is weighted, and
    minus infinity for those taken.
    """
    for i in range(nearest.shape[0]):
        nearest[i] = max(nearest[i], near[i])
    chosen, greatest = -1, -np.inf
    for i in range(nearest.shape[0]):
        value = relevance[i] - apart * np.float64(nearest[i])
        if value > greatest:
            chosen, greatest = i, value
    return chosen


@kernel
def _greatest(relevance: F64) -> int:
    """Return the place of the greatest relevance, the lowest on ties."""
    best = 0
    for i in range(relevance.shape[0]):
        if relevance[i] > relevance[best]:
            best = i
    return best


@kernel
def mmr(vectors: U16, rows: U32, scores: F64, balance: float, k: int) -> I64:
    """Return the places of ``k`` rows in the order in which maximal marginal relevance takes them.

    Equation (Memora 3.4, after Carbonell & Goldstein 1998), lambda = ``balance``:
        next = argmax over c not taken of
               lambda * relevance[c] - (1 - lambda) * max over s taken of similarity(c, s)
    For the first the second term is 0. relevance = unit(scores) (see ``_scores``), so that it lies
    in [0, 1] beside a cosine. Ties: the lower place.

    Shapes: as for `gram`; scores float64[n], finite; k >= 0, more than n gives all n.

    Cost: about k (n - k / 2) similarities and k n comparisons, for what is nearest among those
    taken is kept and not computed again: 40 us for 30 of 100 rows, 80 us for all of them.
    """
    n = rows.shape[0]
    size = max(0, min(k, n))
    order = np.empty(size, np.int64)
    if size == 0:
        return order
    relevance = balance * unit(scores)
    nearest = np.full(n, -np.inf, np.float32)
    near = np.zeros(n, np.float32)
    row = np.empty(vectors.shape[1], np.float32)
    order[0] = _greatest(relevance)
    for place in range(1, size):
        last = order[place - 1]
        relevance[last] = -np.inf
        decode_row(vectors, rows[last], row)
        for i in range(n):
            if relevance[i] > -np.inf:
                near[i] = similarity(vectors, rows[i], row)
        order[place] = _next(near, relevance, 1 - balance, nearest)
    return order


@kernel
def mmr_of_gram(similarities: F32, scores: F64, balance: float, k: int) -> I64:
    """Return what `mmr` returns, from similarities that are known already.

    Shapes: similarities float32[n, n], from `gram`. Cost: O(k n), 20 us for all of 100 rows.
    """
    n = scores.shape[0]
    size = max(0, min(k, n))
    order = np.empty(size, np.int64)
    if size == 0:
        return order
    relevance = balance * unit(scores)
    nearest = np.full(n, -np.inf, np.float32)
    order[0] = _greatest(relevance)
    for place in range(1, size):
        last = order[place - 1]
        relevance[last] = -np.inf
        order[place] = _next(similarities[last], relevance, 1 - balance, nearest)
    return order

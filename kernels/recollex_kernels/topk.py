"""The best k of many scores, by a bounded heap and no full sort."""

import numpy as np

from recollex_kernels._heap import offer, sift, unheap
from recollex_kernels._jit import F32, U8, U32, kernel

_BLOCK = 64


@kernel
def _any_above(scores: F32, first: int, limit: np.float32) -> bool:
    """Return whether one of the block's scores is above ``limit``; a last, short block may be.

    The constant trip count and the int32 sum are what lets the compiler use vector compares.
    """
    if first + _BLOCK > scores.shape[0]:
        return True
    above = np.int32(0)
    for i in range(_BLOCK):
        above = np.int32(above + np.int32(scores[np.uint64(first + i)] > limit))
    return bool(above > 0)


@kernel
def topk(values: F32, k: int) -> tuple[U32, F32]:
    """Return the positions and values of the ``k`` greatest values, greatest first.

    Ties: the lower position. Fewer than ``k`` values give them all.

    Shapes, for N values: values float32[N], no NaN.

    Cost: O(N) reads and O(c log k) heap steps, c of the values having entered the heap.
    """
    n = 0
    size = max(0, min(k, values.shape[0]))
    scores = np.empty(size, np.float32)
    ids = np.empty(size, np.uint32)
    rows = np.empty(size, np.uint32)
    if size == 0:
        return ids, scores
    for i in range(size):
        n = offer(n, size, values[i], np.uint32(i), i, scores, ids, rows)
    for first in range(size, values.shape[0], _BLOCK):
        if _any_above(values, first, scores[0]):
            for i in range(first, min(first + _BLOCK, values.shape[0])):
                if values[i] > scores[0]:  # a tie with the worst kept loses: its position is higher
                    sift(size, values[i], np.uint32(i), i, scores, ids, rows)
    unheap(n, scores, ids, rows)
    return ids, scores


@kernel
def top_allowed(scores: F32, allowed: U8, floor: float, k: int) -> tuple[U32, F32]:
    """Return the ``k`` best memories above a floor among those allowed, and their scores.

    Only memories with score > ``floor`` and ``allowed[memory]`` count. Order: higher score, then
    lower memory.

    Shapes, for M memories: scores float32[M], no NaN; allowed uint8[M], 0 or 1.

    Cost: O(M) reads, and heap steps only for scores above the worst kept; no full sort.
    """
    n = 0
    size = max(0, min(k, scores.shape[0]))
    best = np.empty(size, np.float32)
    memories = np.empty(size, np.uint32)
    rows = np.empty(size, np.uint32)
    limit = np.float32(floor)
    if size == 0:
        return memories, best
    for first in range(0, scores.shape[0], _BLOCK):
        if not _any_above(scores, first, limit):
            continue
        for i in range(first, min(first + _BLOCK, scores.shape[0])):
            if scores[i] > limit and allowed[i] == 1:
                n = offer(n, size, scores[i], np.uint32(i), i, best, memories, rows)
                if n == size:  # a later memory must beat the worst kept: ties go to the lower
                    limit = best[0]
    unheap(n, best, memories, rows)
    return memories[:n].copy(), best[:n].copy()

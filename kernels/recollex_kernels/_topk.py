"""The best k of many scores, without a full sort."""

import numpy as np

from recollex_kernels._jit import F32, U8, U32, kernel
from recollex_kernels._pruned import prune, room
from recollex_kernels._scores import strongest

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
def top_allowed(scores: F32, allowed: U8, floor: float, k: int) -> tuple[U32, F32]:
    """Return the ``k`` best memories above a floor among those allowed, and their scores.

    Only memories with score > ``floor`` and ``allowed[memory]`` count. Order: higher score, then
    lower memory.

    Shapes, for M memories: scores float32[M], no NaN; allowed uint8[M], 0 or 1.

    Cost: O(M) reads, and a few ns for each score above the worst that was kept when it was met.
    """
    n = 0
    size = max(0, min(k, scores.shape[0]))
    best = np.empty(room(size), np.float32)
    memories = np.empty(room(size), np.uint32)
    rows = np.empty(room(size), np.uint32)
    limit = np.float32(floor)
    if size == 0:
        return memories[:0], best[:0]
    for first in range(0, scores.shape[0], _BLOCK):
        if not _any_above(scores, first, limit):
            continue
        for i in range(first, min(first + _BLOCK, scores.shape[0])):
            if scores[i] > limit and allowed[i] == 1:
                best[n], memories[n] = scores[i], i
                n += 1
                if n == best.shape[0]:  # a later memory must beat the worst kept
                    limit, n = prune(size, best, memories, rows), size
    order = strongest(best[:n], size)
    return memories[order], best[order]

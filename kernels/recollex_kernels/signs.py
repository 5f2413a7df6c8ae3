"""How does the best of a ranked list stand out? One pass over it."""

import numpy as np

from recollex_kernels._jit import F64, U32, kernel

NONE = np.uint32(0xFFFFFFFF)


@kernel
def standing(
    semantic: F64,
    base: F64,
    place: int,
    memories: U32,
    named: F64,
    ranked: U32,
    scores: F64,
    speaker: U32,
) -> F64:
    """Return the greatest ``semantic``, how ``base`` leads, and how far the named are ahead.

    The lead: the greatest ``base``, less the one at ``place`` from 1 in descending order, or less 0
    where there are fewer or it is below 0. Ahead: the greatest score of a memory that is named,
    less the greatest of one that is not and has a speaker; 0 unless there are both.

    Shapes, for n memories, at least 1, M in all:
        semantic, base  float64[n]  aligned with memories
        memories  uint32[n]   ascending, each in [0, M)
        named     float64[n]  aligned with memories: 1 if named, else 0
        ranked    uint32[n]   the same memories in any order
        scores    float64[n]  aligned with ranked
        speaker   uint32[>= M]  a label, or NONE
        returned  float64[3]

    Cost: O(n * (place + log n)).
    """
    n = memories.shape[0]
    best = np.full(place, -np.inf)
    likeness = -np.inf
    for i in range(n):
        likeness = max(likeness, semantic[i])
        if base[i] > best[place - 1]:
            j = place - 1
            while j > 0 and best[j - 1] < base[i]:
                best[j] = best[j - 1]
                j -= 1
            best[j] = base[i]
    ours, others = -np.inf, -np.inf
    for i in range(n):
        m = ranked[i]
        if named[np.searchsorted(memories, m)] == 1:
            ours = max(ours, scores[i])
        elif speaker[m] != NONE:
            others = max(others, scores[i])
    found = np.zeros(3, np.float64)
    found[0] = likeness
    found[1] = best[0] - max(best[place - 1], 0.0)
    if ours > -np.inf and others > -np.inf:
        found[2] = ours - others
    return found

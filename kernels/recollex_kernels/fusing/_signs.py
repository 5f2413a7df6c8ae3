"""How far does the best of a ranked list stand out? One pass over the list."""

import numpy as np

from recollex_kernels.machine.jit import F64, I64, U32, kernel

NONE = np.uint32(0xFFFFFFFF)


@kernel
def standing(
    members: U32,
    keyword: F64,
    semantic: F64,
    share: float,
    places: I64,
    place: int,
    speaker: U32,
    named: U32,
    scores: F64,
    naming: float,
) -> F64:
    """Return the greatest ``semantic``, how the best base leads, and how far the named are ahead.

    The base of a candidate is share * keyword + semantic. The lead: the greatest, less the one at
    ``place`` from 1 in descending order, or less 0 where there are fewer or it is below 0. Ahead:
    the greatest score, less ``naming``, of a candidate whose speaker is one of ``named``, less the
    greatest of one that is not and has a speaker; 0 unless there are both.

    Shapes, for m members, n candidates, at least 1, M memories in all:
        members, keyword, semantic, places   as `surround` returns them
        speaker   uint32[>= M]  a label, or NONE
        named     uint32[]      labels
        scores    float64[n]    of the candidates; naming is what naming its speaker added to one
        returned  float64[3]

    Cost: O(n * place) at worst.
    """
    best = np.full(place, -np.inf)
    likeness = -np.inf
    ours = -np.inf
    others = -np.inf
    for i in range(places.shape[0]):
        at = places[i]
        likeness = max(likeness, semantic[at])
        base = share * keyword[at] + semantic[at]
        if base > best[place - 1]:
            j = place - 1
            while j > 0 and best[j - 1] < base:
                best[j] = best[j - 1]
                j -= 1
            best[j] = base
        label = speaker[members[at]]
        is_named = False
        for s in range(named.shape[0]):
            is_named = is_named or named[s] == label
        if is_named:
            ours = max(ours, scores[i] - naming)
        elif label != NONE:
            others = max(others, scores[i])
    found = np.zeros(3, np.float64)
    found[0] = likeness
    found[1] = best[0] - max(best[place - 1], 0.0)
    if ours > -np.inf and others > -np.inf:
        found[2] = ours - others
    return found

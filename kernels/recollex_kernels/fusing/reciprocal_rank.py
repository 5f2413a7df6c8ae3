"""Ranks in a list, and reciprocal rank fusion of the arms' lists."""

import numpy as np

from recollex_kernels.machine.jit import F64, I64, U32, kernel


# The ranks of some memories in a list.
@kernel
def ranks_in(memories: U32, listed: U32) -> U32:
    """Return the rank of each memory in a list, from 1; 0 for those that are not in it.

    Shapes, for n memories, a list of m:
        memories  uint32[n]   each once
        listed    uint32[m]   each once, best first
        returned  uint32[n]

    Cost: O((n + m) log n).
    """
    n = memories.shape[0]
    found = np.zeros(n, np.uint32)
    if n == 0:
        return found
    order = np.argsort(memories)
    for r in range(listed.shape[0]):
        low = 0
        high = n
        while low < high:
            middle = (low + high) // 2
            if memories[order[middle]] < listed[r]:
                low = middle + 1
            else:
                high = middle
        if low < n and memories[order[low]] == listed[r]:
            found[order[low]] = r + 1
    return found


@kernel
def _before(scores: F64, memories: U32, a: int, b: int) -> bool:
    """Return whether entry ``a`` ranks before entry ``b``: higher score, then newer memory."""
    return bool(scores[a] > scores[b] or (scores[a] == scores[b] and memories[a] > memories[b]))


@kernel
def _order(memories: U32, scores: F64) -> I64:
    """Return the positions of the entries in rank order, by a bottom-up merge sort."""
    n = memories.shape[0]
    order = np.arange(n)
    spare = np.empty(n, np.int64)
    width = 1
    while width < n:
        for low in range(0, n, 2 * width):
            mid = min(low + width, n)
            end = min(low + 2 * width, n)
            i = low
            j = mid
            for to in range(low, end):
                if i < mid and (j >= end or not _before(scores, memories, order[j], order[i])):
                    spare[to] = order[i]
                    i += 1
                else:
                    spare[to] = order[j]
                    j += 1
        order, spare = spare, order
        width *= 2
    return order


@kernel
def rrf(memories: U32, sizes: I64, weights: F64, k: float) -> tuple[U32, F64]:
    """Return the union of the arms' memories and their fused scores, best first.

    Equation (TEMPR 3.2, after Cormack et al. 2009; an arm's weight there is 1):
        score(m) = sum over arms a that list m of  weights[a] / (k + rank_a(m)),  ranks from 1

    The sum runs in arm order in float64. Ties: the newer memory, that is the higher ordinal.

    Shapes, for A arms of at most K memories:
        memories  uint32[A, K]  row a: the arm's memories, best first, none of them twice
        sizes     int64[A]      how many of row a count, in [0, K]
        weights   float64[A]
        k         60 in the paper

    Cost: O(n log n) for n entries in all, by a hash table of at most 4n places.
    """
    total = 0
    for a in range(sizes.shape[0]):
        total += sizes[a]
    bits = 1
    while (1 << bits) < 2 * total:
        bits += 1
    places = np.full(1 << bits, -1, np.int64)
    union = np.empty(total, np.uint32)
    scores = np.empty(total, np.float64)
    n = 0
    mask = (1 << bits) - 1
    for a in range(sizes.shape[0]):
        for i in range(sizes[a]):
            memory = memories[a, i]
            part = weights[a] / (k + (i + 1))
            place = ((np.int64(memory) * 2654435769) >> 7) & mask  # Knuth's multiplicative hash
            while places[place] >= 0 and union[places[place]] != memory:
                place = (place + 1) & mask
            at = places[place]
            if at < 0:
                places[place] = n
                union[n] = memory
                scores[n] = part
                n += 1
            else:
                scores[at] += part
    order = _order(union[:n], scores[:n])
    return union[order], scores[order]

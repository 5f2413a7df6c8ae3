"""What every stage behind fusion does to a list's scores: bring them to [0, 1], order by them."""

import numpy as np

from recollex_kernels._jit import F64, I64, kernel


@kernel
def unit(scores: F64) -> F64:
    """Return the scores brought to [0, 1], so that their unit and their zero no longer matter.

    Equation:
        unit(s) = (s - min) / (max - min),  1 for all where max = min

    Shapes: scores float64[n], finite. Cost: O(n).
    """
    n = scores.shape[0]
    out = np.ones(n, np.float64)
    if n == 0:
        return out
    low, high = scores[0], scores[0]
    for i in range(n):
        low, high = min(low, scores[i]), max(high, scores[i])
    span = high / 2 - low / 2  # halved: the range of finite scores may itself be infinite
    if span == 0:
        return out
    for i in range(n):
        out[i] = (scores[i] / 2 - low / 2) / span
    return out


@kernel
def best_first(scores: F64) -> I64:
    """Return the places of the scores in falling order; ties keep the order in which they stand.

    Shapes: scores float64[n], no NaN. Cost: O(n log n), a bottom-up merge sort; one pass over a
    list that is in order already.
    """
    n = scores.shape[0]
    order = np.arange(n)
    sorted_already = True
    for i in range(1, n):
        if scores[i] > scores[i - 1]:
            sorted_already = False
            break
    if sorted_already:
        return order
    spare = np.empty(n, np.int64)
    width = 1
    while width < n:
        for low in range(0, n, 2 * width):
            mid = min(low + width, n)
            end = min(low + 2 * width, n)
            i, j = low, mid
            for to in range(low, end):
                if i < mid and (j >= end or scores[order[j]] <= scores[order[i]]):
                    spare[to] = order[i]
                    i += 1
                else:
                    spare[to] = order[j]
                    j += 1
        order, spare = spare, order
        width *= 2
    return order

"""What every stage behind fusion does to a list's scores: bring them to [0, 1], order by them."""

import numpy as np

from recollex_kernels._jit import F64, I64, U32, kernel

_RUN = 16


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

    Shapes: scores float64[n], no NaN. Cost: O(n log n), runs of 16 sorted by insertion and merged;
    one pass over a list that is in order already.
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
    values = scores.copy()  # moved along with the places, so that no compare looks elsewhere
    for low in range(0, n, _RUN):
        for i in range(low + 1, min(low + _RUN, n)):
            value, place = values[i], order[i]
            j = i
            while j > low and values[j - 1] < value:
                values[j], order[j] = values[j - 1], order[j - 1]
                j -= 1
            values[j], order[j] = value, place
    spare_values, spare = np.empty(n, np.float64), np.empty(n, np.int64)
    width = _RUN
    while width < n:
        for low in range(0, n, 2 * width):
            mid = min(low + width, n)
            end = min(low + 2 * width, n)
            i, j = low, mid
            for to in range(low, end):
                if i < mid and (j >= end or values[j] <= values[i]):
                    spare_values[to], spare[to] = values[i], order[i]
                    i += 1
                else:
                    spare_values[to], spare[to] = values[j], order[j]
                    j += 1
        values, spare_values = spare_values, values
        order, spare = spare, order
        width *= 2
    return order


@kernel
def strongest(scores: F64, ids: U32, k: int) -> I64:
    """Return the places of the ``k`` greatest scores, greatest first. Ties: the lower id.

    Shapes: scores float64[n], no NaN; ids uint32[n], each once. Fewer than ``k`` give them all.

    Cost: O(n), and O(k) for each score that is among the best when it is met.
    """
    size = max(0, min(k, scores.shape[0]))
    places = np.empty(size, np.int64)
    n = 0
    for i in range(scores.shape[0]):
        j = n
        while j > 0:
            other = places[j - 1]
            if scores[other] > scores[i] or (scores[other] == scores[i] and ids[other] < ids[i]):
                break
            j -= 1
        if j == size:
            continue
        n = min(n + 1, size)
        for to in range(n - 1, j, -1):
            places[to] = places[to - 1]
        places[j] = i
    return places

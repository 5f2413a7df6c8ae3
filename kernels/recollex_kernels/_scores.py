"""What every stage behind fusion does to a list's scores: bring them to [0, 1], order by them."""

import numpy as np

from recollex_kernels._jit import F32, F64, I64, kernel

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
def best_first(scores: F64 | F32) -> I64:
    """Return the places of the scores in falling order; ties keep the order in which they stand.

    Shapes: scores float[n], no NaN. Cost: O(n log n), runs of 16 sorted by insertion and merged;
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
    spare_values, spare = np.empty_like(values), np.empty(n, np.int64)
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
def kth_greatest(scores: F64 | F32, k: int) -> float:
    """Return the ``k``-th greatest score, k in [1, n]. Cost: O(n) as a rule, by quickselect."""
    values = scores.copy()
    low, high, at = 0, values.shape[0] - 1, k - 1
    while low < high:
        first, middle, last = values[low], values[(low + high) >> 1], values[high]
        pivot = max(min(first, middle), min(max(first, middle), last))
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if at <= j:
            high = j
        elif at >= i:
            low = i
        else:
            break
    return float(values[at])


@kernel
def strongest(scores: F64 | F32, k: int) -> I64:
    """Return the places of the ``k`` greatest scores, greatest first. Ties: the earlier place.

    Shapes: scores float[n], no NaN. Fewer than ``k`` give them all.

    Cost: O(n + k log k) as a rule.
    """
    if k >= scores.shape[0]:
        return best_first(scores)
    places = np.empty(max(0, k), np.int64)
    if k <= 0:
        return places
    limit = kth_greatest(scores, k)
    ties = k
    for i in range(scores.shape[0]):
        ties -= scores[i] > limit
    n = 0
    for i in range(scores.shape[0]):
        if scores[i] < limit or n == k:
            continue
        if scores[i] == limit:
            if ties == 0:
                continue
            ties -= 1
        places[n] = i
        n += 1
    return places[best_first(scores[places])]

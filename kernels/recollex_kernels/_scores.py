"""What every stage behind fusion does to a list's scores: bring them to [0, 1], order by them."""

import numpy as np

from recollex_kernels._jit import F32, F64, I64, kernel

_RUN = 64
_ROUNDS = 48


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
def _run_in_order(values: F64 | F32, order: I64, low: int, run: F64 | F32, used: I64) -> None:
    """Put ``values[low : low + 64]`` and their places into falling order, by counting the greater.

    Equal ones count the same, and take places one after the other as they stand. A short run is
    filled up with what nothing is below. No branch depends on a score: on a processor that has not
    seen them before, those of a sort by insertion cost more than all the comparisons.
    """
    size = min(_RUN, values.shape[0] - low)
    for i in range(size):
        run[i] = values[low + i]
    run[size:] = -np.inf
    used[:] = 0
    for i in range(size):
        value = run[i]
        greater = 0
        for j in range(_RUN):
            greater += run[j] > value
        place = low + greater + used[greater]
        used[greater] += 1
        values[place] = value
        order[place] = low + i


@kernel
def best_first(scores: F64 | F32) -> I64:
    """Return the places of the scores in falling order; ties keep the order in which they stand.

    Shapes: scores float[n], no NaN. Cost: O(n log n), runs of 64 ordered by counting and merged;
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
    run, used = np.empty(_RUN, scores.dtype), np.empty(_RUN, np.int64)
    for low in range(0, n, _RUN):
        _run_in_order(values, order, low, run, used)
    spare_values, spare = np.empty_like(values), np.empty(n, np.int64)
    width = _RUN
    while width < n:
        for low in range(0, n, 2 * width):
            mid = min(low + width, n)
            end = min(low + 2 * width, n)
            i, j, to = low, mid, low
            while i < mid and j < end:
                first, second = values[i], values[j]
                later = int(second > first)
                spare_values[to] = max(first, second)
                spare[to] = order[i + later * (j - i)]
                i += 1 - later
                j += later
                to += 1
            for rest in range(i, mid):
                spare_values[to], spare[to] = values[rest], order[rest]
                to += 1
            for rest in range(j, end):
                spare_values[to], spare[to] = values[rest], order[rest]
                to += 1
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
def _parted(scores: F64 | F32, k: int) -> float:
    """Return a number that exactly ``k`` scores are above, k in [1, n); NaN where none is found.

    By halving the range that it must lie in. Ties at its place, or scores of very different size,
    have none that is found soon. A round is one pass of vector compares.
    """
    low, high = np.float64(scores[0]), np.float64(scores[0])
    for i in range(scores.shape[0]):
        low, high = min(low, np.float64(scores[i])), max(high, np.float64(scores[i]))
    for _ in range(_ROUNDS):
        middle = low / 2 + high / 2
        above = 0
        for i in range(scores.shape[0]):
            above += scores[i] > middle
        if above == k:
            return middle
        if above > k:
            low = middle
        else:
            high = middle
    return np.nan


@kernel
def strongest(scores: F64 | F32, k: int) -> I64:
    """Return the places of the ``k`` greatest scores, greatest first. Ties: the earlier place.

    Shapes: scores float[n], no NaN. Fewer than ``k`` give them all.

    Cost: O(n + k log k) as a rule.
    """
    if k >= scores.shape[0]:
        return best_first(scores)
    places = np.empty(max(0, k) + 1, np.int64)
    if k <= 0:
        return places[:0]
    n = 0
    middle = _parted(scores, k)
    if not np.isnan(middle):
        for i in range(scores.shape[0]):
            places[n] = i
            n += scores[i] > middle
    else:
        limit = kth_greatest(scores, k)
        ties = k
        for i in range(scores.shape[0]):
            ties -= scores[i] > limit
        for i in range(scores.shape[0]):
            if scores[i] < limit or n == k:
                continue
            if scores[i] == limit:
                if ties == 0:
                    continue
                ties -= 1
            places[n] = i
            n += 1
    places = places[:k]
    return places[best_first(scores[places])]

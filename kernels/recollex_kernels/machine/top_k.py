"""Scores of a list: the greatest k, the k-th greatest, all in falling order, scaled to [0, 1]."""

import numpy as np

from recollex_kernels.machine.jit import F32, F64, I32, I64, kernel

_CROWDED = 24  # scores in a bucket from which on to put them in order by insertion takes longer
_RUN = 256  # scores that are put in order by counting, for each, those before it


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
    low = scores[0]
    high = scores[0]
    for i in range(n):
        low = min(low, scores[i])
        high = max(high, scores[i])
    span = high / 2 - low / 2  # halved: the range of finite scores may itself be infinite
    if span == 0:
        return out
    for i in range(n):
        out[i] = (scores[i] / 2 - low / 2) / span
    return out


@kernel
def _order_run(scores: F64 | F32, first: int, out_values: F64 | F32, out_places: I64) -> None:
    """Write the scores in falling order, and the place of each, counted from ``first``.

    Ties: the earlier place. Before each stand those that are greater: counting them, for two
    scores at a time, is vector code. Cost: O(n^2).
    """
    n = scores.shape[0]
    before = np.empty(n + 1, np.int64)
    tied = np.zeros(n, np.int64)
    for i in range(0, n, 2):
        one = scores[i]
        two = scores[min(i + 1, n - 1)]
        over_one = np.int64(0)
        over_two = np.int64(0)
        for j in range(n):
            over_one += np.int64(scores[np.uint64(j)] > one)
            over_two += np.int64(scores[np.uint64(j)] > two)
        before[i] = over_one
        before[i + 1] = over_two
    for i in range(n):
        place = before[i] + tied[before[i]]
        tied[before[i]] += 1
        out_values[place] = scores[i]
        out_places[place] = first + i


@kernel
def _order_spread(scores: F64 | F32, out_places: I64) -> bool:
    """Write the place of each score in falling order. Ties: the earlier place.

    The range of the scores is cut into as many buckets as there are scores. What is left within a
    bucket is put in order by insertion. Return False, and write nothing, if a bucket would have
    more than `_CROWDED` scores, or if the range is empty or infinite. Cost: O(n).
    """
    n = scores.shape[0]
    low = np.float64(scores[0])
    high = np.float64(scores[0])
    for i in range(n):
        low = min(low, np.float64(scores[i]))
        high = max(high, np.float64(scores[i]))
    scale = (n - 1) / (high - low)
    if not 0 < scale < np.inf:
        return False
    bucket = np.empty(n, np.uint32)
    ends = np.zeros(n + 1, np.uint32)
    last = np.float64(n - 1)
    for i in range(n):
        below = (high - np.float64(scores[i])) * scale
        bucket[i] = np.uint32(below if below < last else last)  # a NaN stays inside the array
    for i in range(n):
        ends[bucket[i] + 1] += 1
    most = np.uint32(0)
    for b in range(1, n + 1):
        most = max(most, ends[b])
        ends[b] += ends[b - 1]
    if most > _CROWDED:
        return False
    values = np.empty_like(scores)
    for i in range(n):
        to = ends[bucket[i]]
        ends[bucket[i]] = to + 1
        values[to] = scores[i]
        out_places[to] = i
    for i in range(1, n):
        value = values[i]
        place = out_places[i]
        to = i
        while to > 0 and values[to - 1] < value:
            values[to] = values[to - 1]
            out_places[to] = out_places[to - 1]
            to -= 1
        values[to] = value
        out_places[to] = place
    return True


@kernel
def best_first(scores: F64 | F32) -> I64:
    """Return the places of the scores in falling order; ties keep the order in which they stand.

    Shapes: scores float[n], no NaN. Cost: O(n) where the scores are spread, 0.4 us for 100 and 2
    us for 600. Where they are not, O(n log n), 1 us for 100 and 11 us for 600: runs of 256 are put
    in order by vector code, then merged. One pass over a list that is in order already.
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
    if _order_spread(scores, order):
        return order
    values = np.empty_like(scores)  # moved along with the places: no compare looks elsewhere
    for low in range(0, n, _RUN):
        end = min(low + _RUN, n)
        _order_run(scores[low:end], low, values[low:end], order[low:end])
    spare_values = np.empty_like(values)
    spare = np.empty(n, np.int64)
    width = _RUN
    while width < n:
        for low in range(0, n, 2 * width):
            mid = min(low + width, n)
            end = min(low + 2 * width, n)
            i = low
            j = mid
            to = low
            while i < mid and j < end:
                first = values[i]
                second = values[j]
                later = int(second > first)
                spare_values[to] = max(first, second)
                spare[to] = order[i + later * (j - i)]
                i += 1 - later
                j += later
                to += 1
            for rest in range(i, mid):
                spare_values[to] = values[rest]
                spare[to] = order[rest]
                to += 1
            for rest in range(j, end):
                spare_values[to] = values[rest]
                spare[to] = order[rest]
                to += 1
        values, spare_values = spare_values, values
        order, spare = spare, order
        width *= 2
    return order


@kernel
def _kth_greatest_bits(bits: I32 | I64, k: int) -> int:
    """Return the bits of the ``k``-th greatest float, given those of all of them.

    Seen as an integer, a float that is not negative keeps its order; of a negative one all bits but
    the sign are flipped. Then the greatest integer is sought, by halves, that k of them reach:
    counting those that do is vector code, where a quickselect waits for a branch at each score.
    As soon as exactly k reach one, the least of them is it: a dozen steps as a rule, not 32 or 64.
    """
    whole = bits.dtype.type
    last = whole(8 * bits.itemsize - 1)
    most = whole(~(whole(1) << last))  # all bits but the sign: also the greatest integer
    keys = np.empty_like(bits)
    low = most
    high = whole(~most)
    for i in range(bits.shape[0]):
        key = whole(bits[np.uint64(i)] ^ ((bits[np.uint64(i)] >> last) & most))
        keys[np.uint64(i)] = key
        low = min(low, key)
        high = max(high, key)
    while low < high:
        middle = whole((low | high) - ((low ^ high) >> 1))  # their mean, rounded up
        reached = whole(0)
        for i in range(keys.shape[0]):
            reached = whole(reached + whole(keys[np.uint64(i)] >= middle))
        if reached == k:
            low = high
            for i in range(keys.shape[0]):
                key = keys[np.uint64(i)]
                low = min(low, key if key >= middle else high)
            break
        if reached > k:
            low = middle
        else:
            high = whole(middle - 1)
    return int(low ^ ((low >> last) & most))


@kernel
def kth_greatest(scores: F64 | F32, k: int) -> float:
    """Return the ``k``-th greatest score, k in [1, n].

    Shapes: scores float[n], no NaN. Cost: O(n), 0.6 us for 1,000 float32.
    """
    if scores.itemsize == 4:
        single = np.empty(1, np.int32)
        single[0] = _kth_greatest_bits(scores.view(np.int32), k)
        return float(single.view(np.float32)[0])
    double = np.empty(1, np.int64)
    double[0] = _kth_greatest_bits(scores.view(np.int64), k)
    return float(double.view(np.float64)[0])


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
    limit = scores.dtype.type(kth_greatest(scores, k))
    ties = k
    for i in range(scores.shape[0]):
        ties -= int(scores[i] > limit)
    n = 0
    for i in range(scores.shape[0]):  # without a branch on a score: see `_kth_greatest_bits`
        places[n] = i
        tied = int(scores[i] == limit) * int(ties > 0)
        ties -= tied
        n += int(scores[i] > limit) + tied
    places = places[:k]
    return places[best_first(scores[places])]

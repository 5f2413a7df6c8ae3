"""The losses of a linear ranking over the candidates of queries, and their slopes, in one pass.

`listwise` and `smooth_ranks` say the equations. A pass reads each candidate's features twice, so it
takes a tenth of what the same takes array by array.
"""

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

from bench.tables.lib.query_lists import Lists, Matrix

SHOWN = 10.5
WIDTH = 1.5
LEAST = 0.02

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Losses:
    """The queries of some sets, all sets alike, and what any weights lose on them.

    deviation: float32[F], that of each of the ``columns`` over all candidates, at least `LEAST`: a
    feature that is the same for all has no unit of its own.
    """

    def __init__(self, sets: Sequence[Lists], columns: Sequence[int]) -> None:
        sizes = np.concatenate([one.sizes for one in sets])
        query = np.repeat(np.arange(len(sizes)), sizes)
        units = np.concatenate([one.units for one in sets])
        order = np.lexsort((units, query))
        new = np.ones(len(order), np.bool_)
        new[1:] = (query[order][1:] != query[order][:-1]) | (units[order][1:] != units[order][:-1])
        first = np.flatnonzero(new)
        x = np.concatenate([one.x for one in sets])[:, list(columns)]
        self.deviation = np.maximum(x.std(axis=0), np.float32(LEAST))
        self._x = np.ascontiguousarray((x / self.deviation)[order])
        self._right = np.concatenate([one.right for one in sets])[order]
        self._unit = (np.cumsum(new) - 1).astype(np.int64)
        self._proved = np.maximum.reduceat(self._right, first) > 0
        self._rows = np.concatenate([[0], np.cumsum(sizes)])
        self._units = np.searchsorted(query[order][first], np.arange(len(sizes) + 1))
        share = [np.full(len(one.sizes), 1 / len(one.sizes) / len(sets)) for one in sets]
        self._share = np.concatenate(share)
        counts = np.concatenate([one.evidence for one in sets])
        ideal = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(10) + 2))])
        self._values = 1 / counts, 1 / ideal[np.minimum(counts, 10)]

    def loss(self, v: Floats, likelihood: float, measures: float) -> tuple[float, Floats]:
        """Return the loss of weights, in units of 1 / deviation, and its slope by each.

        likelihood, measures: how often the loss of `listwise` counts, without its strength, and
        that of the smooth measures.
        """
        slope = np.zeros(len(v))
        queries = self._x, self._right, self._unit, self._proved, self._rows, self._units
        value = _losses(queries, self._share, *self._values, v, likelihood, measures, slope)
        return value, slope


@njit(nogil=True, error_model="numpy")
def _losses(
    queries: tuple[Matrix, Matrix, Integers, NDArray[np.bool_], Integers, Integers],
    share: Floats,
    recall: Floats,
    gain: Floats,
    v: Floats,
    likelihood: float,
    measures: float,
    slope: Floats,
) -> float:
    x, right, unit, proved, rows, units = queries
    features = x.shape[1]
    longest = int((rows[1:] - rows[:-1]).max())
    scores, slopes, ahead = np.empty(longest), np.empty(longest), np.empty(longest)
    best = np.empty(longest, np.int64)
    total = 0.0
    for q in range(len(share)):
        row, n = rows[q], rows[q + 1] - rows[q]
        low, m = units[q], units[q + 1] - units[q]
        best[:m] = -1
        most = -np.inf
        for i in range(n):
            score = 0.0
            for f in range(features):
                score += x[row + i, f] * v[f]
            scores[i], most = score, max(most, score)
            u = unit[row + i] - low
            if best[u] < 0 or score > scores[best[u]]:
                best[u] = i
        odds, told = 0.0, 0.0
        for i in range(n):
            slopes[i] = np.exp(scores[i] - most)
            odds += slopes[i]
            told += right[row + i] * scores[i]
        total += likelihood * share[q] * (np.log(odds) + most - told)
        for i in range(n):
            slopes[i] = likelihood * share[q] * (slopes[i] / odds - right[row + i])
        for e in range(m):
            if measures == 0 or not proved[low + e]:
                continue
            own = scores[best[e]]
            rank = 0.5  # its own 1/2 is among the sum
            for u in range(m):
                ahead[u] = 1 / (1 + np.exp(own - scores[best[u]]))
                rank += ahead[u]
            width = WIDTH * max(1.0, rank / SHOWN)
            shown = 1 / (1 + np.exp((rank - SHOWN) / width))
            log = np.log2(1 + rank)
            value = recall[q] + gain[q] / log
            total -= measures * share[q] / 2 * shown * value
            narrow = 1 / width if rank <= SHOWN else SHOWN / (rank * width)
            by_rank = shown * (1 - shown) * narrow * value
            by_rank += shown * gain[q] / (log**2 * (1 + rank) * np.log(2))
            by_rank *= measures * share[q] / 2
            for u in range(m):
                by_score = by_rank * ahead[u] * (1 - ahead[u])
                slopes[best[u]] += by_score
                slopes[best[e]] -= by_score
        for i in range(n):
            for f in range(features):
                slope[f] += slopes[i] * x[row + i, f]
    return total

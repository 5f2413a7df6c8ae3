"""Weights of a linear ranking, fitted to R@10 and NDCG@10 themselves, with ranks made smooth.

Equation (Qin, Liu & Li 2010, a general approximation of measures), for query q with units u (a
memory, or a document with its best memory), scores s, evidence E_q, g(z) = 1 / (1 + e^-z):

    rank(e)  = 1 + sum over units u except e of g(s_u - s_e)
    shown(e) = g((10.5 - rank(e)) / (1.5 max(1, rank(e) / 10.5)))
    loss(v)  = - mean over sets s of mean over q in s of the sum over e in E_q of
               shown(e) * (1 / |E_q| + 1 / (log2(1 + rank(e)) * ideal DCG@10 of q)) / 2
               + .1 * the loss of `listwise`, without its strength
               + strength * sum over features f of (v_f * deviation_f)^2

A likelihood (`listwise`) pays most for evidence that stands far down, where no list is shown. The
measures see only what a list shows, and say little of a part that few sets have. A tenth of the
likelihood beside them is better than either. The loss has many minima: the search begins at the
weights of the likelihood.

Evidence may be held to its sign: who is named counts for a memory, never against it. A weight that
another set would have with the other sign is chance there.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bench.tables.lib import listwise
from bench.tables.lib.listwise import Lists, Matrix

LIKELIHOOD = 0.1
SHOWN = 10.5
WIDTH = 1.5
FIRST_HELD = 0.01
"""How strongly the weights are held to 0 where the search begins."""
STEPS = 60

Floats = NDArray[np.float64]


def fit(
    sets: Mapping[str, Lists],
    columns: Sequence[int],
    strength: float,
    signs: Sequence[int] | None = None,
) -> Matrix:
    """Return float32[F]: the weights of ``columns``, fitted on all of ``sets``; 0 elsewhere.

    signs: for each of the F features 1 or -1 if its weight may not have the other sign, 0 if it
    may; None for all. Deterministic. Cost: at most `STEPS` iterations after `listwise.fit`.
    """
    from scipy.optimize import minimize

    given = [one for one in sets.values() if len(one.sizes)]
    chosen = list(columns)
    x = np.concatenate([one.x for one in given])[:, chosen]
    deviation = x.std(axis=0) + np.float32(1e-6)
    x = np.ascontiguousarray(x / deviation)
    measures, likelihood = _Measures(given), listwise.Likelihood(given)

    def loss(v: Floats) -> tuple[float, Floats]:
        scores = x @ v.astype(np.float32)
        value, slope = measures.loss(scores.astype(np.float64))
        likely, its_slope = likelihood.loss(scores)
        of_scores = slope.astype(np.float32) + np.float32(LIKELIHOOD) * its_slope
        value += LIKELIHOOD * likely + strength * float(v @ v)
        return value, (of_scores @ x).astype(np.float64) + 2 * strength * v

    held = np.zeros(len(chosen)) if signs is None else np.array(signs)[chosen]
    least, most = np.where(held > 0, 0, -np.inf), np.where(held < 0, 0, np.inf)
    start = (listwise.fit(sets, columns, FIRST_HELD)[chosen] * deviation).clip(least, most)
    options = {"maxiter": STEPS}
    best = minimize(
        *(loss, start.astype(np.float64)),
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(least, most, strict=True)),
        options=options,
    )
    weights = np.zeros(given[0].x.shape[1], np.float32)
    weights[chosen] = best.x / deviation
    return weights


class _Measures:
    """The smooth measures of the queries of some sets, and how they change with the scores."""

    def __init__(self, given: Sequence[Lists]) -> None:
        sizes = np.concatenate([one.sizes for one in given])
        query = np.repeat(np.arange(len(sizes)), sizes)
        units = np.concatenate([one.units for one in given])
        order = np.lexsort((units, query))
        new = np.ones(len(order), np.bool_)
        new[1:] = (query[order][1:] != query[order][:-1]) | (units[order][1:] != units[order][:-1])
        self._order, self._first = order, np.flatnonzero(new)
        of_unit = query[order][self._first]
        right = np.concatenate([one.right for one in given])[order][self._first] > 0
        begin = np.searchsorted(of_unit, np.arange(len(sizes) + 1))
        evidence = np.flatnonzero(right)
        rivals = np.diff(begin)[of_unit[evidence]]
        self._ends = np.cumsum(rivals)
        before = np.repeat(self._ends - rivals - begin[of_unit[evidence]], rivals)
        self._rival = np.arange(int(rivals.sum())) - before
        self._own, self._times = evidence, rivals
        counts = np.concatenate([one.evidence for one in given]).astype(np.int64)
        ideal = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(10) + 2))])
        share = [np.full(len(one.sizes), 1 / len(one.sizes) / len(given)) for one in given]
        asked = of_unit[evidence]
        self._weight = np.concatenate(share)[asked] / 2
        self._recall = 1 / counts[asked]
        self._gain = 1 / ideal[np.minimum(counts[asked], 10)]

    def loss(self, scores: Floats) -> tuple[float, Floats]:
        """Return the loss without the strength's part, and its slope by each score."""
        sorted_scores = scores[self._order]
        best = np.maximum.reduceat(sorted_scores, self._first)
        ahead = _sigmoid(best[self._rival] - np.repeat(best[self._own], self._times))
        first = self._ends - self._times
        rank = 0.5 + np.add.reduceat(ahead, first)  # its own 1/2 is among the sum
        width = WIDTH * np.maximum(1, rank / SHOWN)
        shown = _sigmoid((SHOWN - rank) / width)
        logs = np.log2(1 + rank)
        value = self._recall + self._gain / logs
        narrow = np.where(rank <= SHOWN, 1 / width, SHOWN / (rank * width))
        slope = -shown * (1 - shown) * narrow * value
        slope -= shown * self._gain / (logs**2 * (1 + rank) * np.log(2))
        each = np.repeat(-self._weight * slope, self._times) * ahead * (1 - ahead)
        of_unit = np.bincount(self._rival, each, len(best))
        of_unit[self._own] -= np.add.reduceat(each, first)
        found = np.zeros(len(scores))
        held = np.repeat(best, np.diff([*self._first, len(scores)])) == sorted_scores
        places = np.flatnonzero(held)
        _, once = np.unique(np.searchsorted(self._first, places, "right"), return_index=True)
        found[self._order[places[once]]] = of_unit
        return -float((self._weight * shown * value).sum()), found


def _sigmoid(z: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-z)), np.float64)

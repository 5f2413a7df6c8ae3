"""Weights of a linear ranking, fitted to lists: which of a query's candidates are evidence?

Equation (ListNet's first choice with several right answers; Cao et al., ICML 2007), for query q
with candidates i, features x_qi, evidence E_q, over sets s of Q_s queries each:

    loss(v) = mean over s of mean over q in s of
              [ln sum over i of exp(v . x_qi) - mean over i in E_q of v . x_qi]
              + strength * sum over features f of (v_f * deviation_f)^2

All sets count alike, whatever their size. The deviation of a feature is that over all candidates of
the fitted sets, so its unit does not matter. The greater the strength, the nearer 0 the weights.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Lists:
    """The queries of one set, for a fit.

    x: float32[n, F], the candidates of one query after another. right: float32[n], for each
    candidate its share of the query's evidence, 0 for the others. units: int32[n], what each counts
    as, itself or its document. sizes, evidence: int64[Q], candidates of each query, at least 1, and
    units that prove its answer, found or not.
    """

    x: Matrix
    right: NDArray[np.float32]
    units: NDArray[np.int32]
    sizes: NDArray[np.int64]
    evidence: NDArray[np.int64]


Query = tuple[Matrix, NDArray[np.bool_], NDArray[np.int32], int]
"""The features of a query's candidates, which are evidence, their units, how much evidence."""


def lists(queries: Sequence[Query]) -> Lists:
    """Return the lists of queries.

    A query none of whose candidates is evidence says nothing and is left out.
    """
    useful = [query for query in queries if query[1].any()]
    if not useful:
        nothing, numbers = np.empty(0, np.float32), np.empty(0, np.int64)
        return Lists(nothing[:, None], nothing, np.empty(0, np.int32), numbers, numbers)
    return Lists(
        np.concatenate([x for x, *_ in useful]).astype(np.float32),
        np.concatenate([e / e.sum() for _, e, *_ in useful]).astype(np.float32),
        np.concatenate([units for _, _, units, _ in useful]).astype(np.int32),
        np.array([len(e) for _, e, *_ in useful], np.int64),
        np.array([count for *_, count in useful], np.int64),
    )


def fit(sets: Mapping[str, Lists], columns: Sequence[int], strength: float) -> Matrix:
    """Return float32[F]: the weights of ``columns``, fitted on all of ``sets``; 0 elsewhere.

    Deterministic. Cost: about 10 ms an iteration for 150,000 candidates, at most 200 iterations.
    """
    from scipy.optimize import minimize

    given = [one for one in sets.values() if len(one.sizes)]
    every = np.concatenate([one.x for one in given])
    x = every[:, list(columns)]
    deviation = x.std(axis=0) + np.float32(1e-6)
    x = np.ascontiguousarray(x / deviation)
    likelihood = Likelihood(given)

    def loss(v: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, slope = likelihood.loss(x @ v.astype(np.float32))
        of_weights = (slope @ x).astype(np.float64)
        return value + strength * float(v @ v), of_weights + 2 * strength * v

    best = minimize(
        loss, np.zeros(len(columns)), jac=True, method="L-BFGS-B", options={"maxiter": 200}
    )
    weights = np.zeros(every.shape[1], np.float32)
    weights[list(columns)] = best.x / deviation
    return weights


class Likelihood:
    """The first part of the loss, of the queries of some sets."""

    def __init__(self, given: Sequence[Lists]) -> None:
        self._sizes = np.concatenate([one.sizes for one in given])
        self._first = np.cumsum(self._sizes) - self._sizes
        self._right = np.concatenate([one.right for one in given])
        share = np.concatenate([np.full(len(one.sizes), 1 / len(one.sizes)) for one in given])
        self._share = (share / len(given)).astype(np.float32)
        self._each = np.repeat(self._share, self._sizes)

    def loss(self, scores: NDArray[np.float32]) -> tuple[float, NDArray[np.float32]]:
        """Return it, and its slope by each score."""
        most = np.maximum.reduceat(scores, self._first)
        odds = np.exp(scores - np.repeat(most, self._sizes))
        total = np.add.reduceat(odds, self._first)
        value = float((self._share * (np.log(total) + most)).sum())
        value -= float((self._each * self._right * scores).sum())
        return value, self._each * (odds / np.repeat(total, self._sizes) - self._right)

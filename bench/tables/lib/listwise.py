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

import numpy as np

from bench.tables.lib.list_losses import Floats, Losses
from bench.tables.lib.query_lists import Lists, Matrix


def fit(sets: Mapping[str, Lists], columns: Sequence[int], strength: float) -> Matrix:
    """Return float32[F]: the weights of ``columns``, fitted on all of ``sets``; 0 elsewhere.

    Deterministic. Cost: at most 200 iterations.
    """
    given = [one for one in sets.values() if len(one.sizes)]
    losses = Losses(given, columns)
    best = most_likely(losses, strength)
    weights = np.zeros(given[0].x.shape[1], np.float32)
    weights[list(columns)] = best / losses.deviation
    return weights


def most_likely(losses: Losses, strength: float, planned: Floats | None = None) -> Floats:
    """Return the weights v with the least loss, in units of 1 / deviation.

    planned: float64[F, F] Q, for a loss of v . Q v beside.
    """
    from scipy.optimize import minimize

    features = len(losses.deviation)
    held_by = strength * np.eye(features) + (0.0 if planned is None else planned)

    def loss(v: Floats) -> tuple[float, Floats]:
        value, slope = losses.loss(v, 1.0, 0.0)
        return value + float(v @ held_by @ v), slope + 2 * held_by @ v

    start = np.zeros(features)
    best: Floats = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    return best

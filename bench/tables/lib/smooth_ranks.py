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

from bench.tables.lib.list_losses import Floats, Losses
from bench.tables.lib.listwise import most_likely
from bench.tables.lib.query_lists import Lists, Matrix

LIKELIHOOD = 0.1
FIRST_HELD = 0.01
"""How strongly the weights are held to 0 where the search begins."""
STEPS = 60


def fit(
    sets: Mapping[str, Lists],
    columns: Sequence[int],
    strength: float,
    signs: Sequence[int] | None = None,
) -> Matrix:
    """Return float32[F]: the weights of ``columns``, fitted on all of ``sets``; 0 elsewhere.

    signs: for each of the F features 1 or -1 if its weight may not have the other sign, 0 if it
    may; None for all. Deterministic. Cost: at most `STEPS` iterations after `most_likely`.
    """
    from scipy.optimize import minimize

    given = [one for one in sets.values() if len(one.sizes)]
    chosen = list(columns)
    losses = Losses(given, chosen)

    def loss(v: Floats) -> tuple[float, Floats]:
        value, slope = losses.loss(v, LIKELIHOOD, 1.0)
        return value + strength * float(v @ v), slope + 2 * strength * v

    held = np.zeros(len(chosen)) if signs is None else np.array(signs)[chosen]
    least, most = np.where(held > 0, 0, -np.inf), np.where(held < 0, 0, np.inf)
    best = minimize(
        *(loss, most_likely(losses, FIRST_HELD).clip(least, most)),
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(least, most, strict=True)),
        options={"maxiter": STEPS},
    )
    weights = np.zeros(given[0].x.shape[1], np.float32)
    weights[chosen] = best.x / losses.deviation
    return weights

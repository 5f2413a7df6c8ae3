"""Weights of a linear ranking, fitted to R@10 and NDCG@10 themselves, with ranks made smooth.

Equation (Qin, Liu & Li 2010, a general approximation of measures), for query q with units u (a
memory, or a document with its best memory), scores s, evidence E_q, g(z) = 1 / (1 + e^-z):

    rank(e)  = 1 + sum over units u except e of g(s_u - s_e)
    shown(e) = g((10.5 - rank(e)) / (1.5 max(1, rank(e) / 10.5)))
    loss(v)  = - mean over sets s of mean over q in s of the sum over e in E_q of
               shown(e) * (1 / |E_q| + 1 / (log2(1 + rank(e)) * ideal DCG@10 of q)) / 2
               + 0.1 * the loss of `listwise`, without its strength
               + strength * sum over features f of (v_f * deviation_f)^2
               + what weights lose that leave a plan (see `Plan`)

A likelihood (`listwise`) pays most for evidence that stands far down, where no list is shown. The
measures see only what a list shows, and say little of a part that few sets have. A tenth of the
likelihood beside them is better than either. The loss has many minima: the search begins at the
weights of the likelihood.

Evidence may be held to its sign: who is named counts for a memory, never against it. A weight that
another set would have with the other sign is chance there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.tables.lib.list_losses import Floats, Losses
from bench.tables.lib.listwise import most_likely
from bench.tables.lib.query_lists import Lists, Matrix

LIKELIHOOD = 0.1
FIRST_HELD = 0.01
"""How strongly the weights are held to 0 where the search begins."""
STEPS = 60


@dataclass(frozen=True, slots=True)
class Plan:
    """What weights are held to, beside 0, since their meaning says it before any data.

    units: float32[F], what each feature counts; any multiple of these loses nothing. pairs: (a, b,
    r) for two features where the weight of a is r times that of b. strength, paired: how strongly
    weights are held to the units, and to each other.
    """

    units: Matrix
    pairs: Sequence[tuple[int, int, float]]
    strength: float
    paired: float

    def form(self, columns: Sequence[int], deviation: Matrix) -> Floats:
        """Return float64[C, C] Q: weights v of ``columns``, in 1 / deviation, lose v . Q v."""
        of_all = [float(self.units[f]) for f in columns] * deviation.astype(np.float64)
        along = of_all / np.linalg.norm(of_all)
        form: Floats = self.strength * (np.eye(len(columns)) - np.outer(along, along))
        place = {f: n for n, f in enumerate(columns)}
        for a, b, ratio in self.pairs:
            if a in place and b in place:
                row = np.zeros(len(columns))
                row[place[a]] = 1
                row[place[b]] = -ratio * deviation[place[a]] / deviation[place[b]]
                form += self.paired * np.outer(row, row)
        return form


def fit(
    sets: Mapping[str, Lists],
    columns: Sequence[int],
    strength: float,
    signs: Sequence[int] | None = None,
    plan: Plan | None = None,
) -> Matrix:
    """Return float32[F]: the weights of ``columns``, fitted on all of ``sets``; 0 elsewhere.

    signs: for each of the F features 1 or -1 if its weight may not have the other sign, 0 if it
    may; None for all. plan: what else they are held to. Deterministic. Cost: at most `STEPS`
    iterations after `most_likely`.
    """
    from scipy.optimize import minimize

    given = [one for one in sets.values() if len(one.sizes)]
    chosen = list(columns)
    losses = Losses(given, chosen)
    planned = np.zeros((len(chosen), len(chosen)))
    if plan is not None:
        planned = plan.form(chosen, losses.deviation)
    held_by = planned + strength * np.eye(len(chosen))

    def loss(v: Floats) -> tuple[float, Floats]:
        value, slope = losses.loss(v, LIKELIHOOD, 1.0)
        return value + float(v @ held_by @ v), slope + 2 * held_by @ v

    held = np.zeros(len(chosen)) if signs is None else np.array(signs)[chosen]
    least, most = np.where(held > 0, 0, -np.inf), np.where(held < 0, 0, np.inf)
    best = minimize(
        *(loss, most_likely(losses, FIRST_HELD, planned).clip(least, most)),
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(least, most, strict=True)),
        options={"maxiter": STEPS},
    )
    weights = np.zeros(given[0].x.shape[1], np.float32)
    weights[chosen] = best.x / losses.deviation
    return weights

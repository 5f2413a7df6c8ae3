"""Self-anchored temporal filtering: a list's own best memories say which times matter (SATF)."""

import numpy as np

from recollex_kernels.machine.exp import exp
from recollex_kernels.machine.jit import F64, I64, kernel
from recollex_kernels.machine.top_k import best_first, unit


@kernel
def _kernel_at(times: F64, t: float, width: float, spare: F64, powers: I64, out: F64) -> None:
    """Set ``out[j]`` to the Gaussian of ``times[j]`` around ``t``; the others are overwritten."""
    for j in range(times.shape[0]):
        z = (times[j] - t) / width
        spare[j] = -0.5 * (z * z)
    exp(spare, powers, out)


@kernel
def affinity(times: I64, anchors: int, width: float) -> F64:
    """Return the temporal affinity of every memory of a list.

    Equations 2 and 3 (SATF 3.3), N = min(anchors, n), ranks from 1:
        A(t) = sum over i = 1..N of  1/i * exp(-(t - t_i)^2 / (2 width^2))
    The sum runs in rank order in float64, so it is the same on every processor.

    Shapes:
        times    int64[n]  microseconds, best first
        anchors  at least 1: how many of the best speak for their times
        width    microseconds, above 0: the standard deviation

    Cost: O(N n), about 1 ns a pair.
    """
    n = times.shape[0]
    moments = times.astype(np.float64)
    total = np.zeros(n, np.float64)
    spare = np.empty(n, np.float64)
    near = np.empty(n, np.float64)
    powers = np.empty(n, np.int64)
    for i in range(min(anchors, n)):
        _kernel_at(moments, moments[i], width, spare, powers, near)
        weight = 1.0 / (i + 1)
        for j in range(n):
            total[j] += weight * near[j]
    return total


@kernel
def concentration(times: I64, affinities: F64, anchors: int, width: float) -> float:
    """Return how much more the best memories gather at one time than the list as a whole, [0, 1].

    Equation, with t* the time of the greatest affinity (the best rank on ties):
        P = A(t*) / sum over i = 1..N of 1/i                    what rank says
        B = mean over j = 1..n of exp(-(t_j - t*)^2 / (2 width^2))    what the list says by itself
        concentration = (P - B) / (1 - B),  0 where P <= B or B = 1
    This is agreement corrected for chance, as in Cohen's kappa: 0 if rank and time have nothing to
    do with each other at the peak, or if all times are alike and there is nothing to prefer; 1 if
    all weight stands at one time and nearly all other memories lie elsewhere.

    Shapes: as for `affinity`, whose result is ``affinities``. Cost: O(n).
    """
    n = times.shape[0]
    if n == 0:
        return 0.0
    peak = 0
    for j in range(n):
        if affinities[j] > affinities[peak]:
            peak = j
    weights = 0.0
    for i in range(min(anchors, n)):
        weights += 1.0 / (i + 1)
    moments = times.astype(np.float64)
    spare = np.empty(n, np.float64)
    near = np.empty(n, np.float64)
    powers = np.empty(n, np.int64)
    _kernel_at(moments, moments[peak], width, spare, powers, near)
    background = 0.0
    for j in range(n):
        background += near[j]
    background /= n
    observed = affinities[peak] / weights
    if observed <= background or background >= 1:
        return 0.0
    return float(min(1.0, (observed - background) / (1 - background)))


@kernel
def self_anchor(
    times: I64,
    scores: F64,
    anchors: int,
    width: float,
    strength: float,
    gate: float,
    by_rank: bool,
) -> tuple[I64, F64, float]:
    """Return the list's new order as places in the old one, its scores, its concentration.

    Equation 4 (SATF 3.4), with s_i = 1/i if ``by_rank``, else unit(scores)_i (see `top_k`):
        s'_i = s_i * (1 + strength * A(t_i) / max_j A(t_j))
    Order: higher s', ties as given. With a concentration below ``gate`` the list stays as it is,
    with its own scores.

    Shapes: as for `affinity`; scores float64[n], finite, best first.

    Cost: O(N n + n log n): under 10 us for 100 memories and 30 anchors.
    """
    n = times.shape[0]
    if n == 0:
        return np.empty(0, np.int64), np.empty(0, np.float64), 0.0
    affinities = affinity(times, anchors, width)
    found = concentration(times, affinities, anchors, width)
    if found < gate:
        return np.arange(n), scores.copy(), found
    most = affinities[0]
    for j in range(n):
        most = max(most, affinities[j])
    boosted = 1.0 / np.arange(1, n + 1) if by_rank else unit(scores)
    for j in range(n):
        boosted[j] *= 1 + strength * (affinities[j] / most)
    order = best_first(boosted)
    return order, boosted[order], found

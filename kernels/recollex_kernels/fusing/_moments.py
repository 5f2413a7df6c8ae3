"""How near in time is each memory to the best others?"""

import numpy as np

from recollex_kernels.machine.exp import exp
from recollex_kernels.machine.jit import F64, I64, kernel
from recollex_kernels.machine.top_k import strongest

_BLOCK = 16  # times that are near or far together
_AGREED = 1.5  # weight of the first two anchors
_FAR = 8.0  # widths of a moment beyond which it has ended: e^(-32) is left out


@kernel
def _distinct(said_at: I64) -> tuple[F64, I64]:
    """Return the times without repetitions side by side, and of each memory the place of its own.

    Chats are dated by the minute, and what is near in time stands side by side.
    """
    n = said_at.shape[0]
    times = np.empty(n, np.float64)
    place = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        if i == 0 or said_at[i] != said_at[i - 1]:
            times[count] = said_at[i]
            count += 1
        place[i] = count - 1
    return times[:count], place


@kernel
def _near_blocks(first: F64, last: F64, t: float, far: float, out: I64) -> int:
    """Return how many runs of blocks are not far from ``t``: from out[2 r] to before out[2 r + 1].

    Shapes, for b blocks: first, last float64[b], their earliest and latest; out int64[>= b + 1].
    """
    ends = 0
    inside = False
    for block in range(first.shape[0]):
        is_near = t - last[block] <= far and first[block] - t <= far
        if is_near != inside:
            out[ends] = block
            ends += 1
            inside = is_near
    if inside:
        out[ends] = first.shape[0]
        ends += 1
    return ends // 2


@kernel
def _affinities(times: F64, anchors: F64, width: float) -> F64:
    """Return, for each time, the sum over anchors i from 1 of exp(-(t - t_i)^2 / (2 width^2)) / i.

    An anchor farther than ``_FAR`` widths adds nothing.
    """
    n = times.shape[0]
    blocks = (n + _BLOCK - 1) // _BLOCK
    first = np.empty(blocks, np.float64)
    last = np.empty(blocks, np.float64)
    for block in range(blocks):
        part = times[block * _BLOCK : (block + 1) * _BLOCK]
        first[block] = last[block] = part[0]
        for j in range(part.shape[0]):
            first[block], last[block] = min(first[block], part[j]), max(last[block], part[j])
    near = np.zeros(n, np.float64)
    ends = np.empty(blocks + 2, np.int64)
    exponents = np.empty(n, np.float64)
    powers = np.empty(n, np.int64)
    values = np.empty(n, np.float64)
    for i in range(anchors.shape[0]):
        t = anchors[i]
        weight = 1.0 / (i + 1)
        for run in range(_near_blocks(first, last, t, _FAR * width, ends)):
            low = ends[2 * run] * _BLOCK
            high = min(ends[2 * run + 1] * _BLOCK, n)
            around = times[low:high]
            part = exponents[low:high]
            value = values[low:high]
            for j in range(around.shape[0]):
                z = (around[j] - t) / width
                part[j] = -0.5 * (z * z)
            exp(part, powers[low:high], value)
            total = near[low:high]
            for j in range(part.shape[0]):
                added = weight * value[j]
                total[j] += added if part[j] >= -0.5 * (_FAR * _FAR) else 0.0
    return near


@kernel
def moments(x: F64, said_at: I64, anchors: int, width: float) -> F64:
    """Return how near in time each memory is to the best others, in [0, 1].

    Equation, t_i the time of the i-th of the N = min(anchors, n) greatest x (ties: the earlier
    place), w_i = 1/i, W their sum, A the affinity of SATF 3.3, to an anchor by the others alone:
        A(m) = W / (W - w_m) * sum over i = 1..N, i not m, of  w_i * exp(-(t - t_i)^2 / (2 width^2))
        moment(m) = A(m) / max(greatest A, 1.5)
    with w_m = 0 for a memory that is no anchor. An anchor farther than 8 widths adds nothing.

    Why W / (W - w_m)? If an anchor counted as near itself, it would gain from being first. If its
    own weight were only left out, it would lose: the best of memories that were all said at once
    would come last. So its affinity is scaled by the weight of the other anchors.

    Why at least 1.5? It is the weight of the first two anchors. If no moment has as much around
    it, the anchors do not agree on a moment, and it counts for less.

    Shapes: x float64[n], said_at int64[n]. ``anchors`` at least 1, ``width``
    in microseconds.

    Cost: O(n + N u / 16) and 1.5 ns for each pair of an anchor and one of the u times that differ
    from the one before, whose block of 16 is not far.
    """
    best = strongest(x, anchors)
    times, place = _distinct(said_at)
    around = _affinities(times, times[place[best]], width)
    near = around[place]
    total = 0.0
    for i in range(best.shape[0]):
        total += 1.0 / (i + 1)
    for i in range(best.shape[0]):
        own = 1.0 / (i + 1)
        others = total - own
        near[best[i]] = max(near[best[i]] - own, 0.0) * total / others if others > 0 else 0.0
    most = _AGREED
    for j in range(near.shape[0]):
        most = max(most, near[j])
    for j in range(near.shape[0]):
        near[j] /= most
    return near

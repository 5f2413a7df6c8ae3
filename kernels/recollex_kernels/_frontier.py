"""What is to be looked at next? A heap of entries: activation, closeness and tag, greatest first.

The three parts of an entry stand in arrays of their own, in which the caller keeps room.
"""

import numpy as np

from recollex_kernels._jit import F32, U64, kernel


@kernel
def above(
    activation: np.float32, closeness: np.float32, tag: np.uint64, at: int, a: F32, c: F32, t: U64
) -> bool:
    """Return whether an entry leaves the heap before the entry at ``at``."""
    if activation != a[at]:
        return bool(activation > a[at])
    if closeness != c[at]:
        return bool(closeness > c[at])
    return bool(tag > t[at])


@kernel
def longer(a: F32, c: F32, t: U64, size: int) -> tuple[F32, F32, U64]:
    """Return the heap's arrays with room for at least ``size`` entries."""
    more = max(size - a.shape[0], a.shape[0])
    a = np.concatenate((a, np.empty(more, np.float32)))
    c = np.concatenate((c, np.empty(more, np.float32)))
    return a, c, np.concatenate((t, np.empty(more, np.uint64)))


@kernel
def push(
    n: int, activation: np.float32, closeness: np.float32, tag: np.uint64, a: F32, c: F32, t: U64
) -> int:
    """Return the heap's size after one more entry, for which there is room."""
    i = n
    while i > 0:
        p = (i - 1) >> 1
        if not above(activation, closeness, tag, p, a, c, t):
            break
        a[i], c[i], t[i] = a[p], c[p], t[p]
        i = p
    a[i], c[i], t[i] = activation, closeness, tag
    return n + 1


@kernel
def sink(
    n: int, activation: np.float32, closeness: np.float32, tag: np.uint64, a: F32, c: F32, t: U64
) -> None:
    """Put an entry in the place of the top one of a heap of ``n``."""
    i = 0
    while True:
        child = 2 * i + 1
        if child >= n:
            break
        if child + 1 < n and above(a[child + 1], c[child + 1], t[child + 1], child, a, c, t):
            child += 1
        if above(activation, closeness, tag, child, a, c, t):
            break
        a[i], c[i], t[i] = a[child], c[child], t[child]
        i = child
    a[i], c[i], t[i] = activation, closeness, tag


@kernel
def pop(n: int, a: F32, c: F32, t: U64) -> int:
    """Return the heap's size after its top entry was dropped."""
    n -= 1
    sink(n, a[n], c[n], t[n], a, c, t)
    return n

"""Passes over one column: the newest entry of each key, and whether kernels may index by it.

Are the items of a column such that kernels may use them as indexes? One pass each, no early end.
Inputs may be read-only maps. Cost: O(n), as fast as memory is read.
"""

import numpy as np

from recollex_kernels.machine.jit import I64, U32, kernel
from recollex_kernels.memories.filters import NONE


@kernel
def newest_entries(keys: U32, out: U32) -> bool:
    """Set ``out[k]`` to the last entry with key k, NONE without any; False for a key beyond it.

    Shapes: keys uint32[n], the key of each entry; out uint32[m], changed in place. A key that is
    not below m is left out, and nothing is written for it.

    Cost: O(n + m), 0.5 ns an item, no allocation.
    """
    for k in range(out.shape[0]):
        out[k] = NONE
    end = np.uint32(out.shape[0])
    fits = True
    for i in range(keys.shape[0]):
        k = keys[i]
        if k < end:
            out[k] = np.uint32(i)
        else:
            fits = False
    return fits


@kernel
def all_rise(items: I64, first: int, last: int) -> bool:
    """Return whether no item is less than the one before it, and all lie in [first, last].

    Shapes: items int64[n], or an unsigned type; numbers of 2**63 and above do not rise.
    """
    n = items.shape[0]
    if n == 0:
        return True
    falls = np.uint8(0)
    for i in range(1, n):
        falls |= np.uint8(np.int64(items[i]) < np.int64(items[i - 1]))
    return bool(falls == 0 and first <= np.int64(items[0]) and np.int64(items[n - 1]) <= last)


@kernel
def all_below(items: U32, end: int, none: bool) -> bool:
    """Return whether all items are below ``end``, or `NONE` if ``none``.

    Shapes: items uint32[n] or a smaller unsigned type; end in [0, NONE].
    """
    limit = np.uint32(end)
    above = np.uint32(0)
    for i in range(items.shape[0]):
        item = np.uint32(items[i])
        above |= np.uint32((item >= limit) & ((item != NONE) | (not none)))
    return bool(above == 0)


@kernel
def all_earlier(items: U32) -> bool:
    """Return whether each item is less than its own index, or `NONE`. Shapes: items uint32[n]."""
    later = np.uint32(0)
    for i in range(items.shape[0]):
        later |= np.uint32((items[i] >= np.uint32(i)) & (items[i] != NONE))
    return bool(later == 0)

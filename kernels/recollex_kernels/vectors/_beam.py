"""Heaps of a search: the rows to look at next, and the best rows so far. An entry is one number.

Entries order by score, which is not NaN, and equal scores by falling row: one comparison of
integers orders two entries.
"""

import numpy as np

from recollex_kernels.machine.jit import I64, kernel

_HALF = np.int64(32)
_SIGN = np.int32(31)
_MOST = np.int32(0x7FFFFFFF)
_LOWER = np.int64(0xFFFFFFFF)


@kernel
def entry(bits: np.int32, row: np.uint32) -> np.int64:
    """Return the entry of a row whose score has these bits."""
    ordered = np.int32(bits ^ ((bits >> _SIGN) & _MOST))
    return np.int64(np.int64(ordered) << _HALF) | np.int64(np.uint32(~row))


@kernel
def row_of(entry: np.int64) -> np.uint32:
    """Return the row of an entry."""
    return np.uint32(~np.uint32(entry & _LOWER))


@kernel
def push(n: int, entry: np.int64, heap: I64) -> int:
    """Return the size of a heap of ``n``, the greatest on top, after one more entry."""
    i = n
    while i > 0:
        above = (i - 1) >> 1
        if heap[above] >= entry:
            break
        heap[i] = heap[above]
        i = above
    heap[i] = entry
    return n + 1


@kernel
def sink(n: int, entry: np.int64, heap: I64) -> None:
    """Put an entry in the place of the top one of a heap of ``n``."""
    i = 0
    below = 1
    while below < n:
        if below + 1 < n:
            below += int(heap[below + 1] > heap[below])
        if heap[below] <= entry:
            break
        heap[i] = heap[below]
        i = below
        below = 2 * i + 1
    heap[i] = entry


@kernel
def longer(heap: I64) -> I64:
    """Return the heap with room for as many entries again."""
    return np.concatenate((heap, np.empty(heap.shape[0], np.int64)))

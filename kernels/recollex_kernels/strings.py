"""Strings that lie one after another, read by number."""

import numpy as np

from recollex_kernels._jit import I64, U8, kernel
from recollex_kernels._prefetch import prefetch


@kernel
def gather_strings(heap: U8, ends: I64, numbers: I64) -> tuple[U8, I64]:
    """Return the bytes of some strings, one after another, and where each ends.

    Shapes, for N strings, n asked for:
        heap     uint8[B]     the bytes of all strings, one after another
        ends     int64[N]     where each ends in it
        numbers  int64[n]     in [0, N)
        returned uint8[], int64[n]

    Cost: O(bytes returned).
    """
    n = numbers.shape[0]
    for i in range(n):  # they lie anywhere, and waiting costs most
        prefetch(ends, int(numbers[i]))
    first, to = np.zeros(n, np.int64), np.zeros(n, np.int64)
    total = 0
    for i in range(n):
        if numbers[i] > 0:
            first[i] = ends[numbers[i] - 1]
        prefetch(heap, first[i])
        total += ends[numbers[i]] - first[i]
        to[i] = total
    out = np.empty(total, np.uint8)
    at = 0
    for i in range(n):
        size = to[i] - at
        out[at : at + size] = heap[first[i] : first[i] + size]
        at += size
    return out, to

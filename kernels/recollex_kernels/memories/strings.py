"""Strings that lie one after another, read by number."""

import numpy as np

from recollex_kernels.machine.copying import copy_bytes
from recollex_kernels.machine.jit import I64, U8, U32, kernel
from recollex_kernels.machine.prefetch import prefetch


@kernel
def gather_strings(heap: U8, ends: I64, column: U32, places: U32, between: int) -> U8:
    """Return the bytes of some strings, one after another, and a byte between each two.

    Shapes, for N strings, M items that have one, n asked for:
        heap     uint8[B]     the bytes of all strings, one after another
        ends     int64[N]     where each ends in it
        column   uint32[M]    the number of each item's string, in [0, N)
        places   uint32[n]    in [0, M)
        returned uint8[]

    Cost: O(bytes returned), 10 ns for each string of 36 bytes.
    """
    n = places.shape[0]
    numbers = np.empty(n, np.int64)
    first = np.zeros(n, np.int64)
    end = np.empty(n, np.int64)
    for i in range(n):  # they lie anywhere, and waiting costs most
        numbers[i] = column[places[i]]
        prefetch(ends, numbers[i])
    total = max(n - 1, 0)
    for i in range(n):
        end[i] = ends[numbers[i]]
        if numbers[i] > 0:
            first[i] = ends[numbers[i] - 1]
        prefetch(heap, first[i])
        prefetch(heap, end[i] - 1)
        total += end[i] - first[i]
    out = np.empty(total, np.uint8)
    at = 0
    for i in range(n):
        size = end[i] - first[i]
        copy_bytes(out, at, heap, first[i], size)
        at += size
        if i + 1 < n:
            out[at] = between
            at += 1
    return out

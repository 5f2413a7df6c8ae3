"""The ranks of some memories in a list."""

import numpy as np

from recollex_kernels.machine.jit import U32, kernel


@kernel
def ranks_in(memories: U32, listed: U32) -> U32:
    """Return the rank of each memory in a list, from 1; 0 for those that are not in it.

    Shapes, for n memories, a list of m:
        memories  uint32[n]   each once
        listed    uint32[m]   each once, best first
        returned  uint32[n]

    Cost: O((n + m) log n).
    """
    n = memories.shape[0]
    found = np.zeros(n, np.uint32)
    if n == 0:
        return found
    order = np.argsort(memories)
    for r in range(listed.shape[0]):
        low = 0
        high = n
        while low < high:
            middle = (low + high) // 2
            if memories[order[middle]] < listed[r]:
                low = middle + 1
            else:
                high = middle
        if low < n and memories[order[low]] == listed[r]:
            found[order[low]] = r + 1
    return found

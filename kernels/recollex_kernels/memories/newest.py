"""The newest entry of each key, where entries are in the order in which they were recorded."""

import numpy as np

from recollex_kernels.machine.jit import U32, kernel
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

"""The best k of a stream of entries: a buffer with room for more, pruned when it is full.

Selecting k of 2k costs a few nanoseconds an entry; a sift of a heap costs about 50 ns.
"""

import numpy as np

from recollex_kernels.machine.jit import F32, U32, kernel
from recollex_kernels.machine.top_k import kth_greatest


@kernel
def room(k: int) -> int:
    """Return how long the buffers of the best ``k`` should be: more than k, at least."""
    return 2 * k + 64


@kernel
def prune(k: int, out: F32, out_ids: U32, out_rows: U32) -> np.float32:
    """Move the best ``k`` of the entries to the front, in their order; return the least of them.

    Ties: the earlier entry. An entry that comes later must be greater than what is returned.

    Shapes: three arrays of the same length, above k. Cost: O(length).
    """
    limit = np.float32(kth_greatest(out, k))
    ties = k
    for i in range(out.shape[0]):
        ties -= out[i] > limit
    n = 0
    for i in range(out.shape[0]):
        tie = int(out[i] == limit and ties > 0)
        ties -= tie
        taken = int(out[i] > limit) + tie
        out[n] = out[i]
        out_ids[n] = out_ids[i]
        out_rows[n] = out_rows[i]
        n += taken  # written in any case: no branch depends on a score
    return limit

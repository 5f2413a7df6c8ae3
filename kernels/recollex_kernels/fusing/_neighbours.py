"""Which memories stand around one in its document?"""

import numpy as np

from recollex_kernels.machine.jit import I64, U8, U32, kernel
from recollex_kernels.machine.prefetch import prefetch

NONE = np.uint32(0xFFFFFFFF)


@kernel
def neighbours(
    memories: U32, document: U32, said_at: I64, visible: U8, reach: int, window: int
) -> I64:
    """Return the memories around each one in its document: one and two before, one and two after.

    A neighbour has the same document, which is not NONE, is visible, stands at most ``reach``
    places away in recorded order (other documents may be written in between) and was said at most
    ``window`` away from the memory in time.

    Shapes, for n memories, M in all:
        memories  uint32[n]        in [0, M)
        document  uint32[M]        a label, or NONE
        said_at   int64[M]         microseconds
        visible   uint8[M]
        returned  int64[n, 4]      before, after, second before, second after; -1 for none

    Cost: O(n * reach) at worst, O(n) where a document is written in one go.
    """
    found = np.full((memories.shape[0], 4), -1, np.int64)
    for i in range(memories.shape[0]):
        prefetch(document, int(memories[i]))
        prefetch(said_at, int(memories[i]))
        prefetch(visible, int(memories[i]))
    for i in range(memories.shape[0]):
        m = np.int64(memories[i])
        label = document[m]
        if label == NONE:
            continue
        for side in range(2):
            step = -1 if side == 0 else 1
            met = 0
            other = m + step
            while met < 2 and 0 <= other < document.shape[0] and abs(other - m) <= reach:
                if document[other] == label and visible[other] == 1:
                    if abs(said_at[other] - said_at[m]) > window:
                        break
                    found[i, 2 * met + side] = other
                    met += 1
                other += step
    return found

"""Which entries of a list fit into a budget, taken in order?"""

import numpy as np

from recollex_kernels._jit import I64, U8, U32, kernel

NONE = np.uint32(0xFFFFFFFF)


@kernel
def fill(
    memories: U32, tokens: U32, passages: U32, passage_tokens: U32, budget: int, stop: bool
) -> tuple[I64, U8, int]:
    """Return the places of the memories that fit, whether each is cut, and the tokens they take.

    A memory that is longer than what is left gives its passage, if it has one that fits; if not it
    is passed over, or with ``stop`` the list ends before the first that does not fit whole.

    Shapes, for n of M memories, R rows:
        memories  uint32[n]        best first
        tokens    uint32[M]        of the whole memory
        passages  uint32[n]        the row that stands for the memory, or NONE; may be empty
        passage_tokens  uint32[R]
        returned  int64[k], uint8[k], int   ascending; 1 where the passage is taken

    Cost: O(n).
    """
    chosen = np.empty(memories.shape[0], np.int64)
    cut = np.zeros(memories.shape[0], np.uint8)
    n, total = 0, 0
    for place in range(memories.shape[0]):
        size = int(tokens[memories[place]])
        if total + size > budget:
            if stop:
                break
            if passages.shape[0] == 0 or passages[place] == NONE:
                continue
            size = int(passage_tokens[passages[place]])
            if total + size > budget:
                continue
            cut[n] = 1
        chosen[n] = place
        n += 1
        total += size
    return chosen[:n], cut[:n], total

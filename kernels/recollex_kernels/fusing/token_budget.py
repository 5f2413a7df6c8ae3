"""Which entries of a list, taken in order, fit into a token budget?"""

import numpy as np

from recollex_kernels.machine.jit import F64, U32, kernel
from recollex_kernels.machine.prefetch import prefetch

NONE = np.uint32(0xFFFFFFFF)


@kernel
def fill(
    memories: U32,
    scores: F64,
    tokens: U32,
    passages: U32,
    passage_tokens: U32,
    sources: U32,
    heads: U32,
    budget: int,
    stop: bool,
) -> tuple[U32, F64, U32, int, bool]:
    """Return the memories that fit, their scores, what each is cut to, and the tokens they take.

    A memory takes its head and its text. One that does not fit is cut to its passage, if that fits;
    otherwise it is passed over. With ``stop`` the list ends before the first memory that does not
    fit whole. Also returned: whether one of the memories has a source.

    Shapes, for n of M memories, R rows:
        memories  uint32[n]        best first
        scores    float64[n]
        tokens    uint32[M]        of the whole memory
        passages  uint32[n]        the row that stands for the memory, or NONE; may be empty
        passage_tokens  uint32[R]
        sources   uint32[M]        NONE for a memory without one
        heads     uint32[n] or [1]   the tokens before each text, or before all of them
        returned  uint32[k], float64[k], uint32[k], int, bool   in their order; NONE for a whole
                                                                memory

    Cost: O(n).
    """
    size = memories.shape[0]
    best, kept = np.empty(size, np.uint32), np.empty(size, np.float64)
    cut = np.full(size, NONE, np.uint32)
    n, total, sourced = 0, 0, False
    for place in range(size):  # they lie anywhere: the waits for memory overlap
        prefetch(tokens, int(memories[place]))
    for place in range(size):
        head = int(heads[place]) if heads.shape[0] > 1 else int(heads[0])
        length = head + int(tokens[memories[place]])
        if total + length > budget:
            if stop:
                break
            if passages.shape[0] == 0 or passages[place] == NONE:
                continue
            length = head + int(passage_tokens[passages[place]])
            if total + length > budget:
                continue
            cut[n] = passages[place]
        best[n], kept[n] = memories[place], scores[place]
        sourced = sourced or sources[memories[place]] != NONE
        n += 1
        total += length
    return best[:n], kept[:n], cut[:n], total, sourced

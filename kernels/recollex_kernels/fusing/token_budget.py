"""Which entries of a list, taken in order, fit into a token budget?"""

import numpy as np

from recollex_kernels.machine.jit import U32, kernel
from recollex_kernels.machine.memory_access import prefetch

NONE = np.uint32(0xFFFFFFFF)


@kernel
def fill(
    memories: U32,
    tokens: U32,
    passages: U32,
    passage_tokens: U32,
    sources: U32,
    heads: U32,
    budget: int,
    stop: bool,
    out: U32,
    out_rows: U32,
) -> tuple[int, int, bool]:
    """Set the places of the first memories that fit, and what each is cut to.

    A memory takes its head and its text. One that does not fit is cut to its passage, if that fits;
    otherwise it is passed over. With ``stop`` the list ends before the first memory that does not
    fit whole. Returned are how many fit, the tokens that those in ``out`` take, and whether one of
    all that fit has a source.

    Shapes, for n of M memories, R rows:
        memories  uint32[n]        best first
        tokens    uint32[M]        of the whole memory
        passages  uint32[n]        the row that stands for the memory, or NONE; may be empty
        passage_tokens  uint32[R]
        sources   uint32[M]        NONE for a memory without one
        heads     uint32[n] or [1]   the tokens before each text, or before all of them
        out       uint32[k]        for the first k that fit: their places in the list
        out_rows  uint32[k]        NONE for a whole memory; empty without passages

    Cost: O(n).
    """
    size = memories.shape[0]
    most = out.shape[0]
    n = 0
    total = 0
    taken = 0
    sourced = False
    for place in range(size):  # they lie anywhere: the waits for memory overlap
        prefetch(tokens, int(memories[place]))
    for place in range(size):
        head = int(heads[place]) if heads.shape[0] > 1 else int(heads[0])
        length = head + int(tokens[memories[place]])
        row = NONE
        if total + length > budget:
            if stop:
                break
            if passages.shape[0] == 0 or passages[place] == NONE:
                continue
            row = passages[place]
            length = head + int(passage_tokens[row])
            if total + length > budget:
                continue
        sourced = sourced or sources[memories[place]] != NONE
        total += length
        if n < most:
            out[n] = place
            taken = total
            if out_rows.shape[0] > 0:
                out_rows[n] = row
        n += 1
    return n, taken, sourced

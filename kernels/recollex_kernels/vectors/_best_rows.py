"""Which memories are the best of some rows, by their exact similarities?"""

import numpy as np

from recollex_kernels.machine.jit import F32, U16, U32, kernel
from recollex_kernels.machine.prefetch import prefetch, prefetch_row
from recollex_kernels.machine.top_k import strongest
from recollex_kernels.vectors._top_buffer import prune
from recollex_kernels.vectors.similarity import similarity

_AHEAD = 16  # rows prefetched ahead


@kernel
def best_rows(
    vectors: U16,
    near: U32,
    memory_of_row: U32,
    query: F32,
    limit: np.float32,
    size: int,
    best: F32,
    memories: U32,
    rows: U32,
) -> tuple[U32, U32, F32]:
    """Return the best ``size`` memories of ``near``, which ascends, by scoring all of it.

    ``best``, ``memories`` and ``rows`` are scratch, from `room`.
    """
    reached = near.shape[0]
    n = 0
    full = False
    have = False  # the memory whose rows are being read
    memory = np.uint32(0)
    row = np.uint32(0)
    score = np.float32(0)
    for place in range(min(reached, _AHEAD)):
        prefetch_row(vectors, near[place])
        prefetch(memory_of_row, int(near[place]))
    for place in range(reached):
        if place + _AHEAD < reached:
            prefetch_row(vectors, near[place + _AHEAD])
            prefetch(memory_of_row, int(near[place + _AHEAD]))
        i = near[place]
        exact = similarity(vectors, i, query)
        if exact < limit or (full and exact == limit):  # a later memory loses a tie
            continue
        m = memory_of_row[i]
        if have and m == memory:
            if exact > score:
                score = exact
                row = i
            continue
        if have:
            best[n] = score
            memories[n] = memory
            rows[n] = row
            n += 1
            if n == best.shape[0]:
                limit = prune(size, best, memories, rows)
                n = size
                full = True
        have = True
        memory = m
        row = i
        score = exact
    if have:
        best[n] = score
        memories[n] = memory
        rows[n] = row
        n += 1
    order = strongest(best[:n], size)
    return memories[order], rows[order], best[order]

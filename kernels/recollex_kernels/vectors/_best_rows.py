"""Which rows may be searched, and which memories are the best of them?

The best k of a stream of entries: a buffer with room for more, pruned when it is full.
Selecting k of 2k costs a few nanoseconds an entry; a sift of a heap costs about 50 ns.
"""

import numpy as np

from recollex_kernels.machine.bit_masks import TILE, count_bits, lowest, marked
from recollex_kernels.machine.jit import F32, U8, U16, U32, U64, kernel
from recollex_kernels.machine.memory_access import prefetch, prefetch_row
from recollex_kernels.machine.top_k import kth_greatest, strongest
from recollex_kernels.vectors.similarity import similarity


# Which rows belong to the memories that a filter admits?
@kernel
def _words_of(allowed: U8, low: int, high: int) -> U64:
    """Return a bit for each of memories [low, high), 64 a word: whether it is allowed."""
    words = np.empty((high - low + TILE - 1) // TILE, np.uint64)
    whole = (high - low) // TILE
    for i in range(whole):
        words[i] = marked(allowed, low + i * TILE)
    if whole < words.shape[0]:
        last = np.uint64(0)
        for m in range(low + whole * TILE, high):
            if allowed[m] != 0:
                last |= np.uint64(1) << np.uint64(m - low - whole * TILE)
        words[whole] = last
    return words


@kernel
def rows_of_allowed(
    first: int, end: int, memory_of_row: U32, first_row: U32, allowed: U8, sparse: int
) -> tuple[bool, bool, U32]:
    """Return whether all memories of rows [first, end) are allowed, whether few are, their rows.

    If one in ``sparse`` memories or more are allowed, looking at all rows costs less, and none is
    listed. Otherwise the rows ascend. Each memory has a row or more, or none has more than one, as
    surfaces have.

    Cost: a byte a memory, and 2 ns for each allowed one if few are.
    """
    low = int(memory_of_row[first])
    high = int(memory_of_row[end - 1]) + 1
    words = _words_of(allowed, low, high)
    count = 0
    for word in words:
        count += count_bits(word)
    if count * sparse >= high - low:
        return count == high - low, False, np.empty(0, np.uint32)
    more = max(0, end - first - (high - low))  # rows beside one of each memory
    rows = np.empty(count + more, np.uint32)
    n = 0
    for i in range(words.shape[0]):
        word = words[i]
        while word != 0:
            m = low + i * TILE + lowest(word)
            word &= word - np.uint64(1)
            for row in range(int(first_row[m]), int(first_row[m + 1])):
                if first <= row < end:
                    rows[n] = row
                    n += 1
    return False, True, rows[:n]


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

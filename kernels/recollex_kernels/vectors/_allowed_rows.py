"""Which rows belong to the memories that a filter admits?"""

import numpy as np

from recollex_kernels.machine.bit_masks import TILE, count_bits, lowest, marked
from recollex_kernels.machine.jit import U8, U32, U64, kernel


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

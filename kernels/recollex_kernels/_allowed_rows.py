"""Which rows belong to the memories that a filter admits?"""

import numpy as np

from recollex_kernels._jit import U8, U32, kernel

_TILE = 64  # memories looked at together
_SPARSE = 3  # fewer than one in so many allowed: their rows are listed first


@kernel
def rows_of_allowed(
    first: int, end: int, memory_of_row: U32, first_row: U32, allowed: U8
) -> tuple[bool, U32]:
    """Return whether few memories of rows [first, end) are allowed, and then their rows, ascending.

    Where every third is allowed, or more, to look at all rows costs less: nothing is listed.
    """
    low, high = np.int64(memory_of_row[first]), np.int64(memory_of_row[end - 1]) + 1
    marks = allowed[low:high]
    count = np.int32(0)
    for i in range(marks.shape[0]):
        count = np.int32(count + np.int32(marks[i]))
    if count * _SPARSE >= high - low:
        return False, np.empty(0, np.uint32)
    memories = np.empty(count, np.int64)
    n = 0
    for block in range(low, high, _TILE):
        held = np.int32(0)
        part = allowed[block : min(block + _TILE, high)]
        for i in range(part.shape[0]):
            held = np.int32(held + np.int32(part[i]))
        if held > 0:
            for i in range(part.shape[0]):
                if part[i] != 0:
                    memories[n] = block + i
                    n += 1
    total = 0
    for m in memories:
        total += int(first_row[m + 1] - first_row[m])
    rows = np.empty(total, np.uint32)
    n = 0
    for m in memories:
        for row in range(int(first_row[m]), int(first_row[m + 1])):
            if first <= row < end:
                rows[n] = row
                n += 1
    return True, rows[:n]

"""Which documents hold one word of a question alone, and surely come after the best?

A word that nearly all documents hold, beside words that few hold, makes thousands of candidates.
What each scores depends on its code alone, so they need not be scored one by one.
"""

import numpy as np

from recollex_kernels.machine.jit import F32, I64, U8, U16, U32, kernel

CROWDED = 1024
"""So many candidates, and more, are looked at by their codes."""


@kernel
def drop_tied(
    columns: U8,
    columned: I64,
    first: int,
    size: int,
    added: U16,
    idf: F32,
    values: F32,
    k: int,
    start: int,
    n: int,
    out: U32,
    out_sums: U16,
) -> int:
    """Drop those of [start, n) that ``k`` others surely precede; return how many there are now.

    Looked at are documents whose sum is what one word with a column adds: no other is in them, as
    each adds at least 1. Two with one code have one score, and the lower one is first.

    Shapes, for documents [first, first + size) of a segment, Q words:
        columns, columned   as `search_segment` has them
        added               uint16[Q, 256], what a posting of each code adds to a sum
        idf                 float32[Q]
        values              float32[256], see `_impact_decoding.code_values`
        out, out_sums       [>= n]; from ``start`` on documents ascend, all are allowed, and sums
                            are whole

    Cost: 2 ns a candidate for each word with a column; nothing below `CROWDED`.
    """
    if n - start < max(CROWDED, 4 * k):
        return n
    counts = np.empty(256, np.int64)
    room = np.empty(256, np.int64)
    scores = np.empty(256, np.float32)
    for q in range(columned.shape[0]):
        if columned[q] < 0:
            continue
        base = columned[q] * size - first
        of_code = added[q]
        counts[:] = 0
        for i in range(start, n):
            code = columns[np.uint64(base + np.int64(out[np.uint64(i)]))]
            counts[code] += int(out_sums[np.uint64(i)] == of_code[code])
        for code in range(256):
            known = code > 0 and counts[code] > 0 and values[code] > 0
            scores[code] = idf[q] * values[code] if known else -np.float32(np.inf)
        rest = scores.copy()
        least = np.float32(0)
        before = 0
        while before < k:  # what the k best of them score at least
            best = np.argmax(rest)
            least = rest[best]
            if least < 0:
                break
            before += counts[best]
            rest[best] = -np.float32(np.inf)
        for code in range(256):
            room[code] = n if scores[code] < 0 else k if scores[code] >= least else 0
        kept = np.uint64(start)
        for i in range(start, n):
            d = out[np.uint64(i)]
            held = out_sums[np.uint64(i)]
            code = columns[np.uint64(base + np.int64(d))]
            alone = int(code != 0) & int(held == of_code[code])
            out[kept] = d
            out_sums[kept] = held
            kept += np.uint64((alone ^ 1) | int(room[code] > 0))
            room[code] -= alone
        n = int(np.int64(kept))
    return n

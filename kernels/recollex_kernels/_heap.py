"""A bounded heap of the best entries seen so far, the worst of them on top."""

import numpy as np

from recollex_kernels._jit import F32, U32, kernel


@kernel
def sift(
    n: int, score: np.float32, ident: np.uint32, row: int, out: F32, out_ids: U32, out_rows: U32
) -> None:
    """Put an entry at the root of a heap of ``n`` entries, the worst entry on top.

    Worse is the lower score, then the higher id.
    """
    i = 0
    while True:
        c = 2 * i + 1
        if c >= n:
            break
        if c + 1 < n and (
            out[c + 1] < out[c] or (out[c + 1] == out[c] and out_ids[c + 1] > out_ids[c])
        ):
            c += 1
        if score < out[c] or (score == out[c] and ident > out_ids[c]):
            break
        out[i] = out[c]
        out_ids[i] = out_ids[c]
        out_rows[i] = out_rows[c]
        i = c
    out[i] = score
    out_ids[i] = ident
    out_rows[i] = row


@kernel
def offer(
    n: int,
    k: int,
    score: np.float32,
    ident: np.uint32,
    row: int,
    out: F32,
    out_ids: U32,
    out_rows: U32,
) -> int:
    """Return the heap's size after an entry was added, or took the place of the worst, or lost."""
    if n < k:
        i = n
        while i > 0:
            p = (i - 1) >> 1
            if out[p] < score or (out[p] == score and out_ids[p] > ident):
                break
            out[i] = out[p]
            out_ids[i] = out_ids[p]
            out_rows[i] = out_rows[p]
            i = p
        out[i] = score
        out_ids[i] = ident
        out_rows[i] = row
        return n + 1
    if score > out[0] or (score == out[0] and ident < out_ids[0]):
        sift(n, score, ident, row, out, out_ids, out_rows)
    return n


@kernel
def unheap(n: int, out: F32, out_ids: U32, out_rows: U32) -> None:
    """Sort a heap of ``n`` entries in place, best first."""
    for end in range(n - 1, 0, -1):
        score, ident, row = out[end], out_ids[end], out_rows[end]
        out[end], out_ids[end], out_rows[end] = out[0], out_ids[0], out_rows[0]
        sift(end, score, ident, row, out, out_ids, out_rows)

"""Exact nearest vectors: an int8 scan that never changes the float16 result.

Vectors are float16, given as their bit patterns (``vectors.view(np.uint16)``), C-contiguous, of a
width D that is a multiple of 8, and finite. Their norm is about 1, but nothing here relies on it.
"""

import numpy as np

from recollex_kernels._codes import code_dot, encode_query
from recollex_kernels._float16 import decode_row, similarity
from recollex_kernels._jit import F32, I8, U8, U16, U32, kernel
from recollex_kernels._pruned import prune, room
from recollex_kernels._scores import strongest

_DIRECT = 1024  # fewer rows than this are scored without the int8 scan


@kernel
def cosines(vectors: U16, rows: U32, query: F32, out: F32) -> None:
    """Set ``out[i]`` to the similarity of row ``rows[i]`` and the query.

    Equation: the one at the top of ``_float16``; a cosine if both norms are 1.

    Shapes, for N vectors of width D, n rows:
        vectors  uint16[N, D]  float16 bit patterns
        rows     uint32[n]     in [0, N), in any order, may repeat
        query    float32[D]
        out      float32[n]

    Cost: O(n D), about 14 ns a row of 384 in cache. Inputs may be read-only maps.
    """
    for i in range(rows.shape[0]):
        out[i] = similarity(vectors, rows[i], query)


@kernel
def quantize(vectors: U16, out_codes: I8, out_scales: F32, out_residuals: F32) -> None:
    """Approximate each row v by ``scale * codes`` and bound what that loses.

    Equation:
        scale = max |v[j]| / 127,  codes[j] = round(v[j] / scale)
        residual >= L2 norm of (v - scale * codes)

    A zero row has scale 0 and codes 0.

    Shapes, for n rows of width D:
        vectors        uint16[n, D]  float16 bit patterns, finite
        out_codes      int8[n, D]    in [-127, 127]
        out_scales     float32[n]
        out_residuals  float32[n]    a true bound: rounded up

    Cost: O(n D).
    """
    width = vectors.shape[1]
    row = np.empty(width, np.float32)
    for i in range(vectors.shape[0]):
        decode_row(vectors, i, row)
        largest = np.float32(0)
        for j in range(width):
            largest = max(largest, abs(row[j]))
        scale = np.float32(largest / np.float32(127))
        lost = 0.0
        for j in range(width):
            code = 0.0
            if scale > 0:
                code = min(127.0, max(-127.0, np.rint(np.float64(row[j]) / np.float64(scale))))
            out_codes[i, j] = np.int8(code)
            difference = np.float64(row[j]) - np.float64(scale) * code
            lost += difference * difference
        out_scales[i] = scale
        out_residuals[i] = np.float32((np.sqrt(lost) + np.float64(scale) * 1e-6) * 1.000001)


@kernel
def scan_top(
    vectors: U16,
    codes: I8,
    scales: F32,
    residuals: F32,
    first_row: int,
    end_row: int,
    memory_of_row: U32,
    allowed: U8,
    query: F32,
    floor: float,
    k: int,
) -> tuple[U32, U32, F32]:
    """Return the exact ``k`` best memories of rows [first_row, end_row): memories, rows, scores.

    A memory scores as its best row, the lowest row on ties. Only scores >= ``floor`` and memories
    with ``allowed[memory]`` count. Order: higher score, then lower memory. The scores are those
    of ``cosines``; the result is that of scoring every row so and sorting, to the bit.

    A row is scored exactly only if its upper bound (see ``_codes``) could still change the result.

    Shapes, for N vectors of width D, C <= N rows of codes, M memories:
        vectors            uint16[N, D]  float16 bit patterns
        codes, scales, residuals  int8[C, D], float32[C], float32[C]  from ``quantize``; rows from
                           C on are scored exactly without them
        memory_of_row      uint32[N]     ascending, so rows of one memory are consecutive
        allowed            uint8[M]      rows of others are skipped before their codes are read
        query              float32[D]

    Cost: O(rows * D) reads of a byte, about 12 ns a row of 384 in cache, and 2 bytes for the few
    rows scored exactly. Under 1,024 rows the codes are not used.
    """
    size = max(0, min(k, end_row - first_row))
    best = np.empty(room(size), np.float32)
    memories = np.empty(room(size), np.uint32)
    rows = np.empty(room(size), np.uint32)
    if size == 0:
        return memories[:0], rows[:0], best[:0]
    width = vectors.shape[1]
    query_codes = np.empty(width, np.int16)
    step, per_scale, per_residual = encode_query(query, query_codes)
    scanned = min(end_row, codes.shape[0]) if end_row - first_row >= _DIRECT else first_row
    n = 0
    limit = np.float32(floor)
    full = False
    have = False  # the memory whose rows are being read
    memory = np.uint32(0)
    row = 0
    score = np.float32(0)
    for i in range(first_row, end_row):
        m = memory_of_row[i]
        if allowed[m] == 0:
            continue
        if i < scanned:
            dot = np.float64(code_dot(codes[i], query_codes))
            bound = np.float64(scales[i]) * (step * dot + per_scale)
            bound += np.float64(residuals[i]) * per_residual
            if bound < limit:
                continue
        exact = similarity(vectors, i, query)
        if exact < limit or (full and exact == limit):  # a later memory loses a tie
            continue
        if have and m == memory:
            if exact > score:
                score = exact
                row = i
            continue
        if have:
            best[n], memories[n], rows[n] = score, memory, row
            n += 1
            if n == best.shape[0]:
                limit, n, full = prune(size, best, memories, rows), size, True
        have = True
        memory = m
        row = i
        score = exact
    if have:
        best[n], memories[n], rows[n] = score, memory, row
        n += 1
    order = strongest(best[:n], size)
    return memories[order], rows[order], best[order]

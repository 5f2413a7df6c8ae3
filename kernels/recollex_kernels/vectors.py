"""Exact nearest vectors: one definition of similarity, and an int8 scan that never changes it.

Vectors are float16, given as their bit patterns (``vectors.view(np.uint16)``), C-contiguous, of a
width D that is a multiple of 8, and finite. Their norm is about 1, but nothing here relies on it.

The similarity of a row v and a query q, everywhere in this package, is the float32 sum
    tree(a) + tree(b),   a[l] = sum over whole blocks of 32:  v[32 i + l] * q[32 i + l]
                         b[l] = sum over blocks of 8 after those, lane by lane
where each product and each sum is rounded to float32, blocks in order, and ``tree`` adds the upper
half of the lanes to the lower half until one is left. No fused multiply-add, so every processor
and every way of computing it gives the same bits.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils as _cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from recollex_kernels._jit import F32, I8, I16, U8, U16, U32, kernel

_DIRECT = 1024  # fewer rows than this are scored without the int8 scan
_TILE = 64  # rows of codes that stay in the first-level cache while new rows pass over them
_ROUNDING = 2.0**-23  # twice float32's unit roundoff
_TINY = 1e-40  # above what products lose by underflow

_QUERY_MOST = 32000  # largest code of a query, in int16
_SUM_MOST = 2**31 - 1

_BUILD: Any = _cgutils  # its functions carry no types
_I32, _I64, _FLOAT = ir.IntType(32), ir.IntType(64), ir.FloatType()


def _splat(kind: Any, n: int, value: float) -> Any:
    return ir.Constant(ir.VectorType(kind, n), [value] * n)


def _load(b: Any, base: Any, offset: Any, kind: Any, n: int, align: int) -> Any:
    """Return ``n`` elements at ``base[offset]`` as one vector."""
    at = b.bitcast(b.gep(base, [offset]), ir.VectorType(kind, n).as_pointer())
    loaded = b.load(at)
    loaded.align = align
    return loaded


def _decode(context: Any, b: Any, bits: Any, n: int) -> Any:
    """Return ``n`` float16 bit patterns as float32, exactly, infinities and subnormals too."""
    if "+f16c" in context.codegen().magic_tuple()[2].split(","):
        half = b.bitcast(bits, ir.VectorType(ir.HalfType(), n))
        return b.fpext(half, ir.VectorType(_FLOAT, n))
    wide = b.zext(bits, ir.VectorType(_I32, n))
    size = b.shl(b.and_(wide, _splat(_I32, n, 0x7FFF)), _splat(_I32, n, 13))
    sign = b.shl(b.and_(wide, _splat(_I32, n, 0x8000)), _splat(_I32, n, 16))
    # float32's exponent bias is 112 more than float16's
    scaled = b.fmul(b.bitcast(size, ir.VectorType(_FLOAT, n)), _splat(_FLOAT, n, 2.0**112))
    special = b.icmp_unsigned(">=", size, _splat(_I32, n, 0x7C00 << 13))  # infinity, NaN
    size = b.select(
        special,
        b.or_(size, _splat(_I32, n, 0x7F800000)),
        b.bitcast(scaled, ir.VectorType(_I32, n)),
    )
    return b.bitcast(b.or_(size, sign), ir.VectorType(_FLOAT, n))


def _lanes(b: Any, vector: Any, chosen: range) -> Any:
    mask = ir.Constant(ir.VectorType(_I32, len(chosen)), list(chosen))
    return b.shuffle_vector(vector, vector, mask)


def _tree(b: Any, vector: Any, n: int) -> Any:
    """Return the sum of ``n`` lanes: the upper half is added to the lower until one is left."""
    while n > 1:
        n //= 2
        vector = b.fadd(_lanes(b, vector, range(n)), _lanes(b, vector, range(n, 2 * n)))
    return b.extract_element(vector, _I32(0))


def _contiguous(*arrays: Any) -> None:
    if any(array.layout != "C" for array in arrays):
        raise TypingError("vectors, codes and queries must be C-contiguous")


def _row(context: Any, b: Any, kind: Any, array: Any, row: Any) -> tuple[Any, Any]:
    """Return the address of a row of a matrix, and the row's length."""
    matrix = context.make_array(kind)(context, b, array)
    width = b.extract_value(matrix.shape, 1)
    return b.gep(matrix.data, [b.mul(row, width)]), width


def _similarity_code(typing: Any, vectors: Any, row: Any, query: Any) -> Any:
    _contiguous(vectors, query)

    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        v, width = _row(context, b, signature.args[0], args[0], args[1])
        q = context.make_array(signature.args[2])(context, b, args[2]).data
        whole = b.and_(width, _I64(-32))
        sums = []
        for n, first, end in ((32, _I64(0), whole), (8, whole, width)):
            sum_at = _BUILD.alloca_once_value(b, _splat(_FLOAT, n, 0.0))
            with _BUILD.for_range_slice(b, first, end, _I64(n)) as (j, _):
                decoded = _decode(context, b, _load(b, v, j, ir.IntType(16), n, 2), n)
                product = b.fmul(decoded, _load(b, q, j, _FLOAT, n, 4))
                b.store(b.fadd(b.load(sum_at), product), sum_at)
            sums.append(_tree(b, b.load(sum_at), n))
        return b.fadd(sums[0], sums[1])

    return types.float32(vectors, types.int64, query), build


def _decode_row_code(typing: Any, vectors: Any, row: Any, out: Any) -> Any:
    _contiguous(vectors, out)

    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        v, width = _row(context, b, signature.args[0], args[0], args[1])
        to = context.make_array(signature.args[2])(context, b, args[2]).data
        with _BUILD.for_range_slice(b, _I64(0), width, _I64(8)) as (j, _):
            decoded = _decode(context, b, _load(b, v, j, ir.IntType(16), 8, 2), 8)
            at = b.bitcast(b.gep(to, [j]), ir.VectorType(_FLOAT, 8).as_pointer())
            b.store(decoded, at).align = 4
        return context.get_dummy_value()

    return types.void(vectors, types.int64, out), build


_similarity = cast(Callable[[U16, int | np.uint32, F32], np.float32], intrinsic(_similarity_code))
_decode_row = cast(Callable[[U16, int, F32], None], intrinsic(_decode_row_code))


@kernel
def _code_dot(codes: I8, query: I16) -> np.int32:
    """Return the dot product of one row's codes and a query's codes, exactly."""
    total = np.int32(0)
    for j in range(codes.shape[0]):
        total += np.int32(codes[j]) * np.int32(query[j])
    return total


@kernel
def cosines(vectors: U16, rows: U32, query: F32, out: F32) -> None:
    """Set ``out[i]`` to the similarity of row ``rows[i]`` and the query.

    Equation: the one at the top of this file; a cosine if both norms are 1.

    Shapes, for N vectors of width D, n rows:
        vectors  uint16[N, D]  float16 bit patterns
        rows     uint32[n]     in [0, N), in any order, may repeat
        query    float32[D]
        out      float32[n]

    Cost: O(n D), about 14 ns a row of 384 in cache. Inputs may be read-only maps.
    """
    for i in range(rows.shape[0]):
        out[i] = _similarity(vectors, rows[i], query)


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
        _decode_row(vectors, i, row)
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
def _sift(
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
        out[i], out_ids[i], out_rows[i] = out[c], out_ids[c], out_rows[c]
        i = c
    out[i], out_ids[i], out_rows[i] = score, ident, row


@kernel
def _offer(
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
            out[i], out_ids[i], out_rows[i] = out[p], out_ids[p], out_rows[p]
            i = p
        out[i], out_ids[i], out_rows[i] = score, ident, row
        return n + 1
    if score > out[0] or (score == out[0] and ident < out_ids[0]):
        _sift(n, score, ident, row, out, out_ids, out_rows)
    return n


@kernel
def _encode_query(query: F32, out_codes: I16) -> tuple[float, float, float]:
    """Return the query's scale, the norm of what its int16 codes lose, and its norm.

    Codes are small enough that no dot product with int8 codes overflows int32.
    """
    most = min(_QUERY_MOST, _SUM_MOST // (127 * query.shape[0]))
    largest = np.float32(0)
    for j in range(query.shape[0]):
        largest = max(largest, abs(query[j]))
    scale = np.float64(largest) / most
    lost = 0.0
    norm = 0.0
    for j in range(query.shape[0]):
        q = np.float64(query[j])
        code = 0.0
        if scale > 0:
            code = min(np.float64(most), max(-np.float64(most), np.rint(q / scale)))
        out_codes[j] = np.int16(code)
        lost += (q - scale * code) ** 2
        norm += q * q
    return scale, np.sqrt(lost) * 1.000001 + scale * 1e-6, np.sqrt(norm) * 1.000001


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

    A row is scored exactly only if an upper bound could still change the result. With v ~ s c the
    row and its codes, q ~ t d the query and its codes, r and e the norms of what they lose:
        v.q <= s t c.d + e |s c| + r |q| + rounding,   |s c| <= s 127 sqrt(D)

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
    best = np.empty(size, np.float32)
    memories = np.empty(size, np.uint32)
    rows = np.empty(size, np.uint32)
    if size == 0:
        return memories, rows, best
    width = vectors.shape[1]
    query_codes = np.empty(width, np.int16)
    step, query_lost, query_norm = _encode_query(query, query_codes)
    rounding = (width / 32 + 16) * _ROUNDING
    per_scale = (query_lost + rounding * query_norm) * 127.0 * np.sqrt(np.float64(width)) * 1.000001
    per_residual = query_norm * (1.0 + rounding)
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
            dot = np.float64(_code_dot(codes[i], query_codes))
            bound = np.float64(scales[i]) * (step * dot + per_scale)
            bound += np.float64(residuals[i]) * per_residual + _TINY
            if bound < limit:
                continue
        exact = _similarity(vectors, i, query)
        if exact < limit or (full and exact == limit):  # a later memory loses a tie
            continue
        if have and m == memory:
            if exact > score:
                score = exact
                row = i
            continue
        if have:
            n = _offer(n, size, score, memory, row, best, memories, rows)
            if n == size:
                full = True
                limit = best[0]
        have = True
        memory = m
        row = i
        score = exact
    if have:
        n = _offer(n, size, score, memory, row, best, memories, rows)
    for end in range(n - 1, 0, -1):
        score, memory, row = best[end], memories[end], int(rows[end])
        best[end], memories[end], rows[end] = best[0], memories[0], rows[0]
        _sift(end, score, memory, row, best, memories, rows)
    return memories[:n].copy(), rows[:n].copy(), best[:n].copy()

"""Upper bounds of similarities, from four bits a component of a row and eight bits of a query.

A row v is S (u - 7.5) plus what that loses, u in 0..15, S its step; a query q is t d plus what that
loses, d in -127..127. With w = S (u - 7.5), r and e the norms of what the row and the query lose,
the similarity in float32 (see `similarity`) is at most
    S t (u.d - 7.5 sum d) + |w| e + r |q| + g |q| (|w| + r) + tiny
where g bounds float32's rounding, over the longest chain of sums there and over the few operations
here, and ``tiny`` its underflow. The sums u.d are whole numbers, so every processor agrees.

A row of width D is D / 2 bytes: byte j holds component j in its low half and j + D / 2 in its high.
"""

from collections.abc import Callable
from typing import Any, TypeAlias, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

from recollex_kernels.machine.intrinsics import contiguous, data_of, lanes, load, row_of, splat
from recollex_kernels.machine.jit import F32, I8, I32, U8, kernel

_BUILD: Any = _cgutils  # its functions carry no types
_BYTE = ir.IntType(8)
_SHORT = ir.IntType(16)
_WORD = ir.IntType(32)
_LONG = ir.IntType(64)
_MOST = 127  # the largest code of a query
_SLACK = 1.000001  # above what float64 loses here
_ROUNDING = 2.0**-23  # twice float32's unit roundoff
_TINY = 1e-37
TOGETHER = 4
"""Rows whose sums are computed at once."""

QueryCode: TypeAlias = tuple[np.float32, np.float32, np.float32, np.int32]
"""What a bound needs of a query: step, per_norm, per_loss, shift; see `encode_query`."""


def _vector(element: Any, n: int) -> Any:
    return ir.VectorType(element, n)


def _folded(b: Any, x: Any, n: int) -> Any:
    """Return the sums of the two halves of ``n`` lanes."""
    half = n // 2
    low = list(range(half))
    high = list(range(half, n))
    return b.add(lanes(b, x, x, low), lanes(b, x, x, high))


def _multiplier(context: Any) -> tuple[int, Any]:
    """Return how many bytes are multiplied at once, and what does it.

    VNNI's ``vpdpbusd`` where the processor has it; else products and sums of 16 bits, in which
    four pairs of products fit: 4 * 2 * 15 * 127 < 2^15.
    """
    features = context.codegen().magic_tuple()[2].split(",")
    n = 64 if "+avx512vnni" in features else 32
    if "+avx512vnni" in features or "+avxvnni" in features:
        return n, _multiply_vnni
    return n, _multiply_portable


def _multiply_vnni(b: Any, n: int, low: Any, high: Any, query: tuple[Any, Any], total: Any) -> Any:
    words = _vector(_WORD, n // 4)
    kind = ir.FunctionType(words, [words, words, words])
    name = f"llvm.x86.avx512.vpdpbusd.{8 * n}"
    multiply = _BUILD.get_or_insert_function(b.module, kind, name)
    for codes, of_query in ((low, query[0]), (high, query[1])):
        total = b.call(multiply, [total, b.bitcast(codes, words), b.bitcast(of_query, words)])
    return total


def _multiply_portable(
    b: Any, n: int, low: Any, high: Any, query: tuple[Any, Any], total: Any
) -> Any:
    shorts = _vector(_SHORT, n)
    products = b.add(
        b.mul(b.zext(low, shorts), b.sext(query[0], shorts)),
        b.mul(b.zext(high, shorts), b.sext(query[1], shorts)),
    )
    sums = b.sext(_folded(b, _folded(b, products, n), n // 2), _vector(_WORD, n // 4))
    return b.add(total, sums)


def _transposed_sums(b: Any, totals: list[Any], n: int) -> Any:
    """Return the sums of four vectors of ``n`` lanes, as one vector of four."""

    def paired(x: Any, y: Any, size: int) -> Any:
        """Add neighbours of ``size`` lanes: x's in the even places, y's in the odd ones."""
        first = []
        second = []
        for low in range(0, n, 2 * size):
            first += [*range(low, low + size), *range(n + low, n + low + size)]
            second += [*range(low + size, low + 2 * size)]
            second += [*range(n + low + size, n + low + 2 * size)]
        return b.add(lanes(b, x, y, first), lanes(b, x, y, second))

    a = paired(totals[0], totals[1], 2)
    c = paired(totals[2], totals[3], 2)
    # lanes of each quadruple: x x y y; now every second lane of a and c
    even = [lane for low in range(0, n, 4) for lane in (low, low + 2, n + low, n + low + 2)]
    odd = [lane + 1 for lane in even]
    sums = b.add(lanes(b, a, c, even), lanes(b, a, c, odd))
    while n > 4:
        sums = _folded(b, sums, n)
        n //= 2
    return sums


def _sums_code(
    typing: Any, codes: Any, r0: Any, r1: Any, r2: Any, r3: Any, query: Any, out: Any, at: Any
) -> Any:
    contiguous("codes, queries and sums", codes, query, out)

    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        found = [row_of(context, b, signature.args[0], args[0], row) for row in args[1:5]]
        rows = [row for row, _ in found]
        width = found[0][1]
        q = data_of(context, b, signature.args[5], args[5])
        to = data_of(context, b, signature.args[6], args[6])
        n, multiply = _multiplier(context)
        total_at = [_BUILD.alloca_once_value(b, splat(_WORD, n // 4, 0)) for _ in rows]
        half = splat(_BYTE, n, 15)
        whole = b.and_(width, _LONG(-n))
        with _BUILD.for_range_slice(b, _LONG(0), whole, _LONG(n)) as (j, _):
            low_q, high_q = (load(b, q, at, _BYTE, n, 1) for at in (j, b.add(j, width)))
            for row, at in zip(rows, total_at, strict=True):
                both = load(b, row, j, _BYTE, n, 1)
                shorts = b.bitcast(both, _vector(_SHORT, n // 2))
                shifted = b.bitcast(b.lshr(shorts, splat(_SHORT, n // 2, 4)), both.type)
                low = b.and_(both, half)
                high = b.and_(shifted, half)
                b.store(multiply(b, n, low, high, (low_q, high_q), b.load(at)), at)
        sums = _transposed_sums(b, [b.load(at) for at in total_at], n // 4)
        sums_at = _BUILD.alloca_once_value(b, sums)
        b.store(sums, sums_at)
        with _BUILD.for_range_slice(b, whole, width, _LONG(1)) as (j, _):
            low_q = b.sext(b.load(b.gep(q, [j])), _WORD)
            high_q = b.sext(b.load(b.gep(q, [b.add(j, width)])), _WORD)
            sums = b.load(sums_at)
            for lane, row in enumerate(rows):
                both = b.zext(b.load(b.gep(row, [j])), _WORD)
                more = b.add(
                    b.mul(b.and_(both, _WORD(15)), low_q), b.mul(b.lshr(both, _WORD(4)), high_q)
                )
                more = b.add(b.extract_element(sums, _WORD(lane)), more)
                sums = b.insert_element(sums, more, _WORD(lane))
            b.store(sums, sums_at)
        place = b.bitcast(b.gep(to, [args[7]]), _vector(_WORD, 4).as_pointer())
        b.store(b.load(sums_at), place).align = 4
        return context.get_dummy_value()

    rows = (types.int64,) * TOGETHER
    return types.void(codes, *rows, query, out, types.int64), build


four_sums = cast(
    Callable[[U8, int, int, int, int, I8, I32, int], None],
    intrinsic(_sums_code),
)
"""Writes the sums u.d of four rows of codes and a query's codes to four places of ``out``."""


@kernel
def encode_row(row: F32, out: U8) -> tuple[float, float, float]:
    """Return a row's step, norm |w| and loss r, and fill its codes.

    Of a few steps, the one that loses least: a row has few large components, and what clips them
    codes the others better. The norm and the loss are rounded up.

    Shapes: row float32[D], finite; out uint8[D / 2].

    Cost: O(D), 2 us for 384.
    """
    half = out.shape[0]
    largest = np.float32(0)
    for j in range(2 * half):
        largest = max(largest, abs(row[j]))
    widest = np.float32(largest / np.float32(7.5))
    step = np.float32(0)
    least = np.inf
    if widest > 0:
        for clip in range(4):
            candidate = np.float32(widest * np.float32(1 - 0.12 * clip))
            inverse = np.float32(1) / candidate
            lost = np.float32(0)
            for j in range(2 * half):
                u = min(
                    np.float32(15), max(np.float32(0), np.floor(row[j] * inverse) + np.float32(8))
                )
                lost_here = row[j] - candidate * (u - np.float32(7.5))
                lost += lost_here * lost_here
            if lost < least:
                step = candidate
                least = np.float64(lost)
    loss = 0.0
    norm = 0.0
    for j in range(half):
        pair = np.int64(0)
        for side in range(2):
            x = np.float64(row[j + side * half])
            u = 8.0
            if step > 0:
                u = min(15.0, max(0.0, np.floor(x / np.float64(step)) + 8.0))
            w = np.float64(step) * (u - 7.5)
            loss += (x - w) * (x - w)
            norm += w * w
            pair |= np.int64(u) << (4 * side)
        out[j] = np.uint8(pair)
    return float(step), np.sqrt(norm) * _SLACK, np.sqrt(loss) * _SLACK


@kernel
def encode_query(query: F32, out_codes: I8) -> tuple[float, float, float, int]:
    """Return ``step``, ``per_norm``, ``per_loss`` and ``shift``, and fill the query's codes.

    Whatever the row, its similarity to the query is at most `bound` of its sum. ``step`` is half of
    t, ``shift`` 15 sum d.

    Shapes: query float32[D], finite, its norm below 1e18; out_codes int8[D].

    Cost: O(D).
    """
    width = query.shape[0]
    largest = np.float32(0)
    for j in range(width):
        largest = max(largest, abs(query[j]))
    step = np.float64(largest) / _MOST
    lost = 0.0
    norm = 0.0
    shift = 0
    for j in range(width):
        q = np.float64(query[j])
        code = 0.0
        if step > 0:
            code = min(np.float64(_MOST), max(-np.float64(_MOST), np.rint(q / step)))
        out_codes[j] = np.int8(code)
        shift += 15 * int(code)
        lost += (q - step * code) ** 2
        norm += q * q
    norm = np.sqrt(norm) * _SLACK
    rounding = (width / 32 + 64) * _ROUNDING
    return step / 2, np.sqrt(lost) * _SLACK + rounding * norm, norm * (1 + rounding), shift


@kernel
def bounds(
    sums: I32,
    rows: tuple[F32, F32, F32],
    first: int,
    count: int,
    query: QueryCode,
    out_likely: F32,
    out_most: F32,
    to: int,
) -> None:
    """Set ``out_most[to + i]`` to a bound of the similarity of row first + i, for i < count.

    ``out_likely[i]`` is its estimate. Places are given, not slices: a slice costs 10 ns.

    Shapes: sums int32[>= count] from ``four_sums``; rows: steps, norms, losses float32[N] from
    ``encode_row``; query from ``encode_query``, rounded to float32 (its slack covers that).

    Cost: O(count), in vector code.
    """
    steps, norms, losses = rows
    step, per_norm, per_loss, shift = query
    for p in range(count):
        row = np.uint64(first + p)
        i = np.uint64(p)
        whole = np.float32(np.int32(np.int32(2) * sums[i] - shift))
        likely = (steps[row] * step) * whole
        out_likely[i] = likely
        out_most[np.uint64(to + p)] = likely + (
            norms[row] * per_norm + (losses[row] * per_loss + np.float32(_TINY))
        )

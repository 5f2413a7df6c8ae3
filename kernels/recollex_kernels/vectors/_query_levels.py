"""Estimates from one bit a component of a row and four levels of a query.

Of a turned query q (see `_one_bit`) each component becomes s (1/2 + m) in steps of t: s its sign, m
1 where its size is above t, the root of the mean of its squares, which is nearly the step that
loses least if components are normal. A row's bits are b in {-1, 1}; x tells where b and s differ:
    <b, q>  ~  t (D/2 + sum m - S),   S = the number of x + 2 * the number of x and m
whole numbers except t, which is the same for all rows. What is compared is
    (D + 2 sum m - 2 S) |v|^2 / <b, v>
Three bits of a query take half as much time again, and make the error a ninth less.

The planes of a query are words like a row's: where it is negative no bit of s, and m. Beyond D both
are 0, as a row's bits are.

Code that estimates similarities of rows of bits from the sums S, see `_query_levels`.
Rows of 384 components are summed eight at once in vector code, other widths a word at a time. A
processor with AVX2 alone has no instruction that counts the bits of vectors: there the counts of
half bytes are looked up. All estimates are the same.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

from recollex_kernels.machine.bit_masks import TILE
from recollex_kernels.machine.intrinsics import (
    contiguous,
    data_of,
    lanes,
    load,
    repeated,
    row_of,
    splat,
)
from recollex_kernels.machine.jit import F32, U32, U64, kernel
from recollex_kernels.machine.memory_access import ask_for, prefetch, prefetch_row
from recollex_kernels.vectors.codes import OneBit

TOGETHER = 8
"""Rows whose estimates are computed at once."""
PLANES = 2
"""Words of a query for each word of a row."""
_MIXED = 6  # words of a row of 384: eight such rows are six vectors of eight words
_ROWS_AHEAD = 2048  # words prefetched ahead, half of a first-level cache
_BYTE, _SHORT, _WORD, _LONG = (ir.IntType(bits) for bits in (8, 16, 32, 64))
_FLOAT = ir.FloatType()
_BUILD: Any = _cgutils  # its functions carry no types


class _Rows(NamedTuple):
    """Addresses of the first row's bits and factor and of the planes; the query's total."""

    bits: Any
    factors: Any
    asked: Any
    total: Any


def _longs(value: int) -> Any:
    return splat(_LONG, TOGETHER, value)


def _words(b: Any, base: Any, offset: int, n: int = TOGETHER) -> Any:
    return load(b, base, _LONG(offset), _LONG, n, 8)


def _set_bits(b: Any, words: Any) -> Any:
    """Return how many bits are set, of a word or of each of `TOGETHER`."""
    kind = ir.FunctionType(words.type, [words.type])
    name = "llvm.ctpop." + ("i64" if words.type == _LONG else f"v{TOGETHER}i64")
    return b.call(_BUILD.get_or_insert_function(b.module, kind, name), [words])


def _kept(context: Any) -> int:
    """Return whether caches should keep what is prefetched: 3 to keep it, 0 not to.

    A scan is longer than the second-level cache, so on AMD the stages after it take 5 to 10 % less
    if it evicts nothing. On Intel what is not kept leaves the last cache too: the next scan reads
    it from memory, in 2.3 times the time.
    """
    return 0 if context.codegen().magic_tuple()[1].startswith("znver") else 3


def _counted(b: Any, word: Any, planes: list[Any]) -> tuple[Any, Any]:
    """Return the two counts of S for each word, that of x, and that of x and m."""
    differs = b.xor(word, planes[0])
    return _set_bits(b, differs), _set_bits(b, b.and_(differs, planes[1]))


def _weighed(b: Any, counts: tuple[Any, Any]) -> Any:
    """Return S of two counts."""
    return b.add(counts[0], b.add(counts[1], counts[1]))


def _halved(b: Any, x: Any, y: Any) -> Any:
    """Return the low halves of words: two of x, then two of y in each 128 bits.

    It is the order in which one instruction gives them.
    """
    size = 2 * TOGETHER
    order = [
        lane for low in range(0, size, 4) for lane in (low, low + 2, size + low, size + low + 2)
    ]
    kind = ir.VectorType(_WORD, size)
    return lanes(b, b.bitcast(x, kind), b.bitcast(y, kind), order)


def _added(b: Any, adds: bool, counts: list[tuple[Any, Any]]) -> Any:
    """Return the sums of rows from the counts of their words, at most 192: a byte each.

    Pair j of ``counts`` is of words TOGETHER j to TOGETHER j + 7 of all rows. adds: whether one
    instruction adds eight bytes.
    """
    held = splat(_WORD, 2 * TOGETHER, 0)
    for i in range(_MIXED // 2):  # byte i of a word is of a pair of vectors
        x, y = counts[2 * i : 2 * i + 2]
        sums = _weighed(b, (_halved(b, x[0], y[0]), _halved(b, x[1], y[1])))
        held = b.or_(held, b.shl(sums, splat(_WORD, 2 * TOGETHER, 8 * i)))
    order = []
    for row in range(TOGETHER):  # the bytes of words 6 r to 6 r + 5, then two that are 0
        for word in range(_MIXED * row, _MIXED * (row + 1)):
            vector, lane = divmod(word, TOGETHER)
            order.append(16 * (lane // 2) + 8 * (vector % 2) + 4 * (lane % 2) + vector // 2)
        order += [3, 3]
    held = b.bitcast(held, ir.VectorType(_BYTE, 8 * TOGETHER))
    bytes_ = lanes(b, held, held, order)
    longs = ir.VectorType(_LONG, TOGETHER)
    if adds:
        kind = ir.FunctionType(longs, [bytes_.type, bytes_.type])
        add = _BUILD.get_or_insert_function(b.module, kind, "llvm.x86.avx512.psad.bw.512")
        sums = b.call(add, [bytes_, splat(_BYTE, 8 * TOGETHER, 0)])
        return b.trunc(sums, ir.VectorType(_WORD, TOGETHER))
    even = _longs(0x00FF00FF00FF00FF)
    pairs = b.bitcast(bytes_, longs)
    sums = b.add(b.and_(pairs, even), b.and_(b.lshr(pairs, _longs(8)), even))
    sums = b.add(sums, b.lshr(sums, _longs(32)))
    sums = b.and_(b.add(sums, b.lshr(sums, _longs(16))), _longs(0xFFFF))
    return b.trunc(sums, ir.VectorType(_WORD, TOGETHER))


def _by_counting(b: Any, asked: Any, adds: bool) -> Callable[[Any], Any]:
    """Return what sums a group of rows by the instruction that counts bits."""
    own = [
        [_words(b, asked, TOGETHER * (_MIXED * p + i)) for p in range(PLANES)]
        for i in range(_MIXED // 2)  # then they repeat: 3 * 8 = 4 * 6
    ]

    def summed(group: Any) -> Any:
        counts = [
            _counted(b, _words(b, group, TOGETHER * i), own[i % (_MIXED // 2)])
            for i in range(_MIXED)
        ]
        return _added(b, adds, counts)

    return summed


def _halves(b: Any, words: Any) -> tuple[Any, Any]:
    """Return the low halves of 32 bytes, and the high ones."""
    shifted = b.lshr(b.bitcast(words, ir.VectorType(_SHORT, 16)), splat(_SHORT, 16, 4))
    low, high = (b.bitcast(each, ir.VectorType(_BYTE, 32)) for each in (words, shifted))
    return b.and_(low, splat(_BYTE, 32, 15)), b.and_(high, splat(_BYTE, 32, 15))


def _by_looking_up(b: Any, asked: Any) -> Callable[[Any], Any]:
    """Return what sums a group of rows by AVX2.

    Two rows are three vectors of four words: a a a a, a a b b, b b b b.
    """
    bytes_ = ir.VectorType(_BYTE, 32)
    words = ir.VectorType(_LONG, 4)
    look_up, add_bytes = (
        _BUILD.get_or_insert_function(
            b.module, ir.FunctionType(kind, [bytes_, bytes_]), f"llvm.x86.avx2.{name}"
        )
        for name, kind in (("pshuf.b", bytes_), ("psad.bw", words))
    )
    bits = [half.bit_count() for half in range(16)] * 2  # the table of each half of a vector
    once = ir.Constant(bytes_, bits)
    twice = ir.Constant(bytes_, [2 * count for count in bits])
    own = [
        (_words(b, asked, 4 * i, 4), _halves(b, _words(b, asked, TOGETHER * _MIXED + 4 * i, 4)))
        for i in range(3)
    ]

    def counted(held: Any, signs: Any, large: tuple[Any, Any]) -> Any:
        """Return S of each byte."""
        count = splat(_BYTE, 32, 0)
        for differs, mask in zip(_halves(b, b.xor(held, signs)), large, strict=True):
            count = b.add(count, b.call(look_up, [once, differs]))
            count = b.add(count, b.call(look_up, [twice, b.and_(differs, mask)]))
        return count

    def summed(group: Any) -> Any:
        pairs = []
        for first in range(0, 2 * _MIXED, 3):
            x, both, y = (counted(_words(b, group, 4 * (first + i), 4), *own[i]) for i in range(3))
            outer = lanes(b, x, y, [*range(16), *range(48, 64)])
            inner = lanes(b, x, y, [*range(16, 32), *range(32, 48)])
            of_rows = b.add(both, b.add(outer, inner))  # 72 at most
            pairs.append(b.call(add_bytes, [of_rows, splat(_BYTE, 32, 0)]))
        fours = []  # of rows 0 2 1 3
        for p, q in (pairs[:2], pairs[2:]):
            fours.append(b.add(lanes(b, p, q, [0, 4, 2, 6]), lanes(b, p, q, [1, 5, 3, 7])))
        low, high = (b.bitcast(each, ir.VectorType(_WORD, TOGETHER)) for each in fours)
        return lanes(b, low, high, [0, 4, 2, 6, 8, 12, 10, 14])

    return summed


def _build_mixed(context: Any, b: Any, rows: _Rows, limit: Any, to: Any) -> Any:
    """Add the code for rows of `_MIXED` words; return the word of those above the limit."""
    features = context.codegen().magic_tuple()[2].split(",")
    wide = "+avx512bw" in features
    if "+avx2" in features and not wide:
        summed = _by_looking_up(b, rows.asked)
    else:
        summed = _by_counting(b, rows.asked, wide)
    kept = _kept(context)
    floats = ir.VectorType(_FLOAT, TOGETHER)
    total = repeated(b, rows.total, TOGETHER)
    least = repeated(b, limit, TOGETHER)
    above_at = _BUILD.alloca_once_value(b, _LONG(0))
    with _BUILD.for_range_slice(b, _LONG(0), _LONG(TILE), _LONG(TOGETHER)) as (p, _):
        group = b.gep(rows.bits, [b.mul(p, _LONG(_MIXED))])
        for i in range(_MIXED):  # a cache line each
            ask_for(b, b.gep(group, [_LONG(_ROWS_AHEAD + TOGETHER * i)]), kept)
        factors = load(b, rows.factors, p, _FLOAT, TOGETHER, 4)
        out = b.bitcast(b.gep(to, [p]), floats.as_pointer())
        sums = summed(group)
        estimates = b.fmul(b.sitofp(b.sub(total, b.add(sums, sums)), floats), factors)
        b.store(estimates, out).align = 4
        above = b.bitcast(b.fcmp_ordered(">", estimates, least), ir.IntType(TOGETHER))
        b.store(b.or_(b.load(above_at), b.shl(b.zext(above, _LONG), p)), above_at)
    return b.load(above_at)


def _build_plain(b: Any, rows: _Rows, words: Any, limit: Any, to: Any) -> Any:
    """Add the code for rows of ``words`` words; return the word of those above the limit."""
    apart = b.mul(words, _LONG(TOGETHER))  # between two planes
    sum_at, above_at = (_BUILD.alloca_once_value(b, _LONG(0)) for _ in range(2))
    with _BUILD.for_range(b, _LONG(TILE)) as loop:
        row = b.gep(rows.bits, [b.mul(loop.index, words)])
        b.store(_LONG(0), sum_at)
        with _BUILD.for_range(b, words) as inner:
            at = [b.add(inner.index, b.mul(apart, _LONG(p))) for p in range(PLANES)]
            own = [b.load(b.gep(rows.asked, [each])) for each in at]
            more = _weighed(b, _counted(b, b.load(b.gep(row, [inner.index])), own))
            b.store(b.add(b.load(sum_at), more), sum_at)
        sums = b.trunc(b.load(sum_at), _WORD)
        doubled = b.sitofp(b.sub(rows.total, b.add(sums, sums)), _FLOAT)
        estimate = b.fmul(doubled, b.load(b.gep(rows.factors, [loop.index])))
        b.store(estimate, b.gep(to, [loop.index]))
        above = b.zext(b.fcmp_ordered(">", estimate, limit), _LONG)
        b.store(b.or_(b.load(above_at), b.shl(above, loop.index)), above_at)
    return b.load(above_at)


def _code(
    typing: Any,
    bits: Any,
    factors: Any,
    first: Any,
    query: Any,
    total: Any,
    limit: Any,
    out: Any,
    to: Any,
) -> Any:
    contiguous("bits, factors, planes and estimates", bits, factors, query, out)

    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        base, words = row_of(context, b, signature.args[0], args[0], args[2])
        factors, asked, out = (
            data_of(context, b, signature.args[place], args[place]) for place in (1, 3, 6)
        )
        rows = _Rows(base, b.gep(factors, [args[2]]), asked, args[4])
        to = b.gep(out, [args[7]])
        found_at = _BUILD.alloca_once(b, _LONG)
        with b.if_else(b.icmp_signed("==", words, _LONG(_MIXED))) as (mixed, plain):
            with mixed:
                b.store(_build_mixed(context, b, rows, args[5], to), found_at)
            with plain:
                b.store(_build_plain(b, rows, words, args[5], to), found_at)
        return b.load(found_at)

    kinds = bits, factors, types.int64, query, types.int32, types.float32, out, types.int64
    return types.uint64(*kinds), build


level_estimates = cast(
    Callable[[U64, F32, int, U64, np.int32, np.float32, F32, int], np.uint64], intrinsic(_code)
)
"""Sets ``out[to + p]`` to the estimate of row first + p, ``factors[first + p] * (total - 2 S)``.

For p < `TILE`. Returns a word whose bit p is set where the estimate is above the limit. Called with
rows uint64[N, W], factors float32[N], first, the query's planes uint64[PLANES, TOGETHER * W] and
total, see `_query_levels.encode_levels`, the limit, float32[at least to + TILE], and to.
"""


_AHEAD = 48  # rows prefetched ahead


@kernel
def encode_levels(turned: F32, out_planes: U64) -> int:
    """Fill the planes of a turned query, s and m, and return D + 2 sum m.

    They are repeated as the words of rows are: ``out_planes[p, j]`` is word j mod W of plane p.

    Shapes: turned float32[D]; out_planes uint64[PLANES, TOGETHER * W]. Cost: O(D).
    """
    width = turned.shape[0]
    words = out_planes.shape[1] // TOGETHER
    square = 0.0
    for j in range(width):
        square += np.float64(turned[j]) * np.float64(turned[j])
    out_planes[:, :] = np.uint64(0)
    total = int(width)
    for j in range(width):
        q = np.float64(turned[j])
        large = int(q * q * width > square)
        total += 2 * large
        out_planes[0, j // 64] |= np.uint64(q >= 0) << np.uint64(j % 64)
        out_planes[1, j // 64] |= np.uint64(large) << np.uint64(j % 64)
    for j in range(words, out_planes.shape[1]):
        out_planes[0, j], out_planes[1, j] = out_planes[0, j - words], out_planes[1, j - words]
    return int(total)


@kernel
def scale_of(turned: F32) -> float:
    """Return |q|^2 / <q, s (1 + 2 m)> of a turned query: what is compared, times it, estimates.

    It is 0 for a query of zeros. Cost: O(D).
    """
    width = turned.shape[0]
    square = 0.0
    along = 0.0
    for j in range(width):
        square += np.float64(turned[j]) * np.float64(turned[j])
    for j in range(width):
        q = abs(np.float64(turned[j]))
        along += q * (3.0 if q * q * width > square else 1.0)
    return square / along if along > 0 else 0.0


@kernel
def estimate_tile(
    signs: OneBit,
    chosen: U32,
    first: int,
    low: int,
    size: int,
    planes: U64,
    total: np.int32,
    limit: np.float32,
    out: F32,
    to: int,
    scratch: tuple[U64, F32],
) -> np.uint64:
    """Do what `level_estimates` does for rows that do not lie together, or for fewer of them.

    Callers use `level_estimates` themselves where 64 rows lie together: a call of this kernel
    counts a reference to each array, and a scan of 100,000 rows takes four times as long.

    Row p is chosen[low + p], first + low + p if none are chosen, for p < size, at most `TILE`.
    scratch: uint64[TILE, W], float32[TILE].
    """
    bits, factors = signs
    tile, own = scratch
    for p in range(size):
        if low + p + _AHEAD < chosen.shape[0]:
            ahead = chosen[low + p + _AHEAD]
            prefetch_row(bits, ahead)
            prefetch(factors, int(ahead))
        row = int(chosen[low + p]) if chosen.shape[0] > 0 else first + low + p
        own[p] = factors[row]
        for w in range(bits.shape[1]):
            tile[p, w] = bits[row, w]
    reached = level_estimates(tile, own, 0, planes, total, limit, out, to)
    return reached if size == TILE else reached & ((np.uint64(1) << np.uint64(size)) - np.uint64(1))

"""Code that sums S, see `_query_levels`, over the words of rows of bits.

Rows of 384 components are summed eight at once in vector code, other widths a word at a time. A
processor with AVX2 alone has no instruction that counts the bits of vectors: there the counts of
half bytes are looked up. All sums are the same.
"""

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

from recollex_kernels.machine.arrays import contiguous, data_of, row_of
from recollex_kernels.machine.jit import I32, U64
from recollex_kernels.machine.prefetch import ask_for

TOGETHER = 8
"""Rows whose sums are computed at once."""
PLANES = 2
"""Words of a query for each word of a row."""
_MIXED = 6  # words of a row of 384: eight such rows are six vectors of eight words
_AHEAD = 512  # words prefetched ahead: the hardware stops at the end of a page
_BYTE, _SHORT, _WORD, _LONG = (ir.IntType(bits) for bits in (8, 16, 32, 64))
_BUILD: Any = _cgutils  # its functions carry no types


def _lanes_of(element: Any, n: int) -> Any:
    return ir.VectorType(element, n)


def _splat(value: int, element: Any = _LONG, n: int = TOGETHER) -> Any:
    return ir.Constant(_lanes_of(element, n), [value] * n)


def _set_bits(b: Any, words: Any) -> Any:
    """Return how many bits are set, of a word or of each of `TOGETHER`."""
    kind = ir.FunctionType(words.type, [words.type])
    name = "llvm.ctpop." + ("i64" if words.type == _LONG else f"v{TOGETHER}i64")
    return b.call(_BUILD.get_or_insert_function(b.module, kind, name), [words])


def _chosen(b: Any, x: Any, y: Any, lanes: list[int]) -> Any:
    return b.shuffle_vector(x, y, ir.Constant(_lanes_of(_WORD, len(lanes)), lanes))


def _load(b: Any, base: Any, offset: int, n: int = TOGETHER) -> Any:
    pointer = b.gep(base, [_LONG(offset)])
    loaded = b.load(b.bitcast(pointer, _lanes_of(_LONG, n).as_pointer()))
    loaded.align = 8
    return loaded


def _kept(context: Any) -> int:
    """Return whether caches should keep what is prefetched: 3 to keep it, 0 not to.

    A scan is longer than the second-level cache, so on AMD the stages after it take 5 to 10 % less
    if it evicts nothing. On Intel what is not kept leaves the last cache too: the next scan reads
    it from memory, in 2.3 times the time.
    """
    return 0 if context.codegen().magic_tuple()[1].startswith("znver") else 3


def _counted(b: Any, word: Any, planes: list[Any]) -> Any:
    """Return S of each word."""
    differs = b.xor(word, planes[0])
    large = _set_bits(b, b.and_(differs, planes[1]))
    return b.add(b.add(large, large), _set_bits(b, differs))


def _added(b: Any, counts: list[Any]) -> Any:
    """Return the sums of rows from S of their words, at most 192: a byte each.

    Vector j of ``counts`` is of words TOGETHER j to TOGETHER j + 7 of all rows.
    """
    lanes = counts[0]  # byte i of lane l is S of word 8 i + l
    for i in range(1, _MIXED):
        lanes = b.or_(lanes, b.shl(counts[i], _splat(8 * i)))
    size = 8 * TOGETHER
    order = []
    for row in range(TOGETHER):  # the bytes of words 6 r to 6 r + 5, then two that are 0
        words = range(_MIXED * row, _MIXED * (row + 1))
        order += [*(word % TOGETHER * 8 + word // TOGETHER for word in words), 6, 7]
    held = b.bitcast(lanes, _lanes_of(_BYTE, size))
    bytes_ = b.bitcast(_chosen(b, held, held, order), lanes.type)
    even = _splat(0x00FF00FF00FF00FF)
    sums = b.add(b.and_(bytes_, even), b.and_(b.lshr(bytes_, _splat(8)), even))
    sums = b.add(sums, b.lshr(sums, _splat(32)))
    sums = b.and_(b.add(sums, b.lshr(sums, _splat(16))), _splat(0xFFFF))
    return b.trunc(sums, _lanes_of(_WORD, TOGETHER))


def _by_counting(b: Any, asked: Any) -> Callable[[Any], Any]:
    """Return what sums a group of rows by the instruction that counts bits."""
    own = [
        [_load(b, asked, TOGETHER * (_MIXED * p + i)) for p in range(PLANES)]
        for i in range(_MIXED // 2)  # then they repeat: 3 * 8 = 4 * 6
    ]

    def summed(group: Any) -> Any:
        counts = [
            _counted(b, _load(b, group, TOGETHER * i), own[i % (_MIXED // 2)])
            for i in range(_MIXED)
        ]
        return _added(b, counts)

    return summed


def _halves(b: Any, words: Any) -> tuple[Any, Any]:
    """Return the low halves of 32 bytes, and the high ones."""
    shifted = b.lshr(b.bitcast(words, _lanes_of(_SHORT, 16)), _splat(4, _SHORT, 16))
    low, high = (b.bitcast(each, _lanes_of(_BYTE, 32)) for each in (words, shifted))
    return b.and_(low, _splat(15, _BYTE, 32)), b.and_(high, _splat(15, _BYTE, 32))


def _by_looking_up(b: Any, asked: Any) -> Callable[[Any], Any]:
    """Return what sums a group of rows by AVX2.

    Two rows are three vectors of four words: a a a a, a a b b, b b b b.
    """
    bytes_, words = _lanes_of(_BYTE, 32), _lanes_of(_LONG, 4)
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
        (_load(b, asked, 4 * i, 4), _halves(b, _load(b, asked, TOGETHER * _MIXED + 4 * i, 4)))
        for i in range(3)
    ]

    def counted(held: Any, signs: Any, large: tuple[Any, Any]) -> Any:
        """Return S of each byte."""
        count = _splat(0, _BYTE, 32)
        for differs, mask in zip(_halves(b, b.xor(held, signs)), large, strict=True):
            count = b.add(count, b.call(look_up, [once, differs]))
            count = b.add(count, b.call(look_up, [twice, b.and_(differs, mask)]))
        return count

    def summed(group: Any) -> Any:
        pairs = []
        for first in range(0, 2 * _MIXED, 3):
            x, both, y = (counted(_load(b, group, 4 * (first + i), 4), *own[i]) for i in range(3))
            outer = _chosen(b, x, y, [*range(16), *range(48, 64)])
            inner = _chosen(b, x, y, [*range(16, 32), *range(32, 48)])
            of_rows = b.add(both, b.add(outer, inner))  # 72 at most
            pairs.append(b.call(add_bytes, [of_rows, _splat(0, _BYTE, 32)]))
        fours = []  # of rows 0 2 1 3
        for p, q in (pairs[:2], pairs[2:]):
            fours.append(b.add(_chosen(b, p, q, [0, 4, 2, 6]), _chosen(b, p, q, [1, 5, 3, 7])))
        low, high = (b.bitcast(each, _lanes_of(_WORD, TOGETHER)) for each in fours)
        return _chosen(b, low, high, [0, 4, 2, 6, 8, 12, 10, 14])

    return summed


def _build_mixed(context: Any, b: Any, base: Any, groups: Any, asked: Any, to: Any) -> None:
    features = context.codegen().magic_tuple()[2].split(",")
    looks_up = "+avx2" in features and "+avx512bw" not in features
    summed = (_by_looking_up if looks_up else _by_counting)(b, asked)
    kept = _kept(context)
    with _BUILD.for_range(b, groups) as loop:
        group = b.gep(base, [b.mul(loop.index, _LONG(TOGETHER * _MIXED))])
        for i in range(_MIXED):  # a cache line each
            ask_for(b, b.gep(group, [_LONG(_AHEAD + TOGETHER * i)]), kept)
        place = b.gep(to, [b.mul(loop.index, _LONG(TOGETHER))])
        place = b.bitcast(place, _lanes_of(_WORD, TOGETHER).as_pointer())
        b.store(summed(group), place).align = 4


def _build_plain(b: Any, base: Any, groups: Any, words: Any, asked: Any, to: Any) -> None:
    apart = b.mul(words, _LONG(TOGETHER))  # between two planes
    total_at = _BUILD.alloca_once_value(b, _LONG(0))
    with _BUILD.for_range(b, b.mul(groups, _LONG(TOGETHER))) as loop:
        row = b.gep(base, [b.mul(loop.index, words)])
        b.store(_LONG(0), total_at)
        with _BUILD.for_range(b, words) as inner:
            at = [b.add(inner.index, b.mul(apart, _LONG(p))) for p in range(PLANES)]
            own = [b.load(b.gep(asked, [each])) for each in at]
            more = _counted(b, b.load(b.gep(row, [inner.index])), own)
            b.store(b.add(b.load(total_at), more), total_at)
        b.store(b.trunc(b.load(total_at), _WORD), b.gep(to, [loop.index]))


def _code(typing: Any, bits: Any, first: Any, groups: Any, query: Any, out: Any) -> Any:
    contiguous("bits, planes and sums", bits, query, out)

    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        base, words = row_of(context, b, signature.args[0], args[0], args[1])
        asked = data_of(context, b, signature.args[3], args[3])
        to = data_of(context, b, signature.args[4], args[4])
        with b.if_else(b.icmp_signed("==", words, _LONG(_MIXED))) as (mixed, plain):
            with mixed:
                _build_mixed(context, b, base, args[2], asked, to)
            with plain:
                _build_plain(b, base, args[2], words, asked, to)
        return context.get_dummy_value()

    return types.void(bits, types.int64, types.int64, query, out), build


level_sums = cast(Callable[[U64, int, int, U64, I32], None], intrinsic(_code))
"""Writes S of ``groups`` times `TOGETHER` rows, from ``first`` on, to the front of ``out``.

Called with rows uint64[N, W], first, groups, the query's planes uint64[PLANES, TOGETHER * W], see
`_query_levels.encode_levels`, and int32[groups * TOGETHER].
"""

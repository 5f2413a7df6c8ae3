"""Code that sums S, see `_query_levels`, over the words of rows of bits.

Rows of 384 components are summed eight at once in vector code, other widths a word at a time; the
sums are the same.
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
_MIXED = (
    6  # words of a row that is summed in vector code: eight rows are six vectors of eight words
)
_AHEAD = 512  # words prefetched ahead: the hardware stops at the end of a page
_WORD, _LONG = ir.IntType(32), ir.IntType(64)
_BUILD: Any = _cgutils  # its functions carry no types


def _lanes_of(element: Any, n: int) -> Any:
    return ir.VectorType(element, n)


def _splat(value: int) -> Any:
    return ir.Constant(_lanes_of(_LONG, TOGETHER), [value] * TOGETHER)


def _set_bits(b: Any, words: Any) -> Any:
    """Return how many bits are set, of a word or of each of `TOGETHER`."""
    kind = ir.FunctionType(words.type, [words.type])
    name = "llvm.ctpop." + ("i64" if words.type == _LONG else f"v{TOGETHER}i64")
    return b.call(_BUILD.get_or_insert_function(b.module, kind, name), [words])


def _load(b: Any, base: Any, offset: int) -> Any:
    pointer = b.gep(base, [_LONG(offset)])
    loaded = b.load(b.bitcast(pointer, _lanes_of(_LONG, TOGETHER).as_pointer()))
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


def _summed(b: Any, counts: list[Any]) -> Any:
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
    held = b.bitcast(lanes, _lanes_of(ir.IntType(8), size))
    of_rows = b.shuffle_vector(held, held, ir.Constant(_lanes_of(_WORD, size), order))
    bytes_ = b.bitcast(of_rows, lanes.type)
    even = _splat(0x00FF00FF00FF00FF)
    sums = b.add(b.and_(bytes_, even), b.and_(b.lshr(bytes_, _splat(8)), even))
    sums = b.add(sums, b.lshr(sums, _splat(32)))
    sums = b.and_(b.add(sums, b.lshr(sums, _splat(16))), _splat(0xFFFF))
    return b.trunc(sums, _lanes_of(_WORD, TOGETHER))


def _build_mixed(b: Any, base: Any, groups: Any, asked: Any, to: Any, kept: int) -> None:
    own = [
        [_load(b, asked, TOGETHER * (_MIXED * p + i)) for p in range(PLANES)]
        for i in range(_MIXED // 2)  # then they repeat: 3 * 8 = 4 * 6
    ]
    with _BUILD.for_range(b, groups) as loop:
        group = b.gep(base, [b.mul(loop.index, _LONG(TOGETHER * _MIXED))])
        for i in range(_MIXED):  # a cache line each
            ask_for(b, b.gep(group, [_LONG(_AHEAD + TOGETHER * i)]), kept)
        counts = [
            _counted(b, _load(b, group, TOGETHER * i), own[i % (_MIXED // 2)])
            for i in range(_MIXED)
        ]
        place = b.gep(to, [b.mul(loop.index, _LONG(TOGETHER))])
        place = b.bitcast(place, _lanes_of(_WORD, TOGETHER).as_pointer())
        b.store(_summed(b, counts), place).align = 4


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
                _build_mixed(b, base, args[2], asked, to, _kept(context))
            with plain:
                _build_plain(b, base, args[2], words, asked, to)
        return context.get_dummy_value()

    return types.void(bits, types.int64, types.int64, query, out), build


level_sums = cast(Callable[[U64, int, int, U64, I32], None], intrinsic(_code))
"""Writes S of ``groups`` times `TOGETHER` rows, from ``first`` on, to the front of ``out``.

Called with rows uint64[N, W], first, groups, the query's planes uint64[PLANES, TOGETHER * W], see
`_query_levels.encode_levels`, and int32[groups * TOGETHER].
"""

"""Code that sums a count over the words of rows of bits, for a query that is planes of words.

The caller says what is counted in a word: see `_query_levels`. Rows of 384 components are summed
eight at once in vector code, other widths a word at a time; the sums are the same.
"""

from collections.abc import Callable
from typing import Any, TypeAlias, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

from recollex_kernels.machine.arrays import contiguous, data_of, row_of
from recollex_kernels.machine.jit import I32, U64
from recollex_kernels.machine.prefetch import ask_for

RowSums: TypeAlias = Callable[[U64, int, int, U64, I32], None]
"""Called with rows uint64[N, W], the first row, groups of `TOGETHER`, the query's planes
uint64[planes, TOGETHER * W] and int32[groups * TOGETHER], which is filled."""
TOGETHER = 8
"""Rows whose sums are computed at once."""
MIXED = 6
"""Words of a row that is summed in vector code: `TOGETHER` rows are six vectors of eight words."""
WORD, LONG = ir.IntType(32), ir.IntType(64)
_BUILD: Any = _cgutils  # its functions carry no types


def lanes_of(element: Any, n: int) -> Any:
    """Return the type of a vector."""
    return ir.VectorType(element, n)


def set_bits(b: Any, words: Any) -> Any:
    """Return how many bits are set, of a word or of each of `TOGETHER`."""
    kind = ir.FunctionType(words.type, [words.type])
    name = "llvm.ctpop." + ("i64" if words.type == LONG else f"v{TOGETHER}i64")
    return b.call(_BUILD.get_or_insert_function(b.module, kind, name), [words])


def _load(b: Any, base: Any, offset: int) -> Any:
    pointer = b.gep(base, [LONG(offset)])
    loaded = b.load(b.bitcast(pointer, lanes_of(LONG, TOGETHER).as_pointer()))
    loaded.align = 8
    return loaded


def _kept(context: Any) -> int:
    """Return whether caches should keep what is prefetched: 3 to keep it, 0 not to.

    A scan is longer than the second-level cache, so on AMD the stages after it take 5 to 10 % less
    if it evicts nothing. On Intel what is not kept leaves the last cache too: the next scan reads
    it from memory, in 2.3 times the time.
    """
    return 0 if context.codegen().magic_tuple()[1].startswith("znver") else 3


def row_sums(
    planes: int,
    counted: Callable[[Any, Any, list[Any]], Any],
    summed: Callable[[Any, list[Any]], Any],
    ahead: int,
) -> RowSums:
    """Return the intrinsic that writes the sum of what is counted in the words of each row.

    counted(b, words, query): the count of a word, or of each of `TOGETHER`, by ``planes``.
    summed(b, counts): int32 of each row from `MIXED` vectors of what was counted, where vector j
    holds words TOGETHER j to TOGETHER j + 7 of all rows. ahead: how many words ahead
    to prefetch.
    """

    def code(typing: Any, bits: Any, first: Any, groups: Any, query: Any, out: Any) -> Any:
        contiguous("bits, planes and sums", bits, query, out)

        def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
            base, words = row_of(context, b, signature.args[0], args[0], args[1])
            asked = data_of(context, b, signature.args[3], args[3])
            to = data_of(context, b, signature.args[4], args[4])
            with b.if_else(b.icmp_signed("==", words, LONG(MIXED))) as (mixed, plain):
                with mixed:
                    _build_mixed(b, base, args[2], asked, to, _kept(context))
                with plain:
                    _build_plain(b, base, args[2], words, asked, to)
            return context.get_dummy_value()

        return types.void(bits, types.int64, types.int64, query, out), build

    def _build_mixed(b: Any, base: Any, groups: Any, asked: Any, to: Any, kept: int) -> None:
        own = [
            [_load(b, asked, TOGETHER * (MIXED * p + i)) for p in range(planes)]
            for i in range(MIXED // 2)  # then they repeat: 3 * 8 = 4 * 6
        ]
        with _BUILD.for_range(b, groups) as loop:
            group = b.gep(base, [b.mul(loop.index, LONG(TOGETHER * MIXED))])
            for i in range(MIXED):  # a cache line each
                ask_for(b, b.gep(group, [LONG(ahead + TOGETHER * i)]), kept)
            counts = [
                counted(b, _load(b, group, TOGETHER * i), own[i % (MIXED // 2)])
                for i in range(MIXED)
            ]
            place = b.gep(to, [b.mul(loop.index, LONG(TOGETHER))])
            place = b.bitcast(place, lanes_of(WORD, TOGETHER).as_pointer())
            b.store(summed(b, counts), place).align = 4

    def _build_plain(b: Any, base: Any, groups: Any, words: Any, asked: Any, to: Any) -> None:
        apart = b.mul(words, LONG(TOGETHER))  # between two planes
        total_at = _BUILD.alloca_once_value(b, LONG(0))
        with _BUILD.for_range(b, b.mul(groups, LONG(TOGETHER))) as loop:
            row = b.gep(base, [b.mul(loop.index, words)])
            b.store(LONG(0), total_at)
            with _BUILD.for_range(b, words) as inner:
                at = [b.add(inner.index, b.mul(apart, LONG(p))) for p in range(planes)]
                own = [b.load(b.gep(asked, [each])) for each in at]
                more = counted(b, b.load(b.gep(row, [inner.index])), own)
                b.store(b.add(b.load(total_at), more), total_at)
            b.store(b.trunc(b.load(total_at), WORD), b.gep(to, [loop.index]))

    return cast(RowSums, intrinsic(code))

"""Words of bits, and a set of memories as bits, listed in order.

A set of memories as bits, which can be listed in order, each with its place.
A set is two arrays: a bit a number, and above it a bit for each word of 64 that has any, so that
listing a few of a million numbers looks at few words.
"""

from collections.abc import Callable
from typing import Any, TypeAlias, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

from recollex_kernels.machine.intrinsics import contiguous, data_of, load, splat
from recollex_kernels.machine.jit import U8, U32, U64, kernel

_BUILD: Any = _cgutils  # its functions carry no types
_BYTE = ir.IntType(8)
_LONG = ir.IntType(64)
_BIT = ir.IntType(1)
TILE = 64
"""Marks that are looked at together."""


def _marked_code(typing: Any, marks: Any, first: Any) -> Any:
    contiguous("marks", marks)

    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        data = data_of(context, b, signature.args[0], args[0])
        loaded = load(b, data, args[1], _BYTE, TILE, 1)
        return b.bitcast(b.icmp_unsigned("!=", loaded, splat(_BYTE, TILE, 0)), _LONG)

    return types.uint64(marks, types.int64), build


def _count_code(typing: Any, word: Any) -> Any:
    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(_LONG, [_LONG])
        return b.call(_BUILD.get_or_insert_function(b.module, kind, "llvm.ctpop.i64"), args)

    return types.int64(types.uint64), build


def _lowest_code(typing: Any, word: Any) -> Any:
    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(_LONG, [_LONG, _BIT])
        count = _BUILD.get_or_insert_function(b.module, kind, "llvm.cttz.i64")
        return b.call(count, [args[0], _BIT(0)])

    return types.int64(types.uint64), build


lowest = cast(Callable[[np.uint64], int], intrinsic(_lowest_code))
"""Returns the place of a word's lowest set bit, 64 where none is."""

marked = cast(Callable[[U8, int], np.uint64], intrinsic(_marked_code))
"""Returns a word whose bit p is set where marks[first + p] is not 0, for p < `TILE`."""

count_bits = cast(Callable[[np.uint64], int], intrinsic(_count_code))
"""Returns how many bits of a word are set."""


Bits: TypeAlias = tuple[U64, U64]

_ONE = np.uint64(1)
_SIX = np.uint64(6)
_LOW_SIX = np.uint64(63)


@kernel
def bitmap(limit: int) -> Bits:
    """Return an empty set of numbers in [0, limit). Cost: O(limit / 64), to write zeros."""
    words = (limit >> 6) + 1
    return np.zeros(words, np.uint64), np.zeros((words >> 6) + 1, np.uint64)


@kernel
def mark(bits: Bits, number: int) -> None:
    """Put ``number`` into the set."""
    n = np.uint64(number)
    word = n >> _SIX
    bits[0][word] |= _ONE << (n & _LOW_SIX)
    bits[1][word >> _SIX] |= _ONE << (word & _LOW_SIX)


@kernel
def listed(bits: Bits) -> tuple[U32, U32]:
    """Return the numbers of the set, ascending, and how many stand before each word that has any.

    Cost: O(limit / 4096 + numbers).
    """
    words, groups = bits
    before = np.empty(words.shape[0], np.uint32)
    count = 0
    for g in range(groups.shape[0]):
        group = groups[g]
        while group != 0:
            w = np.uint64((g << 6) + lowest(group))
            group &= group - _ONE
            before[w] = count
            count += count_bits(words[w])
    numbers = np.empty(count, np.uint32)
    n = np.uint64(0)
    for g in range(groups.shape[0]):
        group = groups[g]
        while group != 0:
            w = np.uint64((g << 6) + lowest(group))
            group &= group - _ONE
            word = words[w]
            first = np.uint32(w << _SIX)
            while word != 0:
                numbers[n] = first + np.uint32(lowest(word))
                word &= word - _ONE
                n += _ONE
    return numbers, before


@kernel
def place_of(bits: Bits, before: U32, number: int) -> int:
    """Return where ``number``, which is in the set, stands in its list."""
    n = np.uint64(number)
    word = n >> _SIX
    below = (_ONE << (n & _LOW_SIX)) - _ONE
    return int(before[word]) + count_bits(bits[0][word] & below)

"""Which of 64 marks are set? A word of bits."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

from recollex_kernels.machine.arrays import contiguous, data_of
from recollex_kernels.machine.jit import U8
from recollex_kernels.machine.vector_code import load, splat

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

"""Which of 64 scores are above a limit, which of 64 marks are set? A word of bits for each."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

from recollex_kernels.machine.arrays import contiguous, data_of
from recollex_kernels.machine.jit import F32, U8

_BUILD: Any = _cgutils  # its functions carry no types
_FLOAT, _LONG, _BIT = ir.FloatType(), ir.IntType(64), ir.IntType(1)
TILE = 64
"""Scores that are compared together."""


def _above_code(typing: Any, scores: Any, first: Any, limit: Any) -> Any:
    contiguous("scores", scores)

    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        data = data_of(context, b, signature.args[0], args[0])
        kind = ir.VectorType(_FLOAT, TILE)
        loaded = b.load(b.bitcast(b.gep(data, [args[1]]), kind.as_pointer()))
        loaded.align = 4
        one = b.insert_element(ir.Constant(kind, ir.Undefined), args[2], ir.IntType(32)(0))
        same = ir.Constant(ir.VectorType(ir.IntType(32), TILE), [0] * TILE)
        limits = b.shuffle_vector(one, one, same)
        return b.bitcast(b.fcmp_ordered(">", loaded, limits), _LONG)

    return types.uint64(scores, types.int64, types.float32), build


def _marked_code(typing: Any, marks: Any, first: Any) -> Any:
    contiguous("marks", marks)

    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        data = data_of(context, b, signature.args[0], args[0])
        kind = ir.VectorType(ir.IntType(8), TILE)
        loaded = b.load(b.bitcast(b.gep(data, [args[1]]), kind.as_pointer()))
        loaded.align = 1
        return b.bitcast(b.icmp_unsigned("!=", loaded, ir.Constant(kind, [0] * TILE)), _LONG)

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


above = cast(Callable[[F32, int, np.float32], np.uint64], intrinsic(_above_code))
"""Returns a word whose bit p is set where scores[first + p] > limit, for p < `TILE`."""

lowest = cast(Callable[[np.uint64], int], intrinsic(_lowest_code))
"""Returns the place of a word's lowest set bit, 64 where none is."""

marked = cast(Callable[[U8, int], np.uint64], intrinsic(_marked_code))
"""Returns a word whose bit p is set where marks[first + p] is not 0, for p < `TILE`."""

count_bits = cast(Callable[[np.uint64], int], intrinsic(_count_code))
"""Returns how many bits of a word are set."""

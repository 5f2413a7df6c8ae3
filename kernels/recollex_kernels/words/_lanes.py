"""Which of 64 neighbours reach a limit? As the bits of one number, by LLVM vector compares."""

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from recollex_kernels.machine.arrays import data_of
from recollex_kernels.machine.jit import U8, U16, U32
from recollex_kernels.machine.vector_code import load, repeated

LANES = 64
_I64 = ir.IntType(64)


def _reaching_code(typing: Any, array: Any, place: Any, limit: Any) -> Any:
    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        data = data_of(context, b, signature.args[0], args[0])
        held = load(b, data, args[1], data.type.pointee, LANES, array.dtype.bitwidth // 8)
        return b.bitcast(b.icmp_unsigned(">=", held, repeated(b, args[2], LANES)), _I64)

    return types.uint64(array, types.int64, array.dtype), build


reaching = cast(Callable[[U8 | U16 | U32, Any, Any], Any], intrinsic(_reaching_code))
"""Bit i tells whether ``array[place + i] >= limit``; there must be 64 from ``place`` on."""

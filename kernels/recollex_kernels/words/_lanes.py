"""Which of 64 neighbours reach a limit? As the bits of one number, by LLVM vector compares."""

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from recollex_kernels.machine.arrays import data_of
from recollex_kernels.machine.jit import U8, U16, U32

LANES = 64
_I64 = ir.IntType(64)


def _reaching_code(typing: Any, array: Any, place: Any, limit: Any) -> Any:
    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        data = data_of(context, b, signature.args[0], args[0])
        vector = ir.VectorType(data.type.pointee, LANES)
        held = b.load(b.bitcast(b.gep(data, [args[1]]), vector.as_pointer()))
        held.align = array.dtype.bitwidth // 8
        one = b.insert_element(ir.Constant(vector, ir.Undefined), args[2], ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        all_of_it = b.shuffle_vector(one, ir.Constant(vector, ir.Undefined), zeros)
        return b.bitcast(b.icmp_unsigned(">=", held, all_of_it), _I64)

    return types.uint64(array, types.int64, array.dtype), build


reaching = cast(Callable[[U8 | U16 | U32, Any, Any], Any], intrinsic(_reaching_code))
"""Bit i tells whether ``array[place + i] >= limit``; there must be 64 from ``place`` on."""

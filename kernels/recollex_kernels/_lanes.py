"""Which of 64 neighbours reach a limit? As the bits of one number, by LLVM vector compares."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from recollex_kernels._jit import U16

LANES = 64
_I64 = ir.IntType(64)


def _reaching_code(typing: Any, array: Any, place: Any, limit: Any) -> Any:
    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, b, args[0]).data
        vector = ir.VectorType(ir.IntType(16), LANES)
        held = b.load(b.bitcast(b.gep(data, [args[1]]), vector.as_pointer()))
        held.align = 2
        one = b.insert_element(ir.Constant(vector, ir.Undefined), args[2], ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        all_of_it = b.shuffle_vector(one, ir.Constant(vector, ir.Undefined), zeros)
        return b.bitcast(b.icmp_unsigned(">=", held, all_of_it), _I64)

    return types.uint64(array, types.int64, types.uint16), build


reaching = cast(Callable[[U16, Any, np.uint16], Any], intrinsic(_reaching_code))
"""Bit i tells whether ``array[place + i] >= limit``; there must be 64 from ``place`` on."""

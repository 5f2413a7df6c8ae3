"""The Walsh-Hadamard transform of 2^k floats, in place, as LLVM vector code.

It has k steps. A step of a span takes the sums and the differences of values that are so far apart;
the spans are 2^(k-1), ..., 2, 1. Each sum and difference is rounded to float32, so every processor
gives the same bits.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

from recollex_kernels.machine.arrays import contiguous, data_of
from recollex_kernels.machine.jit import F32, kernel
from recollex_kernels.machine.vector_code import lanes, load, repeated

_BUILD: Any = _cgutils  # its functions carry no types
_LONG = ir.IntType(64)
_FLOAT = ir.FloatType()
_LANES = 8
_VECTOR = ir.VectorType(_FLOAT, _LANES)


def _at(b: Any, data: Any, place: Any) -> Any:
    return b.bitcast(b.gep(data, [place]), _VECTOR.as_pointer())


def _apart_code(typing: Any, values: Any, first: Any, size: Any, span: Any) -> Any:
    contiguous("values", values)

    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        data = b.gep(data_of(context, b, signature.args[0], args[0]), [args[1]])
        size, span = args[2:]
        within = b.sub(span, _LONG(1))
        half = b.lshr(size, _LONG(1))
        with _BUILD.for_range_slice(b, _LONG(0), half, _LONG(_LANES)) as (pair, _):
            low = b.sub(b.add(pair, pair), b.and_(pair, within))
            high = b.add(low, span)
            x, y = (load(b, data, place, _FLOAT, _LANES, 4) for place in (low, high))
            b.store(b.fadd(x, y), _at(b, data, low)).align = 4
            b.store(b.fsub(x, y), _at(b, data, high)).align = 4
        return context.get_dummy_value()

    return types.void(values, types.int64, types.int64, types.int64), build


def _near_code(typing: Any, values: Any, first: Any, size: Any, scale: Any) -> Any:
    contiguous("values", values)

    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        data = b.gep(data_of(context, b, signature.args[0], args[0]), [args[1]])
        scale = repeated(b, args[3], _LANES)
        with _BUILD.for_range_slice(b, _LONG(0), args[2], _LONG(_LANES)) as (place, _):
            x = load(b, data, place, _FLOAT, _LANES, 4)
            span = _LANES // 2
            while span:
                other = lanes(b, x, x, [lane ^ span for lane in range(_LANES)])
                sums = b.fadd(x, other)
                differences = b.fsub(other, x)
                chosen = [lane + _LANES * bool(lane & span) for lane in range(_LANES)]
                x = lanes(b, sums, differences, chosen)
                span //= 2
            b.store(b.fmul(x, scale), _at(b, data, place)).align = 4
        return context.get_dummy_value()

    return types.void(values, types.int64, types.int64, types.float32), build


_step_apart = cast(Callable[[F32, int, int, int], None], intrinsic(_apart_code))
"""Takes the step of a span of 8 or more, of ``size`` values from ``first`` on."""

_steps_near = cast(Callable[[F32, int, int, np.float32], None], intrinsic(_near_code))
"""Takes the steps of spans 4, 2 and 1, and multiplies the values by a scale."""


@kernel
def transform(values: F32, first: int, size: int, scale: np.float32) -> None:
    """Transform ``size`` values from ``first`` on, and multiply them by a scale.

    size: a power of two, 8 or more. Cost: O(size log size).
    """
    span = size // 2
    while span >= 8:
        _step_apart(values, first, size, span)
        span //= 2
    _steps_near(values, first, size, scale)

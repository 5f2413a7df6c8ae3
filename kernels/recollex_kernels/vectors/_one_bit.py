"""What one bit a component says about a similarity: 48 bytes of a row of 384.

A row is turned (`turn`), and the sign of each component kept: b in {-1, 1}. The turn is orthogonal
and mixes all components, so the signs carry about as much of every component of any vector.
With v and q turned, the estimate (Gao and Long, RaBitQ, SIGMOD 2024, section 3.2) is
    <v, q>  ~  <b, q> |v|^2 / <b, v>
whose error does not depend on the direction of v; for vectors of length 1 and D = 384 its standard
deviation is 0.038. Of q whole numbers are used, see `_query_levels`, which makes it 0.045.

A row of width D is W = ceil(D / 64) words of 64 bits: bit j of word i is set where component
64 i + j is not negative.

The Walsh-Hadamard transform of 2^k floats, in place, as LLVM vector code.
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

from recollex_kernels.machine.intrinsics import contiguous, data_of, lanes, load, repeated
from recollex_kernels.machine.jit import F32, U64, kernel

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


_ROUNDS = 4


@kernel
def turn(row: F32, out: F32) -> None:
    """Fill ``out`` with the row, turned: the same for every row of a width, on every processor.

    Rounds of flipping signs and a Walsh-Hadamard transform, alternately of the first and the last P
    components, P the greatest power of two up to D.

    Shapes: row, out float32[D]. Cost: O(D log D), 0.6 us for 384.
    """
    width = row.shape[0]
    size = 1
    while 2 * size <= width:
        size *= 2
    scale = np.float32(1 / np.sqrt(np.float64(size)))
    out[:] = row
    bits = out.view(np.uint32)
    state = np.uint64(0x9E3779B97F4A7C15)
    for turned in range(_ROUNDS):
        for low in range(0, width, 64):  # splitmix64
            state += np.uint64(0x9E3779B97F4A7C15)
            word = state
            word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            word = word ^ (word >> np.uint64(31))
            for j in range(min(64, width - low)):
                sign = (word >> np.uint64(j)) & np.uint64(1)
                bits[np.uint64(low + j)] ^= np.uint32(sign) << np.uint32(31)
        transform(out, 0 if turned % 2 == 0 else width - size, size, scale)


@kernel
def encode_bits(turned: F32, out: U64) -> float:
    """Fill the words of a turned row, and return its factor |v|^2 / <b, v>, 0 for a row of zeros.

    Shapes: turned float32[D], out uint64[W]. Cost: O(D).
    """
    square = 0.0
    along = 0.0
    for i in range(out.shape[0]):
        word = np.uint64(0)
        for j in range(64 * i, min(64 * i + 64, turned.shape[0])):
            v = np.float64(turned[j])
            square += v * v
            along += abs(v)
            if v >= 0:
                word |= np.uint64(1) << np.uint64(j - 64 * i)
        out[i] = word
    return square / along if along > 0 else 0.0

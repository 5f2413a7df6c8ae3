"""The one definition of similarity, and the decoding of float16, as LLVM vector code.

Vectors are float16, given as their bit patterns (``vectors.view(np.uint16)``), C-contiguous, of a
width D that is a multiple of 8.

The similarity of a row v and a query q, everywhere in this package, is the float32 sum
    tree(a) + tree(b),   a[l] = sum over whole blocks of 32:  v[32 i + l] * q[32 i + l]
                         b[l] = sum over blocks of 8 after those, lane by lane
where each product and each sum is rounded to float32, blocks in order, and ``tree`` adds the upper
half of the lanes to the lower half until one is left. No fused multiply-add, so every processor
and every way of computing it gives the same bits.

Kernels inline this code. Numba's cache would not notice a change in it; the name of the cache
folder does (see `machine.jit`).
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

from recollex_kernels.machine.intrinsics import contiguous, data_of, load, row_of, splat, tree
from recollex_kernels.machine.jit import F32, U16

_BUILD: Any = _cgutils  # its functions carry no types
_I32 = ir.IntType(32)
_I64 = ir.IntType(64)
_FLOAT = ir.FloatType()


def _decode(context: Any, b: Any, bits: Any, n: int) -> Any:
    """Return ``n`` float16 bit patterns as float32, exactly, infinities and subnormals too."""
    if "+f16c" in context.codegen().magic_tuple()[2].split(","):
        half = b.bitcast(bits, ir.VectorType(ir.HalfType(), n))
        return b.fpext(half, ir.VectorType(_FLOAT, n))
    wide = b.zext(bits, ir.VectorType(_I32, n))
    size = b.shl(b.and_(wide, splat(_I32, n, 0x7FFF)), splat(_I32, n, 13))
    sign = b.shl(b.and_(wide, splat(_I32, n, 0x8000)), splat(_I32, n, 16))
    # float32's exponent bias is 112 more than float16's
    scaled = b.fmul(b.bitcast(size, ir.VectorType(_FLOAT, n)), splat(_FLOAT, n, 2.0**112))
    special = b.icmp_unsigned(">=", size, splat(_I32, n, 0x7C00 << 13))  # infinity, NaN
    size = b.select(
        special,
        b.or_(size, splat(_I32, n, 0x7F800000)),
        b.bitcast(scaled, ir.VectorType(_I32, n)),
    )
    return b.bitcast(b.or_(size, sign), ir.VectorType(_FLOAT, n))


def _similarity_code(typing: Any, vectors: Any, row: Any, query: Any) -> Any:
    contiguous("vectors and queries", vectors, query)

    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        v, width = row_of(context, b, signature.args[0], args[0], args[1])
        q = data_of(context, b, signature.args[2], args[2])
        whole = b.and_(width, _I64(-32))
        sums = []
        for n, first, end in ((32, _I64(0), whole), (8, whole, width)):
            sum_at = _BUILD.alloca_once_value(b, splat(_FLOAT, n, 0.0))
            with _BUILD.for_range_slice(b, first, end, _I64(n)) as (j, _):
                decoded = _decode(context, b, load(b, v, j, ir.IntType(16), n, 2), n)
                product = b.fmul(decoded, load(b, q, j, _FLOAT, n, 4))
                b.store(b.fadd(b.load(sum_at), product), sum_at)
            sums.append(tree(b, b.load(sum_at), n))
        return b.fadd(sums[0], sums[1])

    return types.float32(vectors, types.int64, query), build


def _decode_row_code(typing: Any, vectors: Any, row: Any, out: Any) -> Any:
    contiguous("vectors and rows", vectors, out)

    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        v, width = row_of(context, b, signature.args[0], args[0], args[1])
        to = data_of(context, b, signature.args[2], args[2])
        with _BUILD.for_range_slice(b, _I64(0), width, _I64(8)) as (j, _):
            decoded = _decode(context, b, load(b, v, j, ir.IntType(16), 8, 2), 8)
            at = b.bitcast(b.gep(to, [j]), ir.VectorType(_FLOAT, 8).as_pointer())
            b.store(decoded, at).align = 4
        return context.get_dummy_value()

    return types.void(vectors, types.int64, out), build


similarity = cast(Callable[[U16, int | np.uint32, F32], np.float32], intrinsic(_similarity_code))
decode_row = cast(Callable[[U16, int, F32], None], intrinsic(_decode_row_code))

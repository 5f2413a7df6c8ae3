"""Sixteen similarities at once: of each of four rows and each of four others.

Each is to the bit that of `similarity`: the same products and sums in the same order. It saves
reading: a row is read once for four pairs.
"""

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

from recollex_kernels.machine.arrays import contiguous, row_of
from recollex_kernels.machine.jit import F32
from recollex_kernels.machine.vector_code import load, splat, tree

_BUILD: Any = _cgutils  # its functions carry no types
_I64 = ir.IntType(64)
_FLOAT = ir.FloatType()
SIDE = 4
"""Rows on either side."""


def _summed(b: Any, left: Any, right: Any, n: int, span: tuple[Any, Any, int, int]) -> list[Any]:
    """Return the sums of products of ``n`` lanes, of each pair: 16 vectors.

    span: from where to where, by how many components, and how far into each block.
    """
    first, end, step, shift = span
    sums = [_BUILD.alloca_once_value(b, splat(_FLOAT, n, 0.0)) for _ in range(SIDE * SIDE)]
    for at in sums:
        b.store(splat(_FLOAT, n, 0.0), at)
    with _BUILD.for_range_slice(b, first, end, _I64(step)) as (j, _):
        place = b.add(j, _I64(shift))
        of_right = [load(b, row, place, _FLOAT, n, 4) for row in right]
        for i, row in enumerate(left):
            of_left = load(b, row, place, _FLOAT, n, 4)
            for k in range(SIDE):
                at = sums[SIDE * i + k]
                b.store(b.fadd(b.load(at), b.fmul(of_left, of_right[k])), at)
    return [b.load(at) for at in sums]


def _code(typing: Any, rows: Any, first: Any, second: Any, out: Any) -> Any:
    contiguous("rows and similarities", rows, out)

    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        found = [
            row_of(context, b, signature.args[0], args[0], b.add(row, _I64(i)))
            for row in args[1:3]
            for i in range(SIDE)
        ]
        rows = [row for row, _ in found]
        width = found[0][1]
        left = rows[:SIDE]
        right = rows[SIDE:]
        whole = b.and_(width, _I64(-32))
        low, high = (_summed(b, left, right, 16, (_I64(0), whole, 32, shift)) for shift in (0, 16))
        rest = _summed(b, left, right, 8, (whole, width, 8, 0))
        for i in range(SIDE):
            to, _ = row_of(context, b, signature.args[3], args[3], b.add(args[1], _I64(i)))
            for k in range(SIDE):
                pair = SIDE * i + k
                of_blocks = tree(b, b.fadd(low[pair], high[pair]), 16)
                found = b.fadd(of_blocks, tree(b, rest[pair], 8))
                b.store(found, b.gep(to, [b.add(args[2], _I64(k))]))
        return context.get_dummy_value()

    return types.void(rows, types.int64, types.int64, out), build


pair_similarities = cast(Callable[[F32, int, int, F32], None], intrinsic(_code))
"""Sets ``out[i, j]`` for `SIDE` rows i from ``first`` on and `SIDE` rows j from ``second`` on."""

"""Prefetches items of an array that will be read soon, and copies bytes at once."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

from recollex_kernels.machine.intrinsics import contiguous, data_of, row_of
from recollex_kernels.machine.jit import U8

_BUILD: Any = _cgutils  # its functions carry no types
_I32 = ir.IntType(32)
_I64 = ir.IntType(64)
_BYTE = ir.IntType(8).as_pointer()
_LINE = 64  # bytes of a cache line


def ask_for(b: Any, pointer: Any, kept: int = 3) -> None:
    """Add to the code of ``b`` a prefetch of the cache line of ``pointer``.

    kept: 0 for data that is read once and should evict nothing from the caches.
    """
    kind = ir.FunctionType(ir.VoidType(), [_BYTE, _I32, _I32, _I32])
    fetch = _BUILD.get_or_insert_function(b.module, kind, "llvm.prefetch")
    b.call(fetch, [b.bitcast(pointer, _BYTE), _I32(0), _I32(kept), _I32(1)])


def _item_code(typing: Any, items: Any, place: Any) -> Any:
    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        data = data_of(context, b, signature.args[0], args[0])
        ask_for(b, b.gep(data, [args[1]]))
        return context.get_dummy_value()

    return types.void(items, types.int64), build


def _row_code(typing: Any, rows: Any, row: Any) -> Any:
    contiguous("rows", rows)

    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        first, width = row_of(context, b, signature.args[0], args[0], args[1])
        step = _I64(_LINE * 8 // signature.args[0].dtype.bitwidth)
        with _BUILD.for_range_slice(b, _I64(0), width, step) as (j, _):
            ask_for(b, b.gep(first, [j]))
        return context.get_dummy_value()

    return types.void(rows, types.int64), build


prefetch = cast(Callable[[Any, int], None], intrinsic(_item_code))
"""For an item of a contiguous array of one dimension; a place outside it is harmless."""
prefetch_row = cast(Callable[[Any, int | np.uint32], None], intrinsic(_row_code))
"""For a row of a contiguous array of two dimensions, from its first line on."""


# Copies bytes at once: assigning a slice to a slice checks for overlaps, and copies slowly.
def _code(typing: Any, out: Any, at: Any, source: Any, first: Any, size: Any) -> Any:
    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        to, place, given, start, count = args
        into = data_of(context, b, signature.args[0], to)
        held = data_of(context, b, signature.args[2], given)
        _BUILD.raw_memcpy(b, b.gep(into, [place]), b.gep(held, [start]), count, 1)
        return context.get_dummy_value()

    return types.void(out, types.int64, source, types.int64, types.int64), build


copy_bytes = cast(Callable[[U8, int, U8, int, int], None], intrinsic(_code))
"""Sets ``out[at : at + size]`` to ``source[first : first + size]``: other arrays, contiguous."""

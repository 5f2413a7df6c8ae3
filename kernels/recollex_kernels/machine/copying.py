"""Copies bytes at once: assigning a slice to a slice checks for overlaps, and copies slowly."""

from collections.abc import Callable
from typing import Any, cast

from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

from recollex_kernels.machine.arrays import data_of
from recollex_kernels.machine.jit import U8

_BUILD: Any = _cgutils  # its functions carry no types


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

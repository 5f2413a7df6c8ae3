"""Asks for an item of an array that will be read soon, and waits for nothing."""

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

_BUILD: Any = _cgutils  # its functions carry no types
_I32, _BYTE = ir.IntType(32), ir.IntType(8).as_pointer()


def ask_for(b: Any, pointer: Any, kept: int = 3) -> None:
    """Add to the code of ``b`` that memory is asked for the cache line of ``pointer``.

    kept: 0 for what is read once, and should drive nothing else out of the caches.
    """
    kind = ir.FunctionType(ir.VoidType(), [_BYTE, _I32, _I32, _I32])
    fetch = _BUILD.get_or_insert_function(b.module, kind, "llvm.prefetch")
    b.call(fetch, [b.bitcast(pointer, _BYTE), _I32(0), _I32(kept), _I32(1)])


def _code(typing: Any, items: Any, place: Any) -> Any:
    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, b, args[0]).data
        ask_for(b, b.gep(data, [args[1]]))
        return context.get_dummy_value()

    return types.void(items, types.int64), build


prefetch = cast(Callable[[Any, int], None], intrinsic(_code))
"""For a contiguous array of one dimension; a place outside it is harmless."""

"""What intrinsics are made of, in LLVM's terms: rows of arrays, constants, loads and lanes."""

from typing import Any

from llvmlite import ir
from numba.core.errors import TypingError


def contiguous(what: str, *arrays: Any) -> None:
    """Raise `TypingError`, naming ``what``, unless the types of all arrays are C-contiguous."""
    if any(array.layout != "C" for array in arrays):
        raise TypingError(f"{what} must be C-contiguous")


def data_of(context: Any, b: Any, kind: Any, array: Any) -> Any:
    """Return the address of an array's first item."""
    return context.make_array(kind)(context, b, array).data


def row_of(context: Any, b: Any, kind: Any, array: Any, row: Any) -> tuple[Any, Any]:
    """Return the address of a row of a matrix, and the row's length."""
    matrix = context.make_array(kind)(context, b, array)
    width = b.extract_value(matrix.shape, 1)
    return b.gep(matrix.data, [b.mul(row, width)]), width


# What the vector code of intrinsics is made of: constants, loads and lanes, in LLVM's terms.
_WORD = ir.IntType(32)


def splat(element: Any, n: int, value: float) -> Any:
    """Return a constant vector of ``n`` times a value."""
    return ir.Constant(ir.VectorType(element, n), [value] * n)


def repeated(b: Any, value: Any, n: int) -> Any:
    """Return a vector of ``n`` times a value that is known only when the code runs."""
    one = b.insert_element(ir.Constant(ir.VectorType(value.type, n), ir.Undefined), value, _WORD(0))
    return lanes(b, one, one, [0] * n)


def load(b: Any, base: Any, offset: Any, element: Any, n: int, align: int) -> Any:
    """Return ``n`` elements at ``base[offset]`` as one vector; ``align`` in bytes."""
    loaded = b.load(b.bitcast(b.gep(base, [offset]), ir.VectorType(element, n).as_pointer()))
    loaded.align = align
    return loaded


def lanes(b: Any, x: Any, y: Any, chosen: list[int]) -> Any:
    """Return the chosen lanes of two vectors: those of ``y`` are numbered after those of ``x``."""
    return b.shuffle_vector(x, y, ir.Constant(ir.VectorType(_WORD, len(chosen)), chosen))


def tree(b: Any, vector: Any, n: int) -> Any:
    """Return the sum of ``n`` lanes: the upper half is added to the lower until one is left."""
    while n > 1:
        n //= 2
        low = list(range(n))
        high = list(range(n, 2 * n))
        vector = b.fadd(lanes(b, vector, vector, low), lanes(b, vector, vector, high))
    return b.extract_element(vector, _WORD(0))

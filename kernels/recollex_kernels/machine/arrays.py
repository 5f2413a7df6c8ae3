"""What the code of an intrinsic reads of arrays: that they are contiguous, and where a row lies."""

from typing import Any

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

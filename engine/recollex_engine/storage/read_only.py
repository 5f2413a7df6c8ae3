"""Arrays that nothing writes to."""

from typing import Any, TypeVar

import numpy.typing as npt

Array = TypeVar("Array", bound=npt.NDArray[Any])


def read_only(array: Array) -> Array:
    """Return a view of an array that is read-only.

    Kernels are compiled for such arrays: those of files and questions are. For one that can be
    written a kernel would be compiled once more.
    """
    view = array.view()
    view.flags.writeable = False
    return view

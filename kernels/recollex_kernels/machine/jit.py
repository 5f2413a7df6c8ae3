"""The one decorator that compiles every kernel, and the names of the array types."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
from numba import types
from numba.core.event import Event, Listener, install_listener, register

from recollex_kernels.machine.compiled_code import ROOT, KernelCache, folder_of_user

Function = TypeVar("Function", bound=Callable[..., object])

I8: TypeAlias = npt.NDArray[np.int8]
I16: TypeAlias = npt.NDArray[np.int16]
I32: TypeAlias = npt.NDArray[np.int32]
U8: TypeAlias = npt.NDArray[np.uint8]
U16: TypeAlias = npt.NDArray[np.uint16]
U32: TypeAlias = npt.NDArray[np.uint32]
I64: TypeAlias = npt.NDArray[np.int64]
U64: TypeAlias = npt.NDArray[np.uint64]
F32: TypeAlias = npt.NDArray[np.float32]
F64: TypeAlias = npt.NDArray[np.float64]

_FOLDER = folder_of_user()
_UNLITERAL: Any = types.unliteral
_REGISTER: Any = register
_INSTALL: Any = install_listener


class _Compiling(Listener):
    """Calls back before the first kernel is compiled; kernels read from the cache do not count."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback: Callable[[], None] | None = callback

    def on_start(self, event: Event) -> None:
        if self._callback is not None and _is_kernel(event):
            callback, self._callback = self._callback, None
            callback()

    def on_end(self, event: Event) -> None:
        pass


class _Compiled(Listener):
    """Calls back after each kernel that was compiled."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback = callback

    def on_start(self, event: Event) -> None:
        pass

    def on_end(self, event: Event) -> None:
        if _is_kernel(event):
            self._callback()


def _is_kernel(event: Event) -> bool:
    """Return whether it is one of our kernels that is compiled, not a function of numba's own."""
    home: str | None = event.data["dispatcher"].py_func.__module__  # None for what `exec` made
    return home is not None and home.startswith(ROOT.name)


def tell_of_compiling(callback: Callable[[], None]) -> None:
    """Call ``callback`` once, before the first kernel is compiled."""
    _REGISTER("numba:compile", _Compiling(callback))


@contextmanager
def each_compiled(callback: Callable[[], None]) -> Iterator[None]:
    """Call ``callback`` after each kernel that is compiled in this thread while the body runs."""
    with _INSTALL("numba:compile", _Compiled(callback)):
        yield


def kernel(function: Function) -> Function:
    """Compile ``function`` on first call, cached on disk, without the interpreter lock.

    No ``fastmath``: a kernel's sums are the same to the bit on every run and on every split of
    the rows. Helpers live beside their caller and use this decorator too. Where no cache folder
    can be written, the kernel is compiled in memory, once per process.
    """
    compiled: Any = numba.njit(nogil=True, error_model="numpy")(function)
    module, _, name = function.__module__.partition(".")
    if _FOLDER is not None and module == ROOT.name and function.__closure__ is None:
        compiled._cache = KernelCache(f"{name}.{function.__qualname__}", _FOLDER)
    _forget_literals(compiled)
    return cast(Function, compiled)


def inlined(function: Function) -> Function:
    """Compile ``function`` as a part of the one kernel that calls it.

    Meant for a long step of a kernel that works on tuples of arrays: a call counts a reference to
    each of their arrays, which is half a microsecond for a search. Such a call takes no ``*args``.
    """
    return cast(Function, numba.njit(nogil=True, error_model="numpy", inline="always")(function))


def _forget_literals(compiled: Any) -> None:
    """Compile one version for all numbers that kernels write out as an argument of a call.

    Numba makes a version for each such number, `f(x, 0)` and `f(x, 1)`, and they are the same.
    """
    found = compiled.get_call_template

    def get_call_template(arguments: Any, named: Any) -> Any:
        return found(
            tuple(_UNLITERAL(kind) for kind in arguments),
            {name: _UNLITERAL(kind) for name, kind in named.items()},
        )

    compiled.get_call_template = get_call_template

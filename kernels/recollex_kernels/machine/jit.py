"""The one decorator that compiles every kernel, and the names of the array types."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeAlias, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
from numba import types
from numba.core.event import Event, Listener, install_listener, register

from recollex_kernels import machine
from recollex_kernels.machine.lazy_library import TreeCompiler

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

_PACKAGE = __name__.partition(".")[0]
_NJIT: Any = numba.njit  # mypy does not see all of its options
_UNLITERAL: Any = types.unliteral
_REGISTER: Any = register
_INSTALL: Any = install_listener


class _Compiling(Listener):
    """Calls back before and after each kernel that is compiled, not one read from the cache."""

    def __init__(self, started: Callable[[], None], ended: Callable[[], None]) -> None:
        self._started = started
        self._ended = ended

    def on_start(self, event: Event) -> None:
        if _is_kernel(event):
            self._started()

    def on_end(self, event: Event) -> None:
        if _is_kernel(event):
            self._ended()


def _is_kernel(event: Event) -> bool:
    """Return whether it is one of our kernels that is compiled, not a function of numba's own."""
    home: str | None = event.data["dispatcher"].py_func.__module__  # None for what `exec` made
    return home is not None and home.startswith(_PACKAGE)


def tell_of_compiling(started: Callable[[], None], ended: Callable[[], None]) -> None:
    """Call ``started`` before each kernel that is compiled from now on, ``ended`` after it.

    The calls nest, as a kernel's compilation compiles the kernels that it calls. Numba's lock is
    held, so they come from one thread at a time.
    """
    _REGISTER("numba:compile", _Compiling(started, ended))


@contextmanager
def each_compiled(callback: Callable[[], None]) -> Iterator[None]:
    """Call ``callback`` after each kernel that is compiled while the body runs."""
    with _INSTALL("numba:compile", _Compiling(lambda: None, callback)):
        yield


def kernel(function: Function) -> Function:
    """Compile ``function`` on first call, cached by `cache_of`, without the interpreter lock.

    No ``fastmath``: a kernel's sums are the same to the bit on every run and on every split of
    the rows. Helpers live beside their caller and use this decorator too. Without a
    cache, the kernel is compiled in memory, once per process.

    What other kernels call is another version, without the code that unpacks Python's objects. It
    is one version for all numbers that callers write out: numba makes one for each, `f(x, 0)` and
    `f(x, 1)`, and they are the same.
    """
    by_python = _compiled(function, "")
    part = cache(lambda: _compiled(function, "+", no_cpython_wrapper=True))

    def get_call_template(arguments: Any, named: Any) -> Any:
        kinds = {name: _UNLITERAL(kind) for name, kind in named.items()}
        return part().get_call_template(tuple(map(_UNLITERAL, arguments)), kinds)

    by_python.get_call_template = get_call_template
    by_python.get_overload = lambda signature: part().get_overload(signature)
    return cast(Function, by_python)


def _compiled(function: Any, mark: str, **options: Any) -> Any:
    """Return what compiles a function, and keeps its code under its name and ``mark``."""
    options |= {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    compiled: Any = _NJIT(pipeline_class=TreeCompiler, **options)(function)
    module, _, name = function.__module__.partition(".")
    own = module == _PACKAGE and function.__closure__ is None
    if own and machine.cache_of is not None:
        compiled._cache = machine.cache_of(
            f"{name}.{function.__qualname__}{mark}", called_by_kernels=bool(mark)
        )
    return compiled


def inlined(function: Function) -> Function:
    """Compile ``function`` as a part of the one kernel that calls it.

    Meant for a long step of a kernel that works on tuples of arrays: a call counts a reference to
    each of their arrays, which is half a microsecond for a search. Such a call takes no ``*args``.
    """
    return cast(Function, numba.njit(nogil=True, error_model="numpy", inline="always")(function))

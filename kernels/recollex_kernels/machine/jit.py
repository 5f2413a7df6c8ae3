"""The one decorator that compiles every kernel, and the names of the array types."""

import hashlib
import os
import platform
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
from llvmlite import binding as llvm
from numba.core.event import Event, Listener, install_listener, register

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

_ROOT = Path(__file__).parents[1]
"""The folder of all kernels, named as their package is."""


def _cache_folder() -> Path | None:
    """Return the writable folder of compiled kernels for this source, processor and versions.

    Numba's cache does not notice that a helper in another file changed, so the folder's name
    carries a hash of every kernel file; a changed file compiles anew into a new folder.
    Return None where nothing can be written: numba would silently fall back to a
    ``__pycache__`` beside the source, which does not carry the hash.
    """
    digest = hashlib.sha256()
    for path in sorted(_ROOT.rglob("*.py")):
        digest.update(str(path.relative_to(_ROOT)).encode() + b"\0" + path.read_bytes())
    digest.update(f"{numba.__version__} {platform.python_version()}".encode())
    digest.update(f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}".encode())
    try:
        home = os.environ.get("RECOLLEX_CACHE") or Path.home() / ".cache" / "recollex"
        folder = Path(home).absolute() / f"kernels-{digest.hexdigest()[:16]}"
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):  # permission bits alone do not tell
            return folder
    except (OSError, RuntimeError):  # read-only disk, or no home folder
        return None


_CACHE = _cache_folder()
_OWN = f"{os.getpid():x}-{os.urandom(4).hex()}"
"""The name of this process in the names of its cache files."""
_REGISTER: Any = register
_INSTALL: Any = install_listener
_CONFIG: Any = numba.config  # its names are set at run time, out of mypy's sight


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
    return home is not None and home.startswith(_ROOT.name)


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
    if _CACHE is None:
        return cast(Function, numba.njit(nogil=True, error_model="numpy")(function))
    before = _CONFIG.CACHE_DIR
    try:
        _CONFIG.CACHE_DIR = str(_CACHE)  # read while decorating; other users of numba keep theirs
        compiled = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    finally:
        _CONFIG.CACHE_DIR = before
    _name_own_files(compiled)
    return cast(Function, compiled)


def inlined(function: Function) -> Function:
    """Compile ``function`` as a part of the one kernel that calls it.

    Meant for a long step of a kernel that works on tuples of arrays: a call counts a reference to
    each of their arrays, which is half a microsecond for a search. Such a call takes no ``*args``.
    """
    return cast(Function, numba.njit(nogil=True, error_model="numpy", inline="always")(function))


def _name_own_files(compiled: Any) -> None:
    """Give the cache files names that no other process uses.

    Numba counts a kernel's files from 1 and writes the index before the file that it names. Of two
    processes that compile one kernel for different types, the index of the one could name the file
    of the other, and the wrong code would run. With names of its own the later index only forgets
    the other's file, which is then compiled once more.
    """
    files = compiled._cache._cache_file
    files._data_name_pattern = files._data_name_pattern.replace("{number", f"{_OWN}.{{number")

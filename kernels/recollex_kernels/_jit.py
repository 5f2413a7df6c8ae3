"""The one decorator under which every kernel is compiled."""

import hashlib
import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

import numba
from llvmlite import binding as llvm

Function = TypeVar("Function", bound=Callable[..., object])


def _cache_folder() -> Path:
    """Return the folder of compiled kernels for this source, this processor and these versions.

    Numba's cache does not notice that a helper in another file changed, so the folder's name
    carries a hash of every kernel file; a changed file compiles anew into a new folder.
    """
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    digest.update(f"{numba.__version__} {platform.python_version()}".encode())
    digest.update(f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}".encode())
    home = os.environ.get("RECOLLEX_CACHE") or Path.home() / ".cache" / "recollex"
    return Path(home) / f"kernels-{digest.hexdigest()[:16]}"


_CACHE = _cache_folder()


def kernel(function: Function) -> Function:
    """Compile ``function`` on first call, cached on disk, without the interpreter lock.

    No ``fastmath``: a kernel's sums are the same to the bit on every run and on every split of
    the rows. Helpers live beside their caller and use this decorator too.
    """
    before = numba.config.CACHE_DIR
    try:
        _CACHE.mkdir(parents=True, exist_ok=True)
        numba.config.CACHE_DIR = str(
            _CACHE
        )  # read while decorating; other users of numba keep theirs
        compiled = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    except OSError:  # nowhere to write: compile in memory, once per process
        compiled = numba.njit(nogil=True, error_model="numpy")(function)
    finally:
        numba.config.CACHE_DIR = before
    return cast(Function, compiled)

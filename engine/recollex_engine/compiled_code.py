"""Compiled kernels on disk: where they lie, how they are named, read, written and removed.

Numba's own cache names files by the source's path, so that every environment compiled anew, and it
does not notice that a helper in another file changed. Here one folder holds all compiled code of
one state of the kernels' sources, numba, llvmlite, Python and the processor; a hash of these is the
folder's name. All environments of a user share it::

    <cache>/kernels-<hash>/used                                 locked by who uses the folder
    <cache>/kernels-<hash>/<module>.<function>-<signature>.nbc  one kernel for one signature
    recollex_kernels/compiled/<level>-<hash>/                   the same, that a wheel carried

``<cache>`` is that of `private_files`: compiled code is a pickle, which runs whatever its writer
likes, so only files that no other user can write are read. A file is written under another name
and renamed, so a compiler that is killed, or a second one at the same time, leaves no wrong file:
the later of two replaces the code of the earlier by the same code.

This is the one module that uses private parts of numba's cache; `pyproject.toml` caps numba at the
versions that it was tried with.
"""

import fcntl
import hashlib
import io
import os
import pickle
import platform
import shutil
import sys
import time
import zlib
from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite
import numba
from llvmlite import binding as llvm
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.environment import Environment, lookup_environment
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

import recollex_kernels
from recollex_engine import private_files
from recollex_kernels.machine.lazy_library import lazily

ROOT = Path(recollex_kernels.__file__).parent
"""The folder of all kernels, named as their package is."""
CARRIED = ROOT / "compiled"
"""Where a platform wheel puts compiled kernels; a source install has no such folder."""
KEPT = 4
"""Folders that are kept, the last used ones, whatever their age."""
YOUNG = 24 * 3600
"""Seconds for which an unused folder, or a file of a compiler that was killed, is kept."""
_PREFIX = "kernels-"
_SUFFIX = ".nbc"
_UNFINISHED = ".part"
_USED = "used"
_FORMAT = b"1"
_HOLDS_ADDRESSES = attrgetter("library.has_dynamic_globals")
_REBUILD: Any = CompileResult._rebuild
_SERIALIZED: Any = dumps
_RUNTIME: Any = rtsys
_ENVIRONMENT: Any = Environment
_KNOWN: Any = lookup_environment
_CONFIG: Any = numba.config  # its names are set at run time, out of mypy's sight


class Level(NamedTuple):
    """A set of processors that one build of the kernels serves."""

    name: str
    processor: str
    """LLVM's name of what is compiled for."""
    features: str
    """What is compiled for beyond that, as LLVM writes it."""
    needs: frozenset[str]
    """The features that a processor of this level has, in LLVM's names."""


_X86 = {
    "x86-64-v3": "avx avx2 bmi bmi2 cx16 f16c fma lzcnt movbe popcnt sahf sse3 sse4.1 sse4.2 ssse3",
    "x86-64-v4-vnni": "avx512f avx512bw avx512cd avx512dq avx512vl avx512vnni",
}
"""The features that each level has beyond the one before."""
_V3 = frozenset(_X86["x86-64-v3"].split())
_V4 = _V3 | frozenset(_X86["x86-64-v4-vnni"].split())
LEVELS = {
    "x86_64": (
        Level("x86-64-v4-vnni", "x86-64-v4", "+avx512vnni,-prefer-256-bit", _V4),
        Level("x86-64-v3", "x86-64-v3", "", _V3),
    ),
    "aarch64": (Level("armv8-a", "generic", "+neon", frozenset(["neon"])),),
}
"""What a platform wheel carries compiled kernels for, by machine; the best level first."""


@cache
def hash_of_sources() -> str:
    """Return a hash of every kernel file, of this one, and of what compiles them."""
    digest = hashlib.sha256(_FORMAT + Path(__file__).read_bytes())
    for path in sorted(ROOT.rglob("*.py")):
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    python = f"{sys.implementation.cache_tag}{sys.abiflags}"
    versions = numba.__version__, llvmlite.__version__, python
    digest.update(" ".join(versions).encode())
    return digest.hexdigest()


def processor() -> str:
    """Return what numba compiles for: a processor, its features, the level of optimisation."""
    name = _CONFIG.CPU_NAME or llvm.get_host_cpu_name()
    features = _CONFIG.CPU_FEATURES
    if features is None:
        features = llvm.get_host_cpu_features().flatten()
    return f"{name} {features} {_CONFIG.OPT} {_CONFIG.ENABLE_AVX}"


def levels_here() -> list[Level]:
    """Return the levels that this processor is of, the best first."""
    has = {name for name, there in llvm.get_host_cpu_features().items() if there}
    return [level for level in LEVELS.get(platform.machine(), ()) if level.needs <= has]


def name_in_wheel(level: Level) -> str:
    """Return the name of the folder in `CARRIED` for a level of processors."""
    return f"{level.name}-{hash_of_sources()[:16]}"


def folder_of_wheel() -> "Folder | None":
    """Return the folder that a platform wheel brought for this processor; None if there is none.

    There is none for other versions of numba, llvmlite or Python than the wheel was built with, or
    where the environment tells numba how to compile (``NUMBA_OPT``, ``NUMBA_CPU_NAME`` ..).
    """
    told = _CONFIG.CPU_NAME is not None or _CONFIG.CPU_FEATURES is not None
    if not CARRIED.is_dir() or told or not _CONFIG.ENABLE_AVX or _CONFIG.OPT != 3:
        return None
    paths = [CARRIED / name_in_wheel(level) for level in levels_here()]
    # Whoever may write there may write the source files beside it, so its owner is not looked at.
    return next((Folder(path, Path.read_bytes) for path in paths if path.is_dir()), None)


def folder_of_user() -> "Folder | None":
    """Return the folder for this state of everything; None if there is no place for a cache."""
    name = hashlib.sha256(f"{hash_of_sources()} {processor()}".encode()).hexdigest()[:16]
    path = private_files.cache_folder(f"{_PREFIX}{name}")
    return None if path is None else Folder(path)


class Folder:
    """A folder of compiled kernels; where it cannot be written, it is only read.

    While the process lives, a shared lock tells others that the folder is in use. ``read``: reads a
    file, and raises `OSError` for one that is not to be trusted.
    """

    def __init__(self, path: Path, read: Callable[[Path], bytes] = private_files.read) -> None:
        self.path = path
        self._read = read
        self._lock = -1
        with suppress(OSError):
            self._hold()

    def load(self, kernel: str, signature: str) -> Any | None:
        """Return what `save` was given, or None: no such file, or a damaged or exposed one."""
        try:
            stored = self._read(self.path / file_name(kernel, signature))
            if zlib.crc32(stored[4:]) != int.from_bytes(stored[:4], "little"):
                return None
            kept, compiled = _Unpickler(io.BytesIO(memoryview(stored)[4:])).load()
        except (OSError, EOFError):
            return None
        return compiled if kept == signature else None

    def save(self, kernel: str, signature: str, compiled: Any) -> None:
        """Write compiled code; nothing is written where the disk is full or cannot be written."""
        content = _SERIALIZED((signature, compiled))
        place = self.path / file_name(kernel, signature)
        own = f"{os.getpid():x}-{os.urandom(4).hex()}"
        unfinished = place.with_name(f"{place.name}.{own}{_UNFINISHED}")
        try:
            if self._lock < 0:
                self._create()
            try:
                checked = zlib.crc32(content).to_bytes(4, "little") + content
                private_files.write(unfinished, checked)
                unfinished.replace(place)
            finally:
                unfinished.unlink(missing_ok=True)
        except OSError:
            pass

    def _hold(self) -> None:
        """Take the shared lock and note the time; raises `OSError` if there is no folder."""
        self._lock = _locked(self.path, fcntl.LOCK_SH)
        os.utime(self._lock)

    def _create(self) -> None:
        private_files.make_folder(self.path)
        with suppress(FileExistsError):
            private_files.write(self.path / _USED, b"")
        self._hold()
        remove_unused(self.path)


def remove_unused(used: Path) -> None:
    """Remove old folders beside ``used``, and what compilers that were killed left.

    The `KEPT` last used folders stay, those used within `YOUNG` seconds, and those of a running
    process. What cannot be removed stays.
    """
    too_old = time.time() - YOUNG
    for file in used.parent.glob(f"{_PREFIX}*/*{_UNFINISHED}"):
        if _last_used(file) < too_old:
            file.unlink(missing_ok=True)
    others = [folder for folder in used.parent.glob(f"{_PREFIX}*") if folder != used]
    for folder in sorted(others, key=_last_used, reverse=True)[KEPT - 1 :]:
        if _last_used(folder) < too_old:
            _remove(folder)


def _last_used(path: Path) -> float:
    """Return the time at which a folder was last used, or a file written; 0 if it is gone."""
    for file in (path / _USED, path):
        with suppress(OSError):
            return file.stat().st_mtime
    return 0


def _remove(folder: Path) -> None:
    """Remove a folder that no running process has locked."""
    lock = -1
    try:
        lock = _locked(folder, fcntl.LOCK_EX)
    except FileNotFoundError:  # of a version that took no lock
        pass
    except OSError:
        return
    shutil.rmtree(folder, ignore_errors=True)
    if lock >= 0:
        os.close(lock)


def _locked(folder: Path, kind: int) -> int:
    """Return the descriptor of a folder's lock; raises `OSError` if it cannot be had now."""
    lock = os.open(folder / _USED, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise
    return lock


def file_name(kernel: str, signature: str) -> str:
    """Return the name of the file of a kernel's code for a signature."""
    return f"{kernel}-{hashlib.sha256(signature.encode()).hexdigest()[:16]}{_SUFFIX}"


class _Unpickler(pickle.Unpickler):
    """Reads compiled code, and imports no module for the functions that it was made of."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a class or function by its name."""
        return _environment if name == "_rebuild_env" else super().find_class(module, name)


def _environment(module: str, constants: list[Any], name: str) -> Any:
    """Return the environment of a compiled function, as numba's `_rebuild_env` does.

    Numba imports the function's module for its globals, which only the interpreter would look at.
    A kernel that calls `numpy.sum` would import numba's implementation of it, and that scipy.
    """
    found = _KNOWN(name)
    if found is None:
        home = sys.modules.get(module)
        found = _ENVIRONMENT({"__name__": module} if home is None else home.__dict__)
        found.consts[:] = constants
        found.env_name = name
        _ENVIRONMENT._memo[name] = found
    return found


def _names_of(function: Any) -> bytes:
    """Return code of empty functions with the names by which Python calls a compiled function."""
    names = function.llvm_func_name, function.llvm_cpython_wrapper_name
    empty = (f'define void @"{name}"() {{ ret void }}' for name in names)
    return bytes(llvm.parse_assembly("\n".join(empty)).as_bitcode())


class KernelCache(_Cache):
    """What numba asks for compiled code of one kernel, and gives compiled code to.

    A process that compiles nothing needs no more of numba than its core: not what it knows of
    numpy's functions, nor the code from which a caller would be compiled.
    """

    def __init__(
        self, kernel: str, carried: Folder | None, own: Folder | None, *, called_by_kernels: bool
    ) -> None:
        """Read from the folder that the wheel carried, then from the user's; write to that."""
        self._kernel = kernel
        self._called_by_kernels = called_by_kernels
        self._folders = [folder for folder in (carried, own) if folder is not None]
        self._own = own

    @property
    def cache_path(self) -> str | None:
        """The folder that is written."""
        return None if self._own is None else str(self._own.path)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code of a signature, or None."""
        _RUNTIME.initialize(target_context)
        for folder in self._folders:
            if (stored := folder.load(self._kernel, str(sig))) is not None:
                with lazily(target_context.codegen()) if self._called_by_kernels else nullcontext():
                    return _REBUILD(target_context, *stored)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the compiled code of a signature, unless it holds addresses of this process."""
        movable = not _HOLDS_ADDRESSES(data) and all(part.can_cache for part in data.lifted)
        if movable and self._own is not None:
            library, *others = data._reduce()
            if not self._called_by_kernels:
                name, kind, (machine_code, _) = library
                library = name, kind, (machine_code, _names_of(data.fndesc))
            self._own.save(self._kernel, str(sig), (library, *others))

    def enable(self) -> None:
        """Do nothing: the cache is never off."""

    def disable(self) -> None:
        """Do nothing: the cache is never off."""

    def flush(self) -> None:
        """Do nothing: another process may use the files."""


@cache
def _folders() -> tuple[Folder | None, Folder | None]:
    return folder_of_wheel(), folder_of_user()


def cache_of(kernel: str, *, called_by_kernels: bool) -> KernelCache:
    """Return numba's cache of a kernel: see `recollex_kernels.machine.cache_of`."""
    return KernelCache(kernel, *_folders(), called_by_kernels=called_by_kernels)

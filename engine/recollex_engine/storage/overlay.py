"""Mapping the pages of a file over the start of a larger range of addresses.

`mmap` alone cannot map beyond a file's end, and cannot put private memory directly after a file's
pages. This module reserves a range of addresses and maps the file over its beginning
(``MAP_FIXED``), which gives both as one array of bytes. The range is freed when no array refers to
it any more.
"""

import ctypes
import mmap
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

PAGE = mmap.PAGESIZE
_MAP_FIXED = 0x10  # the same on Linux, macOS and the BSDs
_MAP_NORESERVE = 0x4000 if os.uname().sysname == "Linux" else 0x40
_MAP_FAILED = ctypes.c_void_p(-1).value

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int64,
]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def file_bytes(fd: int, size: int) -> NDArray[np.uint8]:
    """Return the first ``size`` bytes of a file, which are never written to, as its pages.

    The file has at least as many, and does not shrink. A write to the array kills the process.
    Raises `OSError` where the system cannot do it. Cost: 1 call of mmap, 5 us.
    """
    flags = mmap.MAP_PRIVATE | _MAP_NORESERVE
    address = _libc.mmap(None, size, mmap.PROT_READ, flags, fd, 0)
    if address == _MAP_FAILED:
        raise _refused(size)
    return np.asarray(_Pages(address, size))


class _Pages:
    """Pages that `file_bytes` mapped; given back with the last array of them."""

    __slots__ = ("__array_interface__", "_address", "_size")

    def __init__(self, address: int, size: int) -> None:
        self._address = address
        self._size = size
        self.__array_interface__ = _interface(address, size)

    def __del__(self, unmap: Any = _libc.munmap) -> None:
        unmap(self._address, self._size)


def private_bytes(
    fd: int, mapped: int, capacity: int, *, writable: bool = True
) -> NDArray[np.uint8]:
    """Return ``capacity`` bytes, the first ``mapped`` of them pages of the file.

    ``mapped`` is a multiple of `PAGE` and lies within the file; the other bytes are writable and
    read as zeros. With ``writable``, a page of the file is copied when it is first written to, so
    no write reaches the file or another process. Without ``writable``, a write to a page of the
    file kills the process, and those pages do not count as the process's own memory (RLIMIT_DATA).

    Raises `OSError` where the system cannot do it. Cost: 3 calls of mmap, 15 us.
    """
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
    # Reserves addresses only: a writable range would count as memory in full.
    pages = mmap.mmap(-1, capacity, flags=flags, prot=mmap.PROT_READ)
    address = np.frombuffer(pages, np.uint8).ctypes.data
    both = mmap.PROT_READ | mmap.PROT_WRITE
    if mapped:
        protection = both if writable else mmap.PROT_READ
        _map_at(address, mapped, protection, mmap.MAP_PRIVATE | _MAP_NORESERVE, fd)
    if capacity > mapped:
        _map_at(address + mapped, capacity - mapped, both, flags, -1)
    return np.asarray(_Writable(pages, address, capacity))


class _Writable:
    """Lets an array write to addresses that Python mapped for reading; keeps the map alive."""

    def __init__(self, pages: mmap.mmap, address: int, size: int) -> None:
        self.pages = pages
        self.__array_interface__ = _interface(address, size)


def _interface(address: int, size: int) -> dict[str, Any]:
    """Return what numpy asks for to make a writable array of bytes.

    Pages that cannot be written to say so too: numba compiles a kernel for each kind of array.
    """
    return {"data": (address, False), "shape": (size,), "typestr": "|u1", "version": 3}


def shared_bytes(fd: int, capacity: int) -> NDArray[np.uint8]:
    """Return ``capacity`` bytes that show the file, including what is appended to it later.

    ``capacity`` may lie beyond the end of the file. Touching a page that lies wholly beyond the end
    kills the process (SIGBUS), so the caller checks the file's length first. The caller may close
    the descriptor afterwards: no copy of it is kept, unlike with `mmap.mmap`.

    Raises `OSError` where the system cannot do it. Cost: 1 call of mmap, 10 us.
    """
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
    pages = mmap.mmap(-1, capacity, flags=flags, prot=mmap.PROT_READ)
    array: NDArray[np.uint8] = np.frombuffer(pages, np.uint8)
    _map_at(array.ctypes.data, capacity, mmap.PROT_READ, mmap.MAP_SHARED, fd)
    return array


def _map_at(address: int, size: int, protection: int, flags: int, fd: int) -> None:
    result = _libc.mmap(address, size, protection, flags | _MAP_FIXED, fd, 0)
    if result == _MAP_FAILED or result != address:
        raise _refused(size)


def _refused(size: int) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"mapping {size} bytes failed: {os.strerror(number)}")

"""Laying the pages of a file over the start of a larger range of addresses.

`mmap` alone cannot map beyond a file's end, nor join a file's pages with private memory behind
them. Reserving a range and mapping the file over its beginning (``MAP_FIXED``) gives both, as one
array of bytes. The range is given back when no array looks into it any more.
"""

import ctypes
import mmap
import os

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


def private_bytes(fd: int, mapped: int, capacity: int) -> NDArray[np.uint8]:
    """Return ``capacity`` writable bytes, the first ``mapped`` of them pages of the file.

    ``mapped`` is a multiple of `PAGE` within the file; the rest reads as zeros. A page is copied
    when it is first written to, so nothing written here reaches the file or another process.
    Raises `OSError` where the system cannot do it. Cost: 2 maps, 10 us.
    """
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
    pages = mmap.mmap(-1, capacity, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    array: NDArray[np.uint8] = np.frombuffer(pages, np.uint8)
    if mapped:
        _map_over(
            array, mapped, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | _MAP_NORESERVE, fd
        )
    return array


def shared_bytes(fd: int, capacity: int) -> NDArray[np.uint8]:
    """Return ``capacity`` read-only bytes that show the file, and what is appended to it later.

    ``capacity`` may lie beyond the end of the file. Touching a page that lies wholly beyond the
    end kills the process (SIGBUS): the caller checks the file's length first. Raises `OSError`
    where the system cannot do it. Cost: 1 map, 10 us.
    """
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
    pages = mmap.mmap(-1, capacity, flags=flags, prot=mmap.PROT_READ)
    array: NDArray[np.uint8] = np.frombuffer(pages, np.uint8)
    _map_over(array, capacity, mmap.PROT_READ, mmap.MAP_SHARED, fd)
    return array


def _map_over(array: NDArray[np.uint8], size: int, protection: int, flags: int, fd: int) -> None:
    address = array.ctypes.data
    result = _libc.mmap(address, size, protection, flags | _MAP_FIXED, fd, 0)
    if result == _MAP_FAILED or result != address:
        number = ctypes.get_errno()
        raise OSError(number, f"mapping {size} bytes of a file failed: {os.strerror(number)}")

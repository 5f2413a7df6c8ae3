"""Prefaulting: mapping the pages of large vector indexes before recalls touch them.

A recall without graphs reads most pages of the codes. A thread touches them while the first recall
reads its question.

The first recalls of a process each touch hundreds of pages for the first time: of the graph, of the
codes, and of the vectors that they rescore. The pages that are already in the page cache, because
another process wrote or read the files, are mapped by a background thread after the first recall,
which would only wait for it. Nothing is read from disk except by the system's own readahead, and
nothing is mapped that a hundred recalls would not map too.
"""

import _thread
import contextlib
import ctypes
import sys
import threading
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from recollex_engine.state.view import View
from recollex_engine.storage.overlay import PAGE

Array: TypeAlias = npt.NDArray[Any]

LEAST = 16 << 20
"""Arrays of fewer bytes are not prefaulted: small agents are opened by the thousand."""
MOST = 1 << 30
"""The most bytes that are mapped ahead for one agent."""
CHUNK = 8 << 20
"""Bytes that are mapped, or skipped, at once."""

TOUCHED = range(1 << 20, 1 << 26)
"""Bytes of codes that are worth a thread of their own. From 262,144 rows on there are graphs."""
SPAN = 1 << 16
"""Bytes that Linux maps when one of them is touched, if they are in the page cache."""

_POPULATE_READ = 22  # since Linux 5.14; older kernels refuse it

_libc = ctypes.CDLL(None)
for _call, _last in (("madvise", ctypes.c_int), ("mincore", ctypes.c_void_p)):
    if hasattr(_libc, _call):
        getattr(_libc, _call).argtypes = [ctypes.c_void_p, ctypes.c_size_t, _last]


def touch_codes(view: View) -> None:
    """Touch the pages of the codes on a thread, before the first recall reads them.

    Does nothing where there are graphs, or few codes. Cost for the caller: 15 us; the thread takes
    0.3 ms for 100,000 rows of 384 components on ext4, 1 ms on tmpfs, and the recall is so much
    faster.
    """
    codes = [view.columns.array(name).view(np.uint8) for name in ("code1", "code4")]
    if not view.indexes.graphs and sum(array.nbytes for array in codes) in TOUCHED:
        with contextlib.suppress(RuntimeError):  # no further thread can be started
            _thread.start_new_thread(touch, (codes,))  # Thread.start waits until the thread runs


def touch(arrays: Sequence[npt.NDArray[np.uint8]]) -> None:
    """Read one byte of each `SPAN`, without the interpreter's lock."""
    for array in arrays:
        array.take(np.arange(0, len(array), SPAN))


def map_ahead(view: View) -> threading.Thread | None:
    """Map the pages that vector search touches, in the background; return the thread, if any.

    In this order, up to `MOST` bytes: the links of the graphs, the codes, the vectors. Arrays below
    `LEAST` bytes are skipped. Cost for the caller: 20 us; the thread, if there is one, takes 0.1 s
    for a million rows.
    """
    arrays = [array for array in _touched(view) if array.nbytes >= LEAST]
    if not arrays or not sys.platform.startswith("linux"):
        return None
    thread = threading.Thread(target=map_resident, args=(arrays,), name="map ahead", daemon=True)
    thread.start()
    return thread


def _touched(view: View) -> Iterable[Array]:
    for graph in view.indexes.graphs:
        yield graph.links
    for name in ("code4", "code1"):
        yield view.columns.array(name)
    yield view.vectors


def map_resident(arrays: Sequence[Array]) -> int:
    """Map the pages of ``arrays`` that are in the page cache; return how many bytes were mapped.

    Maps only chunks of `CHUNK` bytes that are wholly in the page cache, and at most `MOST` bytes.
    Returns early if the system cannot do it.
    """
    mapped = 0
    flags = np.empty(CHUNK // PAGE, np.uint8)
    for array in arrays:
        address = -(-array.ctypes.data // PAGE) * PAGE
        end = (array.ctypes.data + array.nbytes) // PAGE * PAGE
        for at in range(address, end, CHUNK):
            size = min(CHUNK, end - at)
            if mapped + size > MOST:
                return mapped
            if _libc.mincore(at, size, flags.ctypes.data) != 0:
                return mapped
            if not (flags[: size // PAGE] & 1).all():
                continue
            if _libc.madvise(at, size, _POPULATE_READ) != 0:
                return mapped
            mapped += size
    return mapped

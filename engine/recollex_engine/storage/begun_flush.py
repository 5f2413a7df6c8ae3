"""Flushes of files together, which the system carries out while their caller goes on.

Linux flushes files on a thread of the kernel: `io_submit` with ``IOCB_CMD_FDSYNC``, since 4.18. No
thread of this process is woken, and the interpreter lock is not needed. Where the system has no
such call or refuses it, nothing is begun, and the caller flushes the files itself.

The system reports an error of a file once, so a result must not get lost: it lies in memory that
belongs to the flush, and `BegunFlush.wait` may be called again after an interrupt.
"""

import ctypes
import errno
import os
import platform
import sys
from collections.abc import Sequence
from typing import Any

from recollex_engine import fork

MOST_FILES = 2
"""The most files of one flush."""
MOST_IDLE = 8
"""The most contexts that are kept for later flushes."""

_FDSYNC = 3
_NUMBERS = {"x86_64": (206, 207, 208, 209), "aarch64": (0, 1, 4, 2)}
_SETUP, _DESTROY, _GET_EVENTS, _SUBMIT = _NUMBERS.get(platform.machine(), (0, 0, 0, 0))
_HAS = sys.platform == "linux" and platform.machine() in _NUMBERS
_call: Any = ctypes.CDLL(None, use_errno=True).syscall if _HAS else None


class _Request(ctypes.Structure):
    """The system's ``iocb``."""

    _fields_ = (
        *(("data", ctypes.c_uint64), ("key", ctypes.c_uint32), ("how", ctypes.c_uint32)),
        *(("opcode", ctypes.c_uint16), ("priority", ctypes.c_int16), ("fd", ctypes.c_uint32)),
        *(("buffer", ctypes.c_uint64), ("bytes", ctypes.c_uint64), ("offset", ctypes.c_int64)),
        *(("spare", ctypes.c_uint64), ("flags", ctypes.c_uint32), ("event", ctypes.c_uint32)),
    )


class _Result(ctypes.Structure):
    """The system's ``io_event``; ``request``: the address of the request, so not 0."""

    _fields_ = (
        *(("data", ctypes.c_uint64), ("request", ctypes.c_uint64)),
        *(("result", ctypes.c_int64), ("more", ctypes.c_int64)),
    )


_NO_RESULTS = bytes(MOST_FILES * ctypes.sizeof(_Result))


class _Context:
    """A context of the system for one flush at a time, and the memory of its results."""

    def __init__(self) -> None:
        self.requests = (_Request * MOST_FILES)()
        self.results = (_Result * MOST_FILES)()
        self._bytes_of_results = memoryview(self.results).cast("B")
        self.addresses = (ctypes.c_void_p * MOST_FILES)()
        for place, request in enumerate(self.requests):
            request.opcode = _FDSYNC
            self.addresses[place] = ctypes.addressof(request)
        self.number = ctypes.c_uint64(0)
        self.works = _call(_SETUP, MOST_FILES, ctypes.byref(self.number)) == 0

    def __del__(self, call: Any = _call, destroy: int = _DESTROY) -> None:
        if self.works:
            call(destroy, self.number)  # waits for what was begun

    def begin(self, fds: Sequence[int]) -> int:
        """Begin to flush files; return how many of the first ones the system has taken."""
        self._bytes_of_results[:] = _NO_RESULTS
        for request, fd in zip(self.requests, fds, strict=False):
            request.fd = fd
        return max(0, int(_call(_SUBMIT, self.number, ctypes.c_long(len(fds)), self.addresses)))

    def wait(self, count: int) -> None:
        """Return once ``count`` results are there."""
        while (known := sum(1 for each in self.results if each.request)) < count:
            left = ctypes.c_long(count - known)
            place = ctypes.byref(self.results, known * ctypes.sizeof(_Result))
            if _call(_GET_EVENTS, self.number, left, left, place, None) < 0:
                number = ctypes.get_errno()
                if number != errno.EINTR:
                    raise OSError(number, os.strerror(number))


class BegunFlush:
    """A flush that was begun; ``is_whole``: whether it is of all files that were asked for.

    Threads: one at a time waits.
    """

    def __init__(self, context: _Context, count: int, is_whole: bool) -> None:
        self.is_whole: bool = is_whole
        self._context: _Context | None = context
        self._count = count
        self._failure: OSError | None = None

    def wait(self) -> None:
        """Return once the bytes that were written before are on the disk.

        Raises the plain `OSError`, each time.
        """
        if (context := self._context) is not None:
            context.wait(self._count)
            for each in context.results[: self._count]:
                if each.result < 0:
                    self._failure = OSError(-each.result, os.strerror(-each.result))
            self._context = None
            if len(_idle) < MOST_IDLE:
                _idle.append(context)
        if self._failure is not None:
            raise self._failure


def begin_flush(fds: Sequence[int]) -> BegunFlush | None:
    """Begin to flush files together; None if the system does not. Cost: 10 us.

    At most `MOST_FILES`. They may be closed before the flush has ended.
    """
    if _call is None:
        return None
    try:
        context = _idle.pop()
    except IndexError:
        context = _Context()
        if not context.works:
            return None
    if not (taken := context.begin(fds)):
        return None
    return BegunFlush(context, taken, taken == len(fds))


_idle: list[_Context] = []


class _Inherited:
    """Lets go of the parent's contexts in a child, which cannot use them."""

    def after_fork(self) -> None:
        for context in _idle:
            context.works = False
        _idle.clear()


_inherited = _Inherited()
fork.register(_inherited)

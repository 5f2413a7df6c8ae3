"""Flushes of files together, which threads of the C library carry out while their caller goes on.

`aio_fsync` gives a file to a thread that waits for one. It runs on any processor, and needs no
interpreter lock. (A flush that `io_submit` begins waits for the processor of its caller, which is
busy.) Where there is no such call, nothing is begun, and the caller flushes the files itself.

The system reports an error of a file once, so a result must not get lost: it lies in memory that
belongs to the flush, and `BegunFlush.wait` may be called again after an interrupt.
"""

import ctypes
import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from recollex_engine import fork

MOST_FILES = 2
"""The most files of one flush."""
MOST_IDLE = 8
"""The most contexts that are kept for later flushes."""

_NO_SIGNAL = 1  # SIGEV_NONE
_IDLE_SECONDS = 600
_SETTINGS = (ctypes.c_int * 8)(20, 64, 0, 0, 0, 0, _IDLE_SECONDS)
"""glibc's ``struct aioinit``: its own numbers of threads and requests, and how long an idle thread
waits, else 1 second; a new thread for each flush makes a write every other second 0.3 ms slower."""


def _load() -> Any:
    """Return the C library, None where it has no such calls or other structures."""
    if sys.platform != "linux" or sys.maxsize < 2**32:
        return None
    for name in (None, "librt.so.1"):  # glibc before 2.34 has them in the second
        with suppress(OSError, AttributeError):
            library = ctypes.CDLL(name)
            _ = library.aio_fsync, library.aio_error, library.aio_suspend
            if hasattr(library, "aio_init"):
                library.aio_init(_SETTINGS)
            return library
    return None


_library = _load()


class _Request(ctypes.Structure):
    """``struct aiocb``, of glibc and musl alike as far as it has names here."""

    _fields_ = (
        ("fd", ctypes.c_int),
        ("opcode", ctypes.c_int),
        ("priority", ctypes.c_int),
        ("buffer", ctypes.c_void_p),
        ("bytes", ctypes.c_size_t),
        ("value", ctypes.c_uint64),
        ("signal", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("library", ctypes.c_uint64 * 32),  # more than it uses
    )


class _Context:
    """The requests of one flush at a time; the threads of the library write their results there."""

    def __init__(self) -> None:
        self.requests = (_Request * MOST_FILES)()
        self.addresses = [ctypes.c_void_p(ctypes.addressof(each)) for each in self.requests]
        for request in self.requests:
            request.notify = _NO_SIGNAL
        self.fds: list[int] = []  # of the files under way: the caller may close its own
        fork.register(self)

    def __del__(self) -> None:
        self.wait()
        self.end()

    def begin(self, fds: Sequence[int]) -> int:
        """Begin to flush files; return how many of the first ones the library has taken."""
        for request, address, fd in zip(self.requests, self.addresses, fds, strict=False):
            try:
                request.fd = os.dup(fd)
            except OSError:
                break
            self.fds.append(request.fd)
            if _library.aio_fsync(os.O_DSYNC, address) != 0:
                os.close(self.fds.pop())
                break
        return len(self.fds)

    def wait(self) -> list[int]:
        """Return the number of the error of each request, 0 without one, once all have ended."""
        found = []
        for address in self.addresses[: len(self.fds)]:
            while (number := _library.aio_error(address)) == errno.EINPROGRESS:
                _library.aio_suspend(ctypes.byref(address), 1, None)
            found.append(number)
        return found

    def end(self) -> None:
        """Close the files."""
        while self.fds:
            os.close(self.fds.pop())

    def after_fork(self) -> None:
        """Begin nothing in a child: it has none of the threads that the library counts on."""
        global _library
        _library = None
        self.end()


class BegunFlush:
    """A flush that was begun; ``is_whole``: whether it is of all files that were asked for.

    Threads: one at a time waits.
    """

    def __init__(self, context: _Context, is_whole: bool) -> None:
        self.is_whole: bool = is_whole
        self._context: _Context | None = context
        self._failure: OSError | None = None

    def wait(self) -> None:
        """Return once the bytes that were written before are on the disk.

        Raises the plain `OSError`, each time.
        """
        if (context := self._context) is not None:
            for number in context.wait():
                if number:
                    self._failure = OSError(number, os.strerror(number))
            self._context = None
            context.end()
            if len(_idle) < MOST_IDLE:
                _idle.append(context)
        if self._failure is not None:
            raise self._failure


def begin_flush(fds: Sequence[int]) -> BegunFlush | None:
    """Begin to flush files together; None if the system does not. Cost: 15 us.

    At most `MOST_FILES`. They may be closed before the flush has ended.
    """
    if _library is None:
        return None
    try:
        context = _idle.pop()
    except IndexError:
        context = _Context()
    if not (taken := context.begin(fds)):
        return None
    return BegunFlush(context, taken == len(fds))


_idle: list[_Context] = []

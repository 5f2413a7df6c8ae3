"""Files that a writer writes again and again: pooled descriptors, and flushes begun together.

The descriptors that were used last stay open, a few for the whole process: thousands of agents may
be written in turn, and one that is written all the time opens its files once.

A file may be closed between a write and its flush. The flush of a new descriptor writes all of the
file's bytes, and reports an error of earlier writes that no flush has reported yet (Linux since
4.13).

Flushes of files together, which threads of the C library carry out while their caller goes on.
`aio_fsync` gives a file to a thread that waits for one. It runs on any processor, and needs no
interpreter lock. (A flush that `io_submit` begins waits for the processor of its caller, which is
busy.) Where there is no such call, nothing is begun, and the caller flushes the files itself.

The system reports an error of a file once, so a result must not get lost: it lies in memory that
belongs to the flush, and `BegunFlush.wait` may be called again after an interrupt.
"""

import ctypes
import errno
import os
import resource
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from recollex_engine import fork
from recollex_engine.errors import ClosedError, StoreMovedError
from recollex_engine.storage.disk import open_file
from recollex_engine.storage.lock import Place

MOST_FILES = 2
"""The most files of one flush."""
MOST_IDLE_REQUESTS = 8
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
            if len(_idle_requests) < MOST_IDLE_REQUESTS:
                _idle_requests.append(context)
        if self._failure is not None:
            raise self._failure


def begin_flush(fds: Sequence[int]) -> BegunFlush | None:
    """Begin to flush files together; None if the system does not. Cost: 15 us.

    At most `MOST_FILES`. They may be closed before the flush has ended.
    """
    if _library is None:
        return None
    try:
        context = _idle_requests.pop()
    except IndexError:
        context = _Context()
    if not (taken := context.begin(fds)):
        return None
    return BegunFlush(context, taken == len(fds))


_idle_requests: list[_Context] = []


MOST_IDLE = max(1, min(40, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 8))
"""Descriptors that stay open between uses, in this process."""


class PooledFile:
    """A file that exists, opened when it is used; ``with`` gives its descriptor.

    Between uses it may be closed, when `MOST_IDLE` others were used later. `StoreMovedError` is
    raised where another file has its name when it is opened again. In a child of `os.fork` the
    parent's descriptors are closed.

    Threads: any number, also at once. Cost: 1 us a use; 5 us where the file must be opened.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "words"
    >>> path.touch()
    >>> file = PooledFile(path, os.O_RDWR)
    >>> with file as fd:
    ...     os.pwrite(fd, b"tea", 0)
    3
    >>> file.close()
    """

    __slots__ = ("__weakref__", "_closed", "_fd", "_flags", "_place", "_users", "path")

    def __init__(self, path: Path, flags: int) -> None:
        self.path = path
        self._flags = flags
        self._fd = -1
        self._place: Place | None = None  # set by the first use
        self._users = 0
        self._closed = False

    def __enter__(self) -> int:
        with _lock:
            if self._closed:
                raise ClosedError(f"{self.path} was closed: open the store again")
            if self._fd < 0:
                self._fd = open_file(self.path, self._flags)
                self._check_same()
            _idle.pop(self, None)
            self._users += 1
            return self._fd

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with _lock:
            self._users -= 1
            if self._users or self._closed:
                return
            _idle[self] = None
            while len(_idle) > MOST_IDLE:
                oldest = next(iter(_idle))
                del _idle[oldest]
                oldest._close()

    def _check_same(self) -> None:
        """Note which file was opened, or compare with what was noted."""
        opened = os.fstat(self._fd)
        if self._place is None:
            self._place = Place(self.path, opened)
        try:
            self._place.check_same(opened)
        except StoreMovedError:
            self._close()
            raise

    def check_place(self) -> None:
        """Raise `StoreMovedError` if the file was used, and another one or none has its name."""
        if self._place is not None:
            self._place.check_place()

    @property
    def is_kept(self) -> bool:
        """Whether the file that was used has its name."""
        return self._place is not None and self._place.is_kept

    def close(self) -> None:
        """Close the file for good; the second call does nothing. No thread uses it meanwhile."""
        with _lock:
            self._closed = True
            _idle.pop(self, None)
            self._close()

    def _close(self) -> None:
        """Close the descriptor, and never twice: its number may be another file's by then."""
        fd = self._fd
        self._fd = -1
        if fd >= 0:
            os.close(fd)


_lock = fork.lock()
_idle: dict[PooledFile, None] = {}
"""The files that are open and not in use, the least recently used first."""


class _Inherited:
    """Closes the parent's descriptors in a child."""

    def after_fork(self) -> None:
        for each in list(_idle):
            each._close()
        _idle.clear()


_inherited = _Inherited()
fork.register(_inherited)

"""Putting bytes on a disk so that they are there afterwards, or an error says that they are not.

The ways in which the engine touches a file: write at an offset, flush a file, flush a folder (which
makes a new name durable), replace a small file whole, and add up what a folder holds. Full disks,
quotas, file size limits and failing devices all become `StoreFullError`, which carries ``errno``
and ``filename``.
"""

import contextlib
import errno
import os
import resource
from collections.abc import Iterator
from pathlib import Path

from recollex_engine.errors import StoreFullError, TooManyFilesError

Bytes = bytes | bytearray | memoryview


def open_file(path: Path, flags: int) -> int:
    """Return a descriptor of a file, which programs started by this one do not inherit.

    Raises `TooManyFilesError` where there is none left, else the plain `OSError`.
    """
    with enough_files(path):
        return os.open(path, flags | os.O_CLOEXEC, 0o644)


def read_ahead(path: Path, size: int) -> None:
    """Have the first ``size`` bytes of a file read while the caller does something else.

    Nothing happens where there is no such file, or no way to ask. Cost: 5 us.
    """
    if not hasattr(os, "posix_fadvise"):
        return
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # whoever reads it is told
        return
    try:
        os.posix_fadvise(fd, 0, size, os.POSIX_FADV_WILLNEED)
    finally:
        os.close(fd)


@contextlib.contextmanager
def enough_files(path: Path) -> Iterator[None]:
    """Raise `TooManyFilesError` where the body cannot open another file, ``path`` if none is told.

    An error of that kind is passed on as it is.
    """
    try:
        yield
    except OSError as error:
        if isinstance(error, TooManyFilesError) or error.errno not in (errno.EMFILE, errno.ENFILE):
            raise
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        whose = f"this process may open {most}"
        if error.errno == errno.ENFILE:
            whose = "all processes together have as many open as the system allows"
        message = (
            f"cannot open another file: {whose}; close stores or agents that are not needed, or "
            "raise the limit (ulimit -n)"
        )
        raise TooManyFilesError(error.errno, message, str(error.filename or path)) from error


def store_full(error: OSError, path: Path, what: str) -> StoreFullError:
    """Return the error to raise for a write that the operating system refused.

    ``what`` completes "cannot ...", for instance "append 512 bytes to the log".
    """
    reason = error.strerror or str(error)
    advice = "retry" if isinstance(error, TooManyFilesError) else "free space and retry"
    message = f"cannot {what}: {reason}; nothing of this call was stored: {advice}"
    return StoreFullError(error.errno, message, str(path))


def write_at(fd: int, data: Bytes, offset: int, path: Path) -> None:
    """Write all of ``data`` at ``offset``, or raise `StoreFullError`.

    After the error some of the bytes may lie in the file: the caller counts none of them.
    ``data`` is of single bytes; ``path`` is only for the message. One system call, unless the
    system accepts fewer bytes.
    """
    rest = memoryview(data)
    size = len(rest)
    try:
        while len(rest):
            written = os.pwrite(fd, rest, offset)
            rest = rest[written:]
            offset += written
    except OSError as error:
        raise store_full(error, path, f"write {size} bytes") from error


def flush(fd: int) -> None:
    """Return once the file's bytes and its length are on the disk; raises the plain `OSError`."""
    if hasattr(os, "fdatasync"):
        os.fdatasync(fd)
    else:  # macOS
        os.fsync(fd)


def flush_folder(folder: Path) -> None:
    """Return once the names of the folder's files are on the disk."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def replace_file(path: Path, *parts: Bytes, durable: bool = True) -> None:
    """Make ``path`` hold exactly ``parts``; whoever opens it sees all old or all new.

    Written beside as ``<name>.tmp``, flushed, renamed over. ``durable=False`` leaves out the
    flushes: still all or nothing for other processes, though not for a machine that loses power.
    """
    temporary = path.with_name(path.name + ".tmp")
    try:
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        try:
            offset = 0
            for part in parts:
                write_at(fd, part, offset, temporary)
                offset += memoryview(part).nbytes
            if durable:
                flush(fd)
        finally:
            os.close(fd)
        temporary.rename(path)
        if durable:
            flush_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, StoreFullError):
            raise
        raise store_full(error, path, f"replace {path.name}") from error


def bytes_in(folder: Path) -> int:
    """Return the size of all files below a folder; one that vanishes meanwhile counts nothing."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(FileNotFoundError):  # a checkpoint renames what it has made
                total += Path(place, name).stat().st_size
    return total

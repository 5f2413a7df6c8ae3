"""Writing to disk: either the bytes are durable, or an error is raised.

The file operations of the engine: write at an offset, flush a file, flush a folder (which makes a
new file name durable), write a file from its beginning, replace a small file atomically, and add up
the sizes in a folder. Full disks, quotas, file size limits and failing devices all become
`StoreFullError`, which carries ``errno`` and ``filename``.

Each of them is a call of `os`, and so are the engine's renames and removals. The tests record these
calls and make every state that a crash could leave of them (tests/faults/recorder.py).

A new store is its owner's alone: its folders have mode 0700, its files 0600. What is made in a
folder has the permissions of that folder, so `chmod -R g+rX STORE` gives a store to a group for
reading, and what is written later too.
"""

import contextlib
import errno
import fcntl
import os
import resource
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from recollex_engine.errors import (
    AccessError,
    CorruptError,
    RecollexError,
    StoreFullError,
    TooManyFilesError,
)

Bytes = bytes | bytearray | memoryview
UNFINISHED = ".tmp"
"""How the name of a file ends that is being written, and will be renamed."""
_CHUNK = 1 << 20


def open_file(path: Path, flags: int, mode: int | None = None) -> int:
    """Return a descriptor of a file; programs started by this one do not inherit it.

    A file that is made has ``mode``, or may be read and written by those who may do so with its
    folder. A link is not followed where the file may be written: it could lead to any file. Raises
    the errors of `system_errors`, otherwise the plain `OSError`.
    """
    with system_errors(path):
        if flags & (os.O_WRONLY | os.O_RDWR):
            flags |= os.O_NOFOLLOW
        if mode is None:
            mode = permissions(path.parent) & 0o666 if flags & os.O_CREAT else 0
        return os.open(path, flags | os.O_CLOEXEC, mode)


def permissions(path: Path) -> int:
    """Return the nine bits of a file's mode that say who may read, write and execute it."""
    return path.stat().st_mode & 0o777


def read_ahead(path: Path, size: int) -> None:
    """Ask the system to read the first ``size`` bytes of a file ahead, in the background.

    Does nothing where the file does not exist or the system has no readahead. Cost: 5 us.
    """
    if not hasattr(os, "posix_fadvise"):
        return
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # the code that reads the file reports it
        return
    try:
        os.posix_fadvise(fd, 0, size, os.POSIX_FADV_WILLNEED)
    finally:
        os.close(fd)


class system_errors:  # noqa: N801 - read as a verb: `with system_errors(path):`
    """Turn errors of the system in the body into errors of recollex.

    No descriptor left: `TooManyFilesError`. No permission, or a read-only disk: `AccessError`. A
    folder in place of a file, a file in place of a folder, or bytes that cannot be read:
    `CorruptError`. They name the file that the system named, or ``path``. All others are passed on.
    Cost: 0.2 us.
    """

    __slots__ = ("_path",)

    def __init__(self, path: Path | str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, OSError) and (ours := _translated(error, self._path)) is not None:
            raise ours from error


def _translated(error: OSError, path: Path | str) -> RecollexError | None:
    """Return the error of recollex for one of the system; None to pass it on."""
    if isinstance(error, RecollexError):
        return None
    place = Path(os.fsdecode(error.filename or path))
    if error.errno in REFUSED:
        return access_refused(error, place)
    if error.errno in _NOT_A_FILE:
        met = "a folder" if error.errno == errno.EISDIR else error.strerror
        found = f"{met}: move it away, or put the file back from a copy"
        return CorruptError(place, _NOT_A_FILE[error.errno], found)
    if error.errno not in (errno.EMFILE, errno.ENFILE):
        return None
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    whose = f"this process may open {most}"
    if error.errno == errno.ENFILE:
        whose = "all processes together have as many open as the system allows"
    message = (
        f"cannot open another file: {whose}; close stores or agents that are not needed, or "
        "raise the limit (ulimit -n)"
    )
    return TooManyFilesError(error.errno, message, str(error.filename or path))


REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS)
_NOT_A_FILE = {
    errno.EISDIR: "a file",
    errno.ENODEV: "a file",
    errno.ENOTDIR: "a folder",
    errno.EEXIST: "a folder",
    errno.ELOOP: "a file",
    errno.EIO: "bytes that can be read",
}


def access_refused(error: OSError, path: Path, what: str = "") -> AccessError:
    """Return the error to raise where the system does not let this process use a file."""
    reason = error.strerror or str(error)
    advice = "open the store with read_only=True, or let the disk be written to"
    if error.errno != errno.EROFS:
        advice = "let this user read and write the store (chown, chmod)"
    message = f"cannot {what or 'open a file'}: {reason}; nothing was changed: {advice}"
    return AccessError(error.errno, message, str(path))


def store_full(error: OSError, path: Path, what: str) -> StoreFullError:
    """Return the error to raise for a write that the operating system refused.

    ``what`` completes "cannot ...", for instance "append 512 bytes to the log".
    """
    if error.errno in REFUSED:
        return access_refused(error, path, what)
    reason = error.strerror or str(error)
    advice = "retry" if isinstance(error, TooManyFilesError) else "free space and retry"
    message = f"cannot {what}: {reason}; nothing of this call was stored: {advice}"
    return StoreFullError(error.errno, message, str(path))


def write_at(fd: int, data: Bytes, offset: int, path: Path) -> None:
    """Write all of ``data`` at ``offset``, or raise `StoreFullError`.

    After the error some of the bytes may be in the file; the caller counts none of them. The items
    of ``data`` are single bytes; ``path`` is only for the message. Cost: one system call, or more
    where the system accepts fewer bytes at once.
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


def flush_file(path: Path) -> None:
    """Return once the bytes of a file are on the disk; do nothing if there is none."""
    try:
        fd = open_file(path, os.O_RDWR)
    except FileNotFoundError:
        return
    try:
        flush(fd)
    finally:
        os.close(fd)


def flush_folder(folder: Path) -> None:
    """Return once the names of the folder's files are on the disk."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def flush_tree(folder: Path) -> None:
    """Return once the files below ``folder`` and their names are on the disk.

    A file that cannot be opened raises the errors of `open_file`, a flush the plain `OSError`.
    Cost: a flush for each file and folder.
    """
    for place, _, names in os.walk(folder):
        for name in names:
            flush_file(Path(place, name))
        flush_folder(Path(place))


class FolderFlush:
    """Flushes folders once, whose names an earlier process, or a failed call, may not have flushed.

    Threads: one at a time.
    """

    def __init__(self, *folders: Path) -> None:
        self._folders = folders

    @property
    def is_done(self) -> bool:
        """Whether the names are on the disk."""
        return not self._folders

    def flush(self) -> None:
        """Return once the names in the folders are on the disk; a second call does nothing.

        Raises the plain `OSError`; then the next call flushes.
        """
        for folder in self._folders:
            flush_folder(folder)
        self._folders = ()


class FileSink:
    """A new file, for `with`; there is nothing of its name.

    Each write is one call of the system. The bytes are not durable before `sync`.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "words"
    >>> with FileSink(path) as sink:
    ...     sink.write(b"tea")
    3
    >>> path.read_bytes()
    b'tea'
    """

    def __init__(self, path: Path, mode: int | None = None) -> None:
        self.path = path
        self.size = 0
        self._fd = open_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)

    def write(self, data: Bytes) -> int:
        """Append bytes and return how many; raises `StoreFullError`."""
        count = memoryview(data).nbytes
        write_at(self._fd, memoryview(data).cast("B"), self.size, self.path)
        self.size += count
        return count

    def flush(self) -> None:
        """Do nothing: no bytes are held back."""

    def sync(self) -> None:
        """Return once the bytes are on the disk; raises the plain `OSError`."""
        flush(self._fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # a later write is refused; its number may be another file's
        fd = self._fd
        self._fd = -1
        os.close(fd)


class Replacement(FileSink):
    """A file that takes the place of another, or of none, once it is whole; for `with`.

    Until `take_place` it has a random name beside ``target``, at which nobody can have put a link.
    Without that call it is removed. It is locked, so `unfinished` knows what a dead process left.
    """

    def __init__(self, target: Path, mode: int | None = None) -> None:
        self.target = target
        self._has_taken_place = False
        while True:
            super().__init__(unfinished_path(target), mode)
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(self._fd, fcntl.LOCK_EX)
            if os.fstat(self._fd).st_nlink:  # else it was taken for one that was left
                return
            os.close(self._fd)

    def take_place(self) -> None:
        """Rename the file to its target, which is replaced. Raises the plain `OSError`."""
        self.path.rename(self.target)
        self._has_taken_place = True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, trace)
        if not self._has_taken_place:
            with contextlib.suppress(OSError):
                self.path.unlink()


def unfinished_path(path: Path) -> Path:
    """Return a random path beside ``path``, for a file that will be renamed to it."""
    return path.with_name(f"{path.name}.{os.urandom(8).hex()}{UNFINISHED}")


def make_folder(path: Path, *, private: bool = False) -> None:
    """Make a folder, and those above it that are missing; their names are on the disk afterwards.

    They have the permissions of the folder above them, or 0700 if ``private``. Does nothing where
    the folder exists. Cost: a flush for each folder that is made.
    """
    try:
        path.mkdir(0o700 if private else permissions(path.parent))
    except FileExistsError:
        if not path.is_dir():
            raise
        return
    except FileNotFoundError:
        if path.parent.exists():  # as /proc, where no folder can be made
            raise
        make_folder(path.parent, private=private)
        make_folder(path, private=private)
        return
    try:
        flush_folder(path.parent)
    except OSError:  # else the next call would take it for durable
        with contextlib.suppress(OSError):
            path.rmdir()
        raise


def temporary_folder(parent: Path, prefix: str) -> Path:
    """Make a folder with a name of its own in ``parent``; raises the errors of `system_errors`."""
    with system_errors(parent):
        return Path(tempfile.mkdtemp(prefix=prefix, dir=parent))


def copy_file(source: Path, target: Path) -> None:
    """Write the bytes of ``source`` to ``target``; they are not durable yet."""
    with source.open("rb") as file, FileSink(target) as sink:
        while chunk := file.read(_CHUNK):
            sink.write(chunk)


def replace_file(
    path: Path, *contents: Bytes, durable: bool = True, mode: int | None = None
) -> None:
    """Replace the content of ``path`` with ``contents``, joined; readers see all old or all new.

    ``durable=False`` leaves out the flushes: the change is still atomic for other processes, but
    not when the machine loses power. ``mode``: of the new file, see `open_file`.
    """
    try:
        with Replacement(path, mode) as file:
            for content in contents:
                file.write(content)
            if durable:
                file.sync()
            file.take_place()
        if durable:
            flush_folder(path.parent)
    except OSError as error:
        if isinstance(error, StoreFullError):
            raise
        raise store_full(error, path, f"replace {path.name}") from error


def bytes_in(folder: Path) -> int:
    """Return the size of all files below a folder; files that vanish meanwhile count 0."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(FileNotFoundError):  # a checkpoint renames its files
                total += Path(place, name).stat().st_size
    return total

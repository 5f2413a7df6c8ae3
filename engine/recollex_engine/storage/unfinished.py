"""Files and folders that are not whole yet, and what may be in a folder that a writer owns.

::

    .new-<letters>             in a store's folder: an agent that is copied there
    .recollex-new-<letters>    beside a store's folder: a store that is restored
    .<name>.<letters>.tmp      beside an exported folder of that name

Its process holds a lock of it (flock), which ends with the process. So what can be locked may be
removed: openings of a store for writing, deletions, erasures and the next copy do so, and for an
export the next one of that name.

What may be in a folder that one writer has to itself? Its own files: no link, nothing half done.
A folder may have been made by somebody else: unpacked from an archive, or found under a name in a
shared folder. What is written through a link there would reach any file of the user.
"""

import contextlib
import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from recollex_engine.errors import CorruptError
from recollex_engine.storage.disk import UNFINISHED, temporary_folder


def check_own_files(folder: Path) -> None:
    """Raise `CorruptError` for anything below a folder that is neither a file nor a folder.

    Removes what is unfinished. For the holder of the folder's lock. Cost: 60 us for a folder with
    100 files.
    """
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                with contextlib.suppress(FileNotFoundError):
                    check_own_files(Path(entry.path))
            elif entry.name.endswith(UNFINISHED):
                _remove(Path(entry.path))
            elif not entry.is_file(follow_symlinks=False):
                found = "a link or a device, through which other files would change: remove it"
                raise CorruptError(Path(entry.path), "a file of the agent's own", found)


def remove_unfinished_files(folder: Path) -> None:
    """Remove what processes that died were writing below a folder; see `disk.Replacement`.

    What a process that lives is writing is locked, and stays. A link is removed, and what it leads
    to stays. What cannot be removed stays. Cost: 10 us for each folder.
    """
    for place, _, names in os.walk(folder):
        for name in names:
            if name.endswith(UNFINISHED):
                _remove(Path(place, name))


def remove_unfinished_of(path: Path) -> None:
    """Remove what processes that died were writing to take the place of a file."""
    with contextlib.suppress(OSError):
        for name in os.listdir(path.parent):  # noqa: PTH208 - names alone
            if name.startswith(f"{path.name}.") and name.endswith(UNFINISHED):
                _remove(path.with_name(name))


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):  # another process was faster, or writes it
        if path.is_symlink():
            path.unlink()
            return
        fd = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
        finally:
            os.close(fd)


INSIDE = ".new-"
BESIDE = ".recollex-new-"


@contextmanager
def unfinished_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """Yield a new folder in ``parent``; it is removed unless the body has renamed it.

    ``prefix``: `INSIDE` or `BESIDE`.
    """
    while True:
        folder = temporary_folder(parent, prefix)
        with suppress(FileNotFoundError):  # another process took it for one that was left
            lock = lock_unfinished(folder)
            if lock is not None:
                break
    try:
        yield folder
    finally:
        try:
            with suppress(FileNotFoundError):
                shutil.rmtree(folder)
        finally:
            os.close(lock)


def left_unfinished(parent: Path, prefix: str, suffix: str = "") -> Iterator[Path]:
    """Yield what killed processes left in ``parent``; each is locked meanwhile."""
    try:
        found = os.listdir(parent)  # noqa: PTH208 - names alone
    except OSError:
        return
    names = [name for name in found if name.startswith(prefix) and name.endswith(suffix)]
    for name in sorted(names):
        lock = None
        with suppress(OSError):
            lock = lock_unfinished(parent / name, for_removal=True)
        if lock is not None:
            try:
                yield parent / name
            finally:
                os.close(lock)


def remove_unfinished(store: Path) -> None:
    """Remove what killed copies left in a store's folder and beside it, as far as possible."""
    for parent, prefix in ((store, INSIDE), (store.absolute().parent, BESIDE)):
        for folder in left_unfinished(parent, prefix):
            shutil.rmtree(folder, ignore_errors=True)


def lock_unfinished(path: Path, *, for_removal: bool = False) -> int | None:
    """Return a descriptor of a folder or file that holds its lock; None if another one does.

    Where the file system has no locks, it is made without one, and nothing is removed.
    """
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    held = False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        held = os.path.samestat(os.fstat(fd), path.lstat())
    except FileNotFoundError:
        pass
    except OSError as error:
        held = not for_removal and error.errno not in (errno.EWOULDBLOCK, errno.EACCES)
    finally:
        if not held:
            os.close(fd)
    return fd if held else None

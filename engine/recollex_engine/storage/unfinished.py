"""What grows under another name until it is whole. A killed process leaves it.

::

    .new-<letters>             in a store's folder: an agent that is copied there
    .recollex-new-<letters>    beside a store's folder: a store that is restored
    .<name>.<letters>.tmp      beside an exported folder of that name

Its process holds a lock of it (flock), which ends with the process. So what can be locked may be
removed: openings of a store for writing, deletions, erasures and the next copy do so, and for an
export the next one of that name.
"""

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from recollex_engine.storage.disk import temporary_folder

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

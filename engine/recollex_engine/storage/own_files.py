"""What may be in a folder that one writer has to itself? Its own files: no link, nothing half done.

A folder may have been made by somebody else: unpacked from an archive, or found under a name in a
shared folder. What is written through a link there would reach any file of the user.
"""

import contextlib
import fcntl
import os
from pathlib import Path

from recollex_engine.errors import CorruptError
from recollex_engine.storage.disk import UNFINISHED


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


def remove_unfinished(folder: Path) -> None:
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

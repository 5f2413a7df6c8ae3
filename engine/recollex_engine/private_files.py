"""Caches that are run as code, so they are trusted only where no other user can write them.

::

    <cache>                                  RECOLLEX_CACHE, or ~/.cache/recollex
    <temporary folder>/recollex-<user id>    after a warning, where others own that or can write it

A folder or file counts as private if this user or root owns it and nobody else may write it. What
is made here has the modes 0700 and 0600 whatever the umask.
"""

import os
import stat
import warnings
from pathlib import Path

_OF_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def cache_folder(name: str) -> Path | None:
    """Return the path of a folder in the cache; None without a home, or a place that is private.

    The folder may not exist yet: see `make_folder`.
    """
    try:
        home = Path(os.environ.get("RECOLLEX_CACHE") or Path.home() / ".cache" / "recollex")
    except RuntimeError:
        return None
    folder = home.absolute() / name
    why = exposure(home) or exposure(folder)
    if why is None:
        return folder
    import tempfile  # slow to import, and rarely needed

    home = Path(tempfile.gettempdir()).absolute() / f"recollex-{os.geteuid()}"
    instead = home / name
    private = exposure(home) is None and exposure(instead) is None
    warn(f"{why} Meanwhile {f'{home} is used' if private else 'no cache is used'}.")
    return instead if private else None


def exposure(path: Path) -> str | None:
    """Return who else could change a file or folder, and the remedy; None if it is private.

    Its parents may be of others, but one that everyone may write must be sticky, as /tmp is. What
    does not exist is private. Cost: two calls of `lstat` for each parent.
    """
    for place in dict.fromkeys((path.absolute(), Path(os.path.realpath(path)))):
        for each in (place, *place.parents):
            try:
                status = each.lstat()
            except OSError:
                continue
            if each == place and (why := _exposure(place, status)) is not None:
                return why
            open_to_all = status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX
            if open_to_all and not stat.S_ISLNK(status.st_mode):
                return f"{path} is not read, because anyone may write in {each}: {_chmod(each)}"
    return None


def make_folder(path: Path) -> None:
    """Make a folder and its missing parents, if need be.

    Raises `OSError`, also if the folder is there and not private.
    """
    for each in (*reversed(path.parents), path):
        if not each.exists():
            each.mkdir(mode=0o700, exist_ok=True)  # another process may be faster
            if each.stat().st_uid == os.geteuid():
                each.chmod(0o700)  # the umask may have taken the owner's own rights
    if (why := exposure(path)) is not None:
        raise PermissionError(why)


def write(path: Path, content: bytes) -> None:
    """Write a new file. Raises `OSError`; follows no link."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(content)


def read(path: Path) -> bytes:
    """Return the content of a private file. Raises `OSError`, after a warning if it is of others.

    Follows no link, and looks at the very file that it reads.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        why = _exposure(path, status)
        if why is None and stat.S_ISREG(status.st_mode):
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                return file.read()
    finally:
        os.close(descriptor)
    if why is not None:
        warn(why)
    raise PermissionError(why or f"{path} is no file")


def warn(why: str) -> None:
    """Warn of a cache that is not read."""
    warnings.warn(why, RuntimeWarning, stacklevel=3)


def _exposure(path: Path, status: os.stat_result) -> str | None:
    """Return what `exposure` does, of the file or folder itself."""
    if status.st_uid not in (0, os.geteuid()):
        return (
            f"{path} is not read, because user {status.st_uid} owns it and this is user "
            f"{os.geteuid()}: remove it, or set RECOLLEX_CACHE to a folder of your own."
        )
    if status.st_mode & _OF_OTHERS and not stat.S_ISLNK(status.st_mode):
        return f"{path} is not read, because other users may write it: {_chmod(path)}"
    return None


def _chmod(path: Path) -> str:
    return f"where you trust what it holds, type chmod go-w {path}; else remove it."

"""Which target does a path or an address name? A folder, or a bucket of an object store."""

import os
from pathlib import Path

from recollex_engine.backup.target import FolderTarget, Target
from recollex_engine.errors import InputError


def open_target(given: str | os.PathLike[str]) -> Target:
    """Return the target at a path.

    Raises `InputError` for a file, or for anything that is no path.
    """
    if not isinstance(given, str | os.PathLike) or not isinstance(os.fspath(given), str):
        raise InputError(f"a backup is in a folder, got {type(given).__name__}")
    text = os.fspath(given)
    if not text:
        raise InputError('the path of the backup is empty: write "." for the folder you are in')
    folder = Path(text)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file: a backup is a folder")
    return FolderTarget(folder)

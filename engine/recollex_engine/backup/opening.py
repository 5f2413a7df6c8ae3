"""Which target does a path or an address name? A folder, or a bucket of an object store."""

import os
from pathlib import Path
from typing import Any, Protocol, TypeAlias
from urllib.parse import unquote, urlsplit

from recollex_engine.backup.object_store import ObjectStoreTarget
from recollex_engine.backup.target import FolderTarget, Target
from recollex_engine.errors import InputError


class ObjectStore(Protocol):
    """An object of `obstore.store`, for credentials that the environment does not have."""

    def head(self, path: str) -> Any:
        """Return what is known of one object."""


BackupPlace: TypeAlias = str | os.PathLike[str] | ObjectStore
"""Where a backup is: a folder, an address such as s3://bucket/prefix, or an object store."""


def open_target(given: BackupPlace) -> Target:
    """Return the target at a path, an address, or of an object of `obstore.store`.

    An address is s3://, gs:// or az:// with a bucket and a prefix, or file:// with a path. Raises
    `InputError` for a file, for an address of another form, and without obstore.
    """
    if type(given).__module__.split(".")[0] == "obstore":
        return ObjectStoreTarget(given, repr(given))
    if not isinstance(given, str | os.PathLike) or not isinstance(os.fspath(given), str):
        raise InputError(f"a backup is in a folder or at an address, got {type(given).__name__}")
    text = os.fspath(given)
    if not text:
        raise InputError('the path of the backup is empty: write "." for the folder you are in')
    if "://" in text:
        parts = urlsplit(text)
        if parts.scheme != "file":
            return ObjectStoreTarget.at(text)
        text = unquote(parts.path)
    folder = Path(text)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file: a backup is a folder")
    return FolderTarget(folder)

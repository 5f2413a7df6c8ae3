"""Which recollex reads a file that this one does not know? The store says who wrote it last.

::

    store.json      {"recollex_store": 1, "written_by": "0.1.0"}

``written_by`` is the newest version that has opened an agent of the store for writing. It is noted
before that version writes anything, so a store with a file of a newer format names that version.
"""

from pathlib import Path

import orjson

from recollex_engine.errors import FormatError

VERSION = "0.1.0"
"""The version of recollex."""
STORE = "store.json"

_DEPTH = 6  # folders between a file and its store, at most


def unknown_format(path: Path | None, found: object, known: object, what: str = "") -> FormatError:
    """Return the error for a file of a format that this version does not read.

    ``path``: the file, if it is known. ``known``: the format or formats that are read. ``what``:
    the name of the thing, if it is not the path.
    """
    return FormatError(
        f"{what or path} has format {found}, this recollex ({VERSION}) reads format {known}: "
        f"{remedy(path)}"
    )


def remedy(path: Path | None) -> str:
    """Return what to install to read a file of a newer format."""
    folders = () if path is None else path.parents[:_DEPTH]
    newest = next(filter(None, map(writer_of, folders)), VERSION)
    if numbers(newest) > numbers(VERSION):
        return f"pip install 'recollex>={newest}'"
    return "pip install --upgrade recollex"


def writer_of(store: Path) -> str | None:
    """Return the newest version that has written a store; None if the folder does not say."""
    try:
        said = orjson.loads((store / STORE).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return None
    version = said.get("written_by") if isinstance(said, dict) else None
    return version if isinstance(version, str) and numbers(version) else None


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, for comparing; () if the text is not a version.

    >>> numbers("0.10.2") > numbers("0.9")
    True
    """
    parts = version.split(".")
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        return ()
    return tuple(map(int, parts))

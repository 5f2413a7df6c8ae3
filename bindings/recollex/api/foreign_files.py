"""Files that another program wrote: regular files, no links in a folder, read within bounds.

Whoever made a file may have made it to harm its reader: an archive of a megabyte that unpacks to
gigabytes, JSON nested a hundred thousand levels deep, a link to a file outside the folder, a pipe
that never ends. Every reader of such files asks here.
"""

import json
import lzma
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from recollex_engine.errors import InputError

MOST_BYTES = 1 << 30
"""Limit of a file that is read whole, and of all files of an archive together, unpacked."""
MOST_FILES = 100_000
"""Limit of the files of an archive."""
MOST_TIMES = 200
"""Limit of how many times its packed size a file of an archive takes, from `_SMALL` bytes on."""
_SMALL = 1 << 24
_NOT_UNPACKED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError)
"""What `zipfile` raises for a file that is damaged, encrypted or packed in an unknown way."""


@contextmanager
def errors_of(name: str) -> Iterator[None]:
    """Let errors name a file. No file raises RecursionError, however deeply it is nested."""
    try:
        yield
    except (InputError, zipfile.BadZipFile) as error:
        raise InputError(f"{name}: {error}") from error
    except RecursionError as error:
        raise InputError(f"{name}: it is nested too deeply") from error


def check_regular(path: Path) -> None:
    """Raise `InputError` for a pipe, socket or device, and `OSError` for what cannot be found."""
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise InputError(
            "it is a pipe, a socket or a device: give a regular file, or an open stream"
        )


def is_regular(path: Path) -> bool:
    """Return whether a path in a folder is a regular file: no link, pipe or device."""
    return stat.S_ISREG(path.lstat().st_mode)


def check_inside(path: Path) -> None:
    """Raise `InputError` for a file in a folder that is no regular one."""
    if not is_regular(path):
        raise InputError(f"{path.name} is a link, a pipe or a device: give a regular file")


def text_of(file: Traversable) -> str:
    """Return the text of a file in a folder or an archive. Raises `InputError`."""
    if isinstance(file, Path):
        check_inside(file)
        check_bytes(file.stat().st_size, file.name)
    try:
        return file.read_text(encoding="utf-8")
    except _NOT_UNPACKED as error:
        raise InputError(f"{file.name} cannot be unpacked: {error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file.name} is no text in UTF-8: {error}") from error


def check_bytes(size: int, name: str) -> None:
    """Raise `InputError` for a file that is too large to be read whole."""
    if size > MOST_BYTES:
        raise InputError(
            f"{name} takes {size:,} bytes, and up to {MOST_BYTES:,} are read: divide it"
        )


def bounded(lines: Iterable[str], name: str) -> Iterator[str]:
    """Yield lines that are read whole. Raises `InputError` where they are too many characters."""
    size = 0
    for line in lines:
        size += len(line)
        check_bytes(size, name)
        yield line


def opened_archive(path: Path) -> zipfile.ZipFile:
    """Return a ZIP archive all of whose files can be read within bounds. Raises `InputError`."""
    archive = zipfile.ZipFile(path)
    files = archive.infolist()
    if len(files) > MOST_FILES:
        raise InputError(f"the archive has {len(files):,} files, and may have {MOST_FILES:,}")
    for each in files:
        if each.file_size > max(_SMALL, MOST_TIMES * each.compress_size):
            raise InputError(
                f"{each.filename} unpacks from {each.compress_size:,} to {each.file_size:,} bytes: "
                f"up to {MOST_TIMES} times the packed size are read"
            )
    check_bytes(sum(each.file_size for each in files), "the unpacked archive")
    return archive


def parse_json(text: str, name: str = "") -> Any:
    """Return the value of a JSON text. Raises `InputError`, which begins with ``name``.

    Use this for every text that this process has not written itself: `json.loads` raises
    RecursionError for one that is nested too deeply.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise InputError(f"{name and f'{name} is '}not JSON: {why}") from error


def is_json(text: str) -> bool:
    """Return whether a text is a JSON object or list as a whole."""
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        parse_json(text)
    except InputError:
        return False
    return True

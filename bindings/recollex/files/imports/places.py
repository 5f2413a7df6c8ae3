"""Formats of folders, archives and files that are no text, each found and read by its path."""

import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from recollex.api.foreign_files import opened_archive, parse_json, text_of
from recollex.files.imports import markdown, mbox, parquet_file, pdf, slack
from recollex.files.imports.reading import Object, Reading
from recollex_engine.errors import InputError


@dataclass(frozen=True, slots=True)
class Place:
    """A format of a path. matches: whether it is of the format. count: its objects, if known."""

    matches: Callable[[Any], bool]
    read: Callable[[Any, Reading], Iterator[Object]]
    count: Callable[[Path], int] | None = None


PLACES: dict[str, Place] = {
    "parquet": Place(parquet_file.matches, parquet_file.read, parquet_file.count),
    "mbox": Place(mbox.matches, mbox.read),
    "slack": Place(slack.matches, slack.read),
    "markdown": Place(markdown.matches, markdown.read),
    "pdf": Place(pdf.matches, pdf.read),
}
"""Format -> how it is read. The first that matches is taken, so a folder of both is Markdown."""
_CONVERSATIONS = "conversations"
_BESIDE = ("projects.json", "memories.json")
"""What stands in Claude's archive beside the conversations."""


def inside(path: Path) -> Any:
    """Return a folder, or what a ZIP archive holds as one; other paths as they are.

    Where there is one folder alone at the top of an archive, that is it.
    """
    if path.is_dir() or not zipfile.is_zipfile(path):
        return path
    root: Any = zipfile.Path(opened_archive(path))
    found = [each for each in root.iterdir() if each.name != "__MACOSX"]
    if len(found) == 1 and found[0].is_dir():
        return found[0]
    return root


def conversations(root: Traversable) -> list[Any] | None:
    """Return what the files of ChatGPT's or Claude's unpacked export hold; None if it is none.

    A large export of ChatGPT has several files: ``conversations-000.json`` and so on.
    """
    names = {each.name for each in root.iterdir() if each.is_file()}
    first = sorted(n for n in names if n.startswith(_CONVERSATIONS) and n.endswith(".json"))
    if not first:
        return None
    found: list[Any] = []
    for name in (*first, *(each for each in _BESIDE if each in names)):
        content = parse_json(text_of(root / name), name)
        found += content if isinstance(content, list) else [content]
    return found


def place_of(path: Path, root: Any, format: str | None) -> str | None:
    """Return the format of a path, or of the ``root`` in an archive; None if it is a file of text.

    format: what a caller named. Raises `InputError` for what cannot be read.
    """
    is_archive = root is not path
    if format in PLACES:
        if is_archive and format != "slack":
            raise InputError(f"{format} is not read from a ZIP archive: unpack it")
        return format
    for name, place in PLACES.items() if format is None else ():
        if (name == "slack" or not is_archive) and place.matches(root):
            return name
    if is_archive:
        raise InputError(f"it is a ZIP archive of no known format: {_KNOWN}; unpack it")
    if path.is_dir():
        raise InputError(f"it is a folder of no known format: {_KNOWN}, {_FOLDERS}; give a file")
    return None


_KNOWN = "known are exports of ChatGPT, Claude and Slack"
_FOLDERS = "files of Markdown or PDF"

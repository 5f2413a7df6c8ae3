"""Opens what another program wrote, a file, a folder or an archive, as a `SourceFile`."""

import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

from recollex.api.foreign_files import (
    bounded,
    check_regular,
    is_json,
    opened_archive,
    parse_json,
    text_of,
)
from recollex.files.imports.formats import Format, Kind, formats, names, of_kind
from recollex.files.imports.reading import FileReading
from recollex.files.jsonl import Line, read_objects
from recollex_engine.domain.operations import Operation
from recollex_engine.errors import InputError

File = str | os.PathLike[str] | TextIO
_LINES = (".jsonl", ".ndjson")
"""How the name of a file of JSON lines ends; its first line alone may look like another format."""
_CONVERSATIONS = "conversations"
_BESIDE = ("projects.json", "memories.json")
"""What stands in Claude's archive beside the conversations."""
_EXAMPLE = (
    'One JSON object a line, such as {"text": "Alice likes tea."}, is read as it is; a note is '
    "retained by recollex retain STORE - < note.txt"
)


@dataclass(slots=True)
class SourceFile:
    """A file that was opened.

    row: its format. reading: what was left out, complete once all has been read. total: the number
    of lines or entries, None if it is not known. lines: each as a line of JSON lines. episodes: of
    a format with facts: the operations of each of its entries; it has no lines then.
    """

    row: Format
    reading: FileReading
    total: int | None
    lines: Iterator[Line]
    episodes: Iterator[list[Operation]] | None = None
    file: TextIO | None = field(default=None, repr=False)

    def close(self) -> None:
        """Close the file, if it was opened here."""
        if self.file is not None:
            self.file.close()


def open_source(file: File, format: str | None, reading: FileReading) -> SourceFile:
    """Open a path, or a stream of text, and find its format if that is None.

    reading: without a document it gets the file's name. Raises `InputError` for a file of no known
    format, and `OSError` for one that cannot be read.
    """
    if format is not None and format not in formats():
        raise InputError(f"format must be one of {names()}, got {format!r}")
    row = None if format is None else formats()[format]
    if not isinstance(file, str | os.PathLike):
        if not reading.document:
            reading.document = "stdin"
            reading.has_name = False
        if row is not None and not row.is_text:
            raise InputError(f"a file of the format {format} is read by its name, not as a stream")
        return _of_text(file, row, reading)
    path = Path(file)
    check_regular(path)
    if not reading.document:
        reading.document = path.name if path.is_dir() else path.stem
    opened = _of_path(path, row, reading)
    if opened is not None:
        return opened
    stream = path.open(encoding="utf-8-sig", newline="")
    try:
        opened = _of_text(stream, row, reading, path)
    except BaseException:
        stream.close()
        raise
    opened.file = stream
    return opened


def _of_path(path: Path, row: Format | None, reading: FileReading) -> SourceFile | None:
    """Return the source of a folder, an archive or a file that is no text; None for a text."""
    root = _inside(path)
    kind: Kind = "archive" if root is not path else "folder" if path.is_dir() else "file"
    if row is not None and kind not in row.kinds and (kind != "file" or not row.is_text):
        what = "a ZIP archive: unpack it" if kind == "archive" else f"a {kind}"
        raise InputError(f"{row.name} is not read from {what}")
    if kind != "file" and (row is None or "json" in row.kinds):
        content = _conversations(root)
        if content is not None:
            return _of_json(content, row, reading)
    for each in [row] if row is not None else of_kind(kind):
        if kind in each.kinds and "json" not in each.kinds and (row or each.matches(root)):
            total = None if each.count is None else each.count(path)
            return _source(each, root, reading, total)
    if kind == "file":
        return None
    known = ", ".join(each.name for each in of_kind(kind))
    what = "a ZIP archive" if kind == "archive" else "a folder"
    way = "unpack it" if kind == "archive" else "give a file"
    raise InputError(f"it is {what} of no known format: known are {known}; {way}")


def _inside(path: Path) -> Any:
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


def _conversations(root: Traversable) -> list[Any] | None:
    """Return what the files of ChatGPT's or Claude's unpacked export hold; None if it is none.

    A large export of ChatGPT has several files: ``conversations-000.json`` and so on.
    """
    file_names = {each.name for each in root.iterdir() if each.is_file()}
    first = sorted(n for n in file_names if n.startswith(_CONVERSATIONS) and n.endswith(".json"))
    if not first:
        return None
    found: list[Any] = []
    for name in (*first, *(each for each in _BESIDE if each in file_names)):
        content = parse_json(text_of(root / name), name)
        found += content if isinstance(content, list) else [content]
    return found


def _of_text(
    stream: TextIO, row: Format | None, reading: FileReading, path: Path | None = None
) -> SourceFile:
    """Return the source of a stream of text; ``path``: that of the stream, if it has one."""
    try:
        skipped, first = _first_line(stream)
        lines = chain(skipped, [first], stream)
        if row is None:
            named = path is not None and path.suffix in _LINES
            kinds: tuple[Kind, ...] = ("lines",) if named else ("lines", "text")
            row = next((each for each in of_kind(*kinds) if each.matches(first)), None)
            row = formats()["jsonl"] if row is None and named else row
        if row is not None and "lines" in row.kinds:
            total = None if row.count is None or path is None else row.count(path)
            return _source(row, lines, reading, total)
        text = "".join(bounded(lines, "it"))
    except UnicodeDecodeError as error:
        raise InputError(f"it is no text in UTF-8: {error}") from error
    if row is not None and "text" in row.kinds:
        return _source(row, text, reading, whole=True)
    if row is None and is_json(first) and not is_json(text):
        return _source(formats()["jsonl"], text.splitlines(), reading, whole=True)
    return _of_json(_parsed(text, row), row, reading)


def _of_json(content: Any, row: Format | None, reading: FileReading) -> SourceFile:
    """Return the source of a document of JSON."""
    found = row or next((each for each in of_kind("json") if each.matches(content)), None)
    if found is None:
        raise InputError(f"it is JSON of no known format: known are {names()}. {_EXAMPLE}")
    return _source(found, content, reading, whole=True)


def _source(
    row: Format, given: Any, reading: FileReading, total: int | None = None, whole: bool = False
) -> SourceFile:
    """Return what a format's reader makes of what it is given; whole: all of it at once."""
    made = row.read(given, reading)
    if whole:
        items = list(made)
        total = len(items)
        made = iter(items)
    if row.facts:
        return SourceFile(row, reading, total, iter(()), made)
    if row.name != "jsonl":  # whose lines have numbers of their own
        made = read_objects(made, reading.zone, reading.recorded, reading.stamped, reading.document)
    return SourceFile(row, reading, total, made)


def _first_line(stream: TextIO) -> tuple[list[str], str]:
    """Return the empty lines at the beginning, and the first line that is not."""
    skipped: list[str] = []
    for line in stream:
        if line.strip():
            return skipped, line
        skipped.append(line)
    return skipped, ""


def _parsed(text: str, row: Format | None) -> Any:
    try:
        return parse_json(text)
    except InputError as error:
        if row is not None:
            why = str(error).removeprefix("not JSON: ")
            raise InputError(f"it is not JSON, as {row.name} is: {why}") from error
    number, line = next((n, each) for n, each in enumerate(text.splitlines(), 1) if each.strip())
    raise InputError(
        f"line {number} is not JSON, and no header of a table with a column of "
        f"texts: {line.strip()[:60]!r}; known are {names()}. {_EXAMPLE}"
    )

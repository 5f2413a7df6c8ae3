"""Which format has a text, and what are its lines? The content says it, unless a caller does."""

from collections.abc import Callable, Iterator
from datetime import tzinfo
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

from recollex.api.foreign_files import bounded, parse_json
from recollex.files.imports import (
    calendar_file,
    chatgpt,
    claude,
    csv_file,
    langchain,
    letta,
    markdown,
    mem0,
    triples,
    zep,
)
from recollex.files.imports.reading import Object, Reading, as_dict, as_list
from recollex.files.imports.source import Source, Way
from recollex_engine.domain.operations import Operation
from recollex_engine.errors import InputError

_LINES = (".jsonl", ".ndjson")
"""How the name of a file of JSON lines ends; its first line alone may look like another format."""
Matches = Callable[[Any], bool]


def _objects(content: Any, reading: Reading) -> Iterator[Object]:
    """Yield a list of the objects that JSON lines have, or the ``messages`` of a chat API."""
    found = content if isinstance(content, list) else as_dict(content).get("messages")
    if not isinstance(found, list):
        raise InputError("a file of JSON is a list of objects, or has a list as 'messages'")
    yield from found


def _are_objects(content: Any) -> bool:
    if content == []:
        return True
    found = as_list(content) or as_list(as_dict(content).get("messages"))
    return bool(found) and not as_dict(found[0]).keys().isdisjoint({"text", "content", "role"})


ENTRIES: dict[str, tuple[Matches, Callable[[Any, Reading, tzinfo], Iterator[list[Operation]]]]] = {
    "zep": (zep.matches, zep.read),
}
"""Format -> whether a JSON document is of it, and its reader of entries with facts."""
JSON: dict[str, tuple[Matches, Callable[[Any, Reading], Iterator[Object]]]] = {
    "chatgpt": (chatgpt.matches, chatgpt.read),
    "claude": (claude.matches, claude.read),
    "langchain": (langchain.matches, langchain.read),
    "mem0": (mem0.matches, mem0.read),
    "letta": (letta.matches, letta.read),
    "json": (_are_objects, _objects),
}
"""The same of memories and turns. The first that matches is taken, one with facts before these."""
WITH_FACTS = ("triples", "ics", *ENTRIES)
"""The formats whose entries are memories, facts and events."""
TEXTS = ("jsonl", *sorted(JSON), "csv", *WITH_FACTS)
"""The formats of `of_text`."""


def of_text(
    stream: TextIO,
    format: str | None,
    way: Way,
    document: str | None,
    path: Path | None = None,
) -> Source:
    """Return the source of a stream of text.

    format: None to find it. document: of turns of JSON lines that name none. path: of the stream,
    None for another one; if the source still reads it, it is the source's ``file``.
    """
    try:
        skipped, first = _first_line(stream)
        lines = chain(skipped, [first], stream)
        file = None if path is None else stream
        if format == "triples" or (format is None and _is_triple(first)):
            if _is_object(first):
                read = triples.read_lines(lines, way.reading, way.zone)
            else:
                read = triples.read_table(stream, first, way.reading, way.zone)
            return way.of_entries("triples", read, None, file)
        is_lines = (path is not None and path.suffix in _LINES) or _is_line(first)
        if format == "jsonl" or (format is None and is_lines):
            total = None if path is None else _count(path)
            return way.of_lines(lines, document, total, file)
        text = "".join(bounded(lines, "it"))
    except UnicodeDecodeError as error:
        raise InputError(f"it is no text in UTF-8: {error}") from error
    if format == "ics" or (format is None and first.startswith(calendar_file.OPENING)):
        entries = list(calendar_file.read(text, way.reading, way.zone))
        return way.of_entries("ics", iter(entries), len(entries))
    if format == "markdown" or (format is None and markdown.opens(first)):
        name = way.reading.document
        return way.of_objects("markdown", markdown.read_text(text, name, way.reading), None)
    if format == "csv" or (format is None and csv_file.separator_of(first) and not _is_json(text)):
        objects = list(csv_file.read(text, way.reading))
        return way.of_objects("csv", objects, len(objects))
    if format is None and _is_object(first) and not _is_json(text, whole=True):
        return way.of_lines(text.splitlines(), way.reading.document, None)
    return of_content(_parsed(text, format), format, way)


def of_content(content: Any, format: str | None, way: Way) -> Source:
    """Return the source of a document of JSON. format: None to find it."""
    for name, (is_entries, entries) in ENTRIES.items():
        if format == name or (format is None and is_entries(content)):
            return way.of_entries(name, entries(content, way.reading, way.zone))
    kind = format or next((name for name, (is_it, _) in JSON.items() if is_it(content)), None)
    if kind is None:
        raise InputError(f"it is JSON of no known format: {_HELP}")
    objects = list(JSON[kind][1](content, way.reading))
    return way.of_objects(kind, objects, len(objects))


def _is_triple(first: str) -> bool:
    if _is_object(first):
        return triples.matches(parse_json(first))
    return triples.is_header(first)


_HELP = (
    f"known are {', '.join(TEXTS)}. One JSON object a line, such as "
    '{"text": "Alice likes tea."}, is read as it is; a note is retained by '
    "recollex retain STORE - < note.txt"
)


def _is_json(text: str, whole: bool = False) -> bool:
    """Return whether a text begins as JSON does, or is JSON as a whole."""
    if not whole:
        return text.lstrip()[:1] in ("{", "[")
    try:
        parse_json(text)
    except InputError:
        return False
    return True


def _is_object(line: str) -> bool:
    """Return whether a line is a JSON object by itself."""
    return line.lstrip().startswith("{") and _is_json(line, whole=True)


def _first_line(stream: TextIO) -> tuple[list[str], str]:
    """Return the empty lines at the beginning, and the first line that is not."""
    skipped: list[str] = []
    for line in stream:
        if line.strip():
            return skipped, line
        skipped.append(line)
    return skipped, ""


def _is_line(first: str) -> bool:
    """Return whether a first line is a memory or a turn by itself; so is an empty file."""
    if not first:
        return True
    known = (*ENTRIES.values(), *JSON.values())
    return _is_object(first) and not any(is_it(parse_json(first)) for is_it, _ in known)


def _count(path: Path) -> int:
    """Return the number of lines that are not empty, for the progress bar."""
    with path.open("rb") as file:
        return sum(1 for line in file if not line.isspace())


def _parsed(text: str, format: str | None) -> Any:
    try:
        return parse_json(text)
    except InputError as error:
        if format is not None:
            why = str(error).removeprefix("not JSON: ")
            raise InputError(f"it is not JSON, as {format} is: {why}") from error
    number, line = next((n, each) for n, each in enumerate(text.splitlines(), 1) if each.strip())
    raise InputError(
        f"line {number} is not JSON, and no header of a table with a column of "
        f"texts: {line.strip()[:60]!r}; {_HELP}"
    )

"""JSON lines, and JSON documents that hold a list of their objects; see `files.jsonl`."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from recollex.api.foreign_files import is_json, parse_json
from recollex.files import jsonl
from recollex.files.imports.formats import Format, of_kind
from recollex.files.imports.reading import FileReading, Object, as_dict, as_list
from recollex_engine.errors import InputError


def _is_line(first: str) -> bool:
    """Return whether a first line is a memory or a turn by itself; so is an empty file."""
    if not first:
        return True
    if not first.lstrip().startswith("{") or not is_json(first):
        return False
    content = parse_json(first)
    return not any(each.matches(content) for each in of_kind("json"))


def _read_lines(lines: Iterable[str], reading: FileReading) -> Iterator[jsonl.Line]:
    document = reading.document if reading.has_name else None
    zone = reading.zone
    return jsonl.read(lines, zone, document, reading.recorded, reading.stamped, reading.skip)


def _count(path: Path) -> int:
    """Return the number of lines that are not empty, for the progress bar."""
    with path.open("rb") as file:
        return sum(1 for line in file if not line.isspace())


def _are_objects(content: Any) -> bool:
    if content == []:
        return True
    found = as_list(content) or as_list(as_dict(content).get("messages"))
    return bool(found) and not as_dict(found[0]).keys().isdisjoint({"text", "content", "role"})


def _objects(content: Any, reading: FileReading) -> Iterator[Object]:
    """Yield a list of the objects that JSON lines have, or the ``messages`` of a chat API."""
    found = content if isinstance(content, list) else as_dict(content).get("messages")
    if not isinstance(found, list):
        raise InputError("a file of JSON is a list of objects, or has a list as 'messages'")
    yield from found


FORMATS = (
    Format(
        "jsonl",
        ("lines",),
        "an object a line",
        "memories, and turns of a talk",
        _is_line,
        _read_lines,
        guess=True,
        count=_count,
    ),
    Format(
        "json",
        ("json",),
        "a list of such objects, or `messages` of a chat API",
        "memories, and turns of a talk",
        _are_objects,
        _objects,
        guess=True,
    ),
)

"""Tables, of CSV or Parquet: a row is a memory or a turn, a column one of its fields.

A column that is called as a field of JSON lines is that field, and so are common other names (see
`NAMES`). Every other column goes into the metadata. A row with a speaker and a time, or with a
role, is a turn. A row without an id gets one made of its values, so that reading the file again
adds nothing.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime, time
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from recollex.api.foreign_files import parse_json
from recollex.files.imports.reading import FileReading, Object
from recollex.files.jsonl import MEMORY_FIELDS, TURN_FIELDS
from recollex_engine.domain.fields import FIELDS
from recollex_engine.errors import InputError

NAMES = {
    **dict.fromkeys(("content", "message", "memory", "body"), "text"),
    **dict.fromkeys(("event_at", "timestamp", "created_at", "datetime", "date", "time"), "at"),
    **dict.fromkeys(("author", "sender", "name"), "speaker"),
    **dict.fromkeys(("conversation_id", "session_id", "thread_id", "conversation"), "document_id"),
}
"""Other names of a column -> the field that it is, if no column has the field's own name."""
_FIELDS = MEMORY_FIELDS.keys() | TURN_FIELDS.keys()
_LISTS = tuple(field.name for field in FIELDS if field.form in ("names", "entities"))
_TIMES = ("at", *(field.name for field in FIELDS if field.form == "moment"))


def fields_of(columns: Iterable[str]) -> dict[str, str]:
    """Return column -> field; columns that are none are missing.

    >>> fields_of(["Message", "timestamp", "channel"])
    {'Message': 'text', 'timestamp': 'at'}
    """
    found: dict[str, str] = {}
    folded = {name: name.strip().lower() for name in columns}
    for name, word in folded.items():
        field = "at" if word == "event_at" else word
        if field in _FIELDS - {"content", "name"} and field not in found.values():
            found[name] = field
    for name, word in folded.items():
        field = NAMES.get(word, "")
        if field and name not in found and field not in found.values():
            found[name] = field
    return found


def read_rows(
    columns: list[str], rows: Iterable[Mapping[str, Any]], reading: FileReading
) -> Iterator[Object]:
    """Yield the rows as objects. Raises `InputError` if no column holds the text."""
    fields = fields_of(columns)
    if "text" not in fields.values():
        raise InputError(
            f"a table needs a column 'text' (or content, message, memory, body), got "
            f"{', '.join(columns[:20])}"
        )
    reading.columns = fields | {name: "metadata" for name in columns if name not in fields}
    seen: Counter[str] = Counter()
    for row in rows:
        values = {name: value for name, value in row.items() if not _is_absent(value)}
        if not values:
            continue
        each: Object = {fields[name]: values[name] for name in values if name in fields}
        more = {name: _plain(value) for name, value in values.items() if name not in fields}
        each["metadata"] = _object(each.get("metadata"), reading) | more
        each |= {name: _listed(each[name]) for name in _LISTS if name in each}
        for name in _TIMES:
            if name in each:
                each[name] = reading.time(_number(_plain(each[name])))
        each["text"] = str(each.get("text", ""))
        if "id" in each:
            each["id"] = str(_plain(each["id"]))
        else:
            written = json.dumps(values, sort_keys=True, default=str)
            seen[written] += 1
            each["id"] = str(uuid5(NAMESPACE_URL, f"{seen[written]} {written}"))
        is_turn = "role" in each or ("speaker" in each and bool(each.get("at")))
        if is_turn:
            each.setdefault("document_id", reading.document)
        else:
            each["event_at"] = each.pop("at", None)
        yield from reading.checked(_typed(each, TURN_FIELDS if is_turn else MEMORY_FIELDS), "row")


def _typed(each: Object, known: Mapping[str, type]) -> Object:
    """Return a row with texts where the fields are texts, and other fields in the metadata."""
    others = {name: _plain(value) for name, value in each.items() if name not in known}
    found: Object = {
        name: str(_plain(value)) if known[name] is str and value is not None else value
        for name, value in each.items()
        if name in known
    }
    return found | {"metadata": found["metadata"] | others}


def _is_absent(value: object) -> bool:
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def _plain(value: object) -> Any:
    """Return a cell as a JSON value."""
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    return value if isinstance(value, str | int | float | bool) else str(value)


def _number(value: Any) -> Any:
    """Return a written number of seconds as a number; a year stays a text."""
    if isinstance(value, str) and value.strip().replace(".", "", 1).isdigit() and len(value) >= 9:
        return float(value)
    return value


def _listed(value: Any) -> list[str]:
    """Return a list of names; a text is a JSON list, or names with commas or semicolons."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError):
            value = parse_json(value)
    if isinstance(value, str):
        value = value.replace(";", ",").split(",")
    return [str(each).strip() for each in value if str(each).strip()]


def _object(value: Any, reading: FileReading) -> dict[str, Any]:
    """Return metadata, which a text holds as a JSON object."""
    if isinstance(value, str):
        try:
            value = parse_json(value)
        except ValueError:
            reading.skip("metadata that is no JSON object")
            return {}
    if value is None:
        return {}
    if not isinstance(value, dict):
        reading.skip("metadata that is no JSON object")
        return {}
    return {str(name): _plain(each) for name, each in value.items()}

"""Memories and turns as JSON lines: what `recollex ingest` reads and `recollex export` writes.

A line is one JSON object. With ``at`` it is a turn of talk, for `Agent.retain_dialogue`; otherwise
it is a memory, for `Agent.retain`. Empty lines are passed over.
"""

import difflib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any

from recollex.moments import moment
from recollex_engine.errors import InputError

TURN_FIELDS: dict[str, type] = {
    "speaker": str,
    "text": str,
    "at": str,
    "id": str,
    "caption": str,
    "document_id": str,
}
MEMORY_FIELDS: dict[str, type] = {
    "text": str,
    "id": str,
    "event_at": str,
    "recorded_at": str,
    "context": str,
    "network": str,
    "document_id": str,
    "speaker": str,
    "entities": list,
    "tags": list,
    "metadata": dict,
}
_TIMES = ("at", "event_at", "recorded_at")
_KINDS: dict[type, str] = {str: "a string", list: "a list of strings", dict: "an object"}


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its number from 1, its fields with times read, and which kind it is.

    ``document_id`` stands apart of a turn's fields, because `retain_dialogue` takes one for all.
    """

    number: int
    is_turn: bool
    document_id: str | None
    fields: dict[str, Any]


def read(lines: Iterable[str], zone: tzinfo, document_id: str | None = None) -> Iterator[Line]:
    """Give every line of a JSONL source, checked; times without an offset are of ``zone``.

    ``document_id`` is for lines that name none. Raises `InputError` naming the line.

    >>> from datetime import UTC
    >>> [line.fields["text"] for line in read(['{"text": "Tea at four."}'], UTC)]
    ['Tea at four.']
    """
    for number, written in enumerate(lines, 1):
        if written.strip():
            yield _line(number, written, zone, document_id)


def _line(number: int, written: str, zone: tzinfo, document_id: str | None) -> Line:
    try:
        raw = json.loads(written)
    except ValueError as error:
        raise InputError(f"line {number} is not JSON: {error}") from error
    if not isinstance(raw, dict):
        raise InputError(f"line {number} must be a JSON object, got {type(raw).__name__}")
    fields = {name: value for name, value in raw.items() if value is not None}
    is_turn = "at" in fields
    known = TURN_FIELDS if is_turn else MEMORY_FIELDS
    for name, value in fields.items():
        _check(number, name, value, known)
    for name in ("text", "speaker") if is_turn else ("text",):
        if name not in fields:
            raise InputError(f"line {number} has no {name!r}")
    for name in _TIMES:
        if name in fields:
            fields[name] = moment(fields[name], zone, f"line {number}: {name!r}")
    document = fields.get("document_id", document_id)
    if is_turn:
        fields.pop("document_id", None)
    elif document is not None:
        fields["document_id"] = document
    return Line(number, is_turn, document, fields)


def _check(number: int, name: str, value: object, known: dict[str, type]) -> None:
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
        raise InputError(f"line {number} has an unknown field {name!r}: {hint}")
    strings = not isinstance(value, list) or all(isinstance(item, str) for item in value)
    if not isinstance(value, known[name]) or not strings:
        kind = _KINDS[known[name]]
        raise InputError(f"line {number}: {name!r} must be {kind}, got {json.dumps(value)[:60]}")

"""Memories and turns as JSON lines: the format of `recollex ingest` and `recollex export`.

A line is one JSON object. With ``at`` or ``role`` it is a turn of a conversation, for
`Agent.retain_dialogue`; otherwise it is a memory, for `Agent.retain`. ``content`` is another name
of ``text``. Empty lines and null fields are ignored.
"""

import difflib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any

from recollex.api.foreign_files import parse_json
from recollex.api.iso_times import parse_time
from recollex_engine.domain.checks import mended
from recollex_engine.domain.fields import FIELDS, GIVEN, RECORDED_AT
from recollex_engine.errors import InputError
from recollex_engine.recall.memory import Memory

_TYPES: dict[str, type] = {
    **{"text": str, "moment": str, "names": list, "entities": list, "object": dict},
    "vector": object,
}
"""Form of a field -> the type of its value in a line; a vector is checked where it is used."""
TURN_FIELDS: dict[str, type] = {
    "text": str,
    "content": object,
    "name": str,
    "tool_calls": object,
    "tool_call_id": str,
    "at": str,
    "caption": str,
    **{each.name: _TYPES[each.form] for each in FIELDS if each.turns},
}
MEMORY_FIELDS: dict[str, type] = {
    "text": str,
    "content": str,
    **{each.name: _TYPES[each.form] for each in (*GIVEN, RECORDED_AT)},
}
_STAMP = ("source", "trust")
_SHARED_BY_TURNS = tuple(each.name for each in FIELDS if each.turns == "all")
_TIMES = ("at", *(each.name for each in FIELDS if each.form == "moment"))
_KINDS: dict[type, str] = {str: "a string", list: "a list of strings", dict: "an object"}


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its number from 1, whether it is a turn, and its fields with times read.

    shared: the fields that one call takes for all its lines. Lines with equal ``shared`` may be
    retained by one call.
    """

    number: int
    is_turn: bool
    fields: dict[str, Any]
    shared: dict[str, Any]


def read(
    lines: Iterable[str],
    zone: tzinfo,
    document_id: str | None = None,
    recorded: bool = False,
    stamped: bool = False,
    broken: Callable[[str], object] = lambda what: None,
) -> Iterator[Line]:
    """Yield every line of a JSONL source, checked; times without an offset are in ``zone``.

    document_id: of turns that name none. recorded: keep each line's ``recorded_at``, which is left
    out otherwise. stamped: likewise its ``source`` and ``trust``. broken: is told of a line that
    had half of a surrogate pair, which becomes "?". Raises `InputError` naming the line.

    >>> from datetime import UTC
    >>> [line.fields for line in read(['{"text": "Tea at four.", "recorded_at": "2024"}'], UTC)]
    [{'text': 'Tea at four.'}]
    """
    left_out = (*(() if recorded else ("recorded_at",)), *(() if stamped else _STAMP))
    for number, written in enumerate(lines, 1):
        if written.strip():
            raw = parse_json(written, f"line {number}")
            whole = mended(raw)
            if whole is not raw:
                broken("line with broken characters")
            yield _line(number, whole, zone, document_id, left_out)


def read_objects(
    objects: Iterable[Any],
    zone: tzinfo,
    recorded: bool,
    stamped: bool,
    document_id: str | None = None,
) -> Iterator[Line]:
    """Yield objects as `read` yields lines of them; they are numbered from 1."""
    left_out = (*(() if recorded else ("recorded_at",)), *(() if stamped else _STAMP))
    for number, raw in enumerate(objects, 1):
        yield _line(number, raw, zone, document_id, left_out)


def write(memory: Memory, embedding: Sequence[float] | None = None) -> str:
    """Return a memory as a line; reading and retaining that line makes the memory again.

    See `to_object`.
    """
    return dump(to_object(memory, embedding))


def dump(value: dict[str, Any]) -> str:
    """Return an object as a line, without its line feed."""
    return json.dumps(value, ensure_ascii=False)


def to_object(memory: Memory, embedding: Sequence[float] | None = None) -> dict[str, Any]:
    """Return a memory as the object of a line.

    A memory with a speaker becomes a turn. Its entities were found by rules, which will find them
    again. embedding: the vector that a caller gave.
    """
    fields = {"text": memory.text, **memory.to_dict()}
    if memory.speaker is None:
        kept = (*(each.name for each in GIVEN), "recorded_at")
    else:
        kept = (*(each.name for each in FIELDS if each.turns), "at")
        fields["text"] = memory.text.removeprefix(f"{memory.speaker}: ")
        fields["at"] = fields["event_at"]
    fields["embedding"] = None if embedding is None else list(embedding)
    kept = ("text", *kept, "embedding")
    fields = {name: fields[name] for name in kept}
    return {name: value for name, value in fields.items() if value not in (None, [], {})}


def _line(
    number: int,
    raw: Any,
    zone: tzinfo,
    document_id: str | None,
    left_out: tuple[str, ...],
) -> Line:
    if not isinstance(raw, dict):
        raise InputError(f"line {number} must be a JSON object, got {type(raw).__name__}")
    fields = {name: value for name, value in raw.items() if value is not None}
    is_turn = "at" in fields or "role" in fields
    for name, value in fields.items():
        _check(number, name, value, TURN_FIELDS if is_turn else MEMORY_FIELDS)
    if not is_turn and "content" in fields:
        if "text" in fields:
            raise InputError(f"line {number} has both 'text' and 'content': give one of them")
        fields = {"text": fields.pop("content"), **fields}
    for name in left_out:
        fields.pop(name, None)
    for name in _TIMES:
        if name in fields:
            fields[name] = parse_time(fields[name], zone, f"line {number}: {name!r}")
    if is_turn and document_id is not None:
        fields.setdefault("document_id", document_id)
    if is_turn and "role" in fields:
        wanted: tuple[str, ...] = ("document_id",)
    else:
        wanted = ("speaker", "document_id") if is_turn else ("text",)
    for name in wanted:
        if name not in fields:
            raise InputError(f"line {number} has no {name!r}")
    apart = _SHARED_BY_TURNS if is_turn else ("recorded_at",)
    shared = {name: fields.pop(name) for name in apart if name in fields}
    return Line(number, is_turn, fields, shared)


def _check(number: int, name: str, value: object, known: dict[str, type]) -> None:
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
        raise InputError(f"line {number} has an unknown field {name!r}: {hint}")
    if known[name] is object:  # checked as a part of its turn
        return
    strings = not isinstance(value, list) or all(isinstance(item, str) for item in value)
    if not isinstance(value, known[name]) or not strings:
        kind = _KINDS[known[name]]
        raise InputError(f"line {number}: {name!r} must be {kind}, got {json.dumps(value)[:60]}")

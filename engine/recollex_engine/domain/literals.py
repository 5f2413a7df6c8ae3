"""What may the object of a fact be? An entity, or a typed literal.

The object of a fact is one of six kinds. In a column it is a number of eight bytes: an entity's or
a label's number, the bits of a float64, 0 or 1, or microseconds. In a record of the log it is a
JSON object with one field, named by its kind.
"""

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from recollex_engine.clock import from_micros, to_micros
from recollex_engine.domain.checks import MAX_NAME, MAX_TEXT, check_text
from recollex_engine.errors import CorruptError, InputError


def read_stored(raw: bytes | str | memoryview, what: str) -> Any:
    """Return the value of stored JSON; raises `CorruptError`, which names ``what``.

    >>> read_stored('{"from": "phone"}', "metadata")
    {'from': 'phone'}
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise CorruptError(what, "JSON", f"{error}: `recollex verify` names the file") from error


KINDS = ("entity", "text", "number", "boolean", "time", "mention")
"""The kinds of an object; a kind's index is its number in the column."""
ENTITY, TEXT, NUMBER, BOOLEAN, TIME, MENTION = range(6)
MOST_EXACT = 2**53
"""A float64 represents every whole number up to this one exactly."""

_FLOAT = struct.Struct("<d")
_INTEGER = struct.Struct("<q")


@dataclass(frozen=True, slots=True)
class Text:
    """A literal text; a plain str would name an entity.

    >>> Text("blue").value
    'blue'
    """

    value: str

    def __post_init__(self) -> None:
        check_text(self.value, "a literal text", MAX_TEXT)


@dataclass(frozen=True, slots=True)
class Source:
    """The document that a fact was taken from: its URI, and a hash of its content at that time."""

    uri: str
    hash: str | None = None

    def __post_init__(self) -> None:
        check_text(self.uri, "source uri", MAX_NAME)
        if self.hash is not None:
            check_text(self.hash, "source hash", MAX_NAME)

    def to_json(self) -> str:
        """Return the source as the text of a label."""
        return orjson.dumps([self.uri, self.hash]).decode()

    @classmethod
    def from_json(cls, text: str) -> "Source":
        """Return the source that `to_json` wrote."""
        uri, hash = read_stored(text, "the source of a fact")
        return cls(uri, hash)


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in a document: its characters [start, end), and their text."""

    document: str
    span: tuple[int, int]
    text: str

    def __post_init__(self) -> None:
        check_text(self.document, "mention document", MAX_NAME)
        check_text(self.text, "mention text", MAX_TEXT)
        if (
            not isinstance(self.span, tuple | list)
            or len(self.span) != 2
            or any(isinstance(each, bool) or not isinstance(each, int) for each in self.span)
        ):
            raise InputError(f"mention span must be (start, end) in characters, got {self.span!r}")
        start, end = self.span
        if not 0 <= start < end:
            raise InputError(
                f"mention span must have 0 <= start < end, got start {start} and end {end}"
            )
        object.__setattr__(self, "span", (start, end))

    def to_json(self) -> str:
        """Return the mention as the text of a label."""
        return orjson.dumps([self.document, *self.span, self.text]).decode()

    @classmethod
    def from_json(cls, text: str) -> "Mention":
        """Return the mention that `to_json` wrote."""
        document, start, end, said = read_stored(text, "a mention")
        return cls(document, (start, end), said)


FactObject = str | int | float | bool | datetime | Text | Mention
"""The object of a fact: a str names an entity, everything else is a literal."""


def to_record(value: object, name: str = "object") -> dict[str, Any]:
    """Return an object as a record of the log holds it; an entity by its name only.

    Raises `InputError` for a value of another type, and for a number without an exact form.

    >>> to_record("Google"), to_record(Text("blue")), to_record(3), to_record(True)
    ({'entity': 'Google'}, {'text': 'blue'}, {'number': 3.0}, {'boolean': True})
    """
    if isinstance(value, str):
        check_text(value, name, MAX_NAME)
        return {"entity": value}
    if isinstance(value, Text):
        return {"text": value.value}
    if isinstance(value, bool):
        return {"boolean": value}
    if isinstance(value, int | float):
        if not math.isfinite(value) or (isinstance(value, int) and abs(value) > MOST_EXACT):
            raise InputError(
                f"{name} must be a finite number, whole ones up to 2**53 = {MOST_EXACT}, got "
                f"{value}: give it as a text"
            )
        return {"number": float(value) + 0.0}  # -0.0 is 0.0
    if isinstance(value, datetime):
        return {"time": to_micros(value, name)}
    if isinstance(value, Mention):
        return {"mention": value.to_json()}
    raise InputError(
        f"{name} must be a str (an entity's name), Text, number, bool, datetime or Mention, got "
        f"{type(value).__name__}"
    )


def to_column(record: dict[str, Any], label: Callable[[str], int]) -> tuple[int, int]:
    """Return (kind, number) of an object in a record; ``label`` returns the number of a text."""
    if (entity := record.get("entity")) is not None:  # as a rule
        return ENTITY, int(entity[1])
    ((name, value),) = record.items()
    kind = KINDS.index(name)
    if kind == TEXT:
        return kind, label(f"v:{value}")
    if kind == NUMBER:
        number: int = _INTEGER.unpack(_FLOAT.pack(value))[0]
        return kind, number
    if kind == MENTION:
        return kind, label(f"x:{value}")
    return kind, int(value)


def from_column(
    kind: int, number: int, text: Callable[[int], str], entity: Callable[[int], str]
) -> str | int | float | bool | datetime | Mention:
    """Return the object that `to_column` wrote; ``text`` and ``entity`` look numbers up."""
    if kind == ENTITY:
        return entity(number)
    if kind == TEXT:
        return text(number)
    if kind == NUMBER:
        value: float = _FLOAT.unpack(_INTEGER.pack(number))[0]
        return int(value) if value.is_integer() and abs(value) <= MOST_EXACT else value
    if kind == BOOLEAN:
        return bool(number)
    if kind == TIME:
        return from_micros(number)
    return Mention.from_json(text(number))

"""JSON Schema for requests: the same schema documents a request and checks it.

A schema is the dict in the OpenAPI document. `read` understands only the keywords that are used
here: type, enum, properties, required, additionalProperties, items, the bounds of numbers, texts
and lists, pattern, format date-time, anyOf.
"""

import difflib
import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

from recollex_engine.agents.folder_names import MAX_AGENT
from recollex_engine.domain.checks import MAX_NAME, MAX_NAMES, MAX_TEXT
from recollex_engine.domain.question import MAX_BUDGET, MAX_QUERY
from recollex_engine.domain.roles import ROLES
from recollex_engine.domain.schema import NETWORKS
from recollex_engine.domain.trust import LEVELS, MAX_SOURCE
from recollex_engine.errors import InputError
from recollex_engine.models.description import MAX_DIMENSION

Schema = Mapping[str, Any]

NOT_BLANK = r"[^\s\x1c-\x1f\x85]"
"""Matches a text with a character that is no space, in any dialect of regular expressions: the
spaces are those of `str.isspace`."""
MAX_COMPONENT = 1e30
"""The bound of a vector's components, whose squares are summed."""
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


def text(longest: int = MAX_NAME, about: str = "", **more: Any) -> Schema:
    """Return the schema of a text that is not blank."""
    return _described(
        {"type": "string", "minLength": 1, "maxLength": longest, "pattern": NOT_BLANK}, about, more
    )


def whole(least: int, most: int, about: str = "", **more: Any) -> Schema:
    """Return the schema of a whole number in [least, most]."""
    return _described({"type": "integer", "minimum": least, "maximum": most}, about, more)


def number(least: float, most: float, about: str = "", **more: Any) -> Schema:
    """Return the schema of a number in [least, most]."""
    return _described({"type": "number", "minimum": least, "maximum": most}, about, more)


def moment(about: str = "", **more: Any) -> Schema:
    """Return the schema of a time with its zone."""
    return _described({"type": "string", "format": "date-time"}, about, more)


def flag(about: str = "", **more: Any) -> Schema:
    """Return the schema of a boolean."""
    return _described({"type": "boolean"}, about, more)


def one_of(*values: str, about: str = "", **more: Any) -> Schema:
    """Return the schema of a word from a list."""
    return _described({"type": "string", "enum": list(values)}, about, more)


def listed(item: Schema, about: str = "", least: int = 0, most: int = MAX_NAMES) -> Schema:
    """Return the schema of a list."""
    return _described(
        {"type": "array", "items": item, "minItems": least, "maxItems": most}, about, {}
    )


def members(
    properties: Mapping[str, Schema], required: tuple[str, ...] = (), about: str = ""
) -> Schema:
    """Return the schema of an object with these members and no others."""
    found: dict[str, Any] = {
        "type": "object",
        "properties": dict(properties),
        "additionalProperties": False,
    }
    if required:
        found["required"] = list(required)
    return _described(found, about, {})


def _described(schema: dict[str, Any], about: str, more: Mapping[str, Any]) -> Schema:
    return schema | ({"description": about} if about else {}) | dict(more)


AGENT = text(MAX_AGENT, "Whose memory.", example="user123")
OF_AGENT = {"agent_id": AGENT}
"""The parameters of a path that names an agent alone."""
ID = text(about="A memory's id.")
OF_MEMORY = {"agent_id": AGENT, "memory_id": ID}
"""The parameters of a path that names a memory."""
AS_RECORDED = moment("As if asked at this time, whatever was told since.")
NETWORK = one_of(*NETWORKS)
ROLE = one_of(*(role for role in ROLES if role))
SOURCE = text(MAX_SOURCE, "Where it comes from: user, assistant, tool, web or a word of your own.")
TRUST = one_of(*(level for level in LEVELS if level), about="How far its source is trusted.")
LEAST_TRUST = one_of(*TRUST["enum"], about="The least trust of a memory; all, if not given.")
METADATA: Schema = {
    "type": "object",
    "maxProperties": MAX_NAMES,
    "additionalProperties": True,
    "description": "Any JSON values by name.",
}
QUERY = text(MAX_QUERY, "The question.", example="What does Alice do?")
TEXT = text(MAX_TEXT, example="Alice joined Google.")
VECTOR = listed(
    number(-MAX_COMPONENT, MAX_COMPONENT),
    "A vector of the caller's own, as long as the agent's are; the model's, if not given.",
    1,
    MAX_DIMENSION,
)
BUDGET = whole(1, MAX_BUDGET, "How many memories each arm may bring.", default=100)


def read(value: Any, schema: Schema, name: str) -> Any:
    """Return a JSON value with its times as datetimes; ``name`` is its name in messages.

    Raises `InputError`, which names the place, the bound and the value.

    >>> read({"k": 0}, members({"k": whole(1, 5)}), "body")
    Traceback (most recent call last):
    recollex_engine.errors.InputError: body.k must lie in [1, 5], got 0
    """
    if "anyOf" in schema:
        return _read_any(value, schema, name)
    kind = schema.get("type")
    if kind is not None and not _is(kind, value):
        raise InputError(f"{name} must be {_kind(schema)}, got {_said(value)}")
    if "enum" in schema and value not in schema["enum"]:
        raise InputError(f"{name} must be one of {', '.join(schema['enum'])}, got {_said(value)}")
    if kind == "object":
        return _read_object(value, schema, name)
    if kind == "array":
        _check_length(len(value), schema, name, "Items", "items")
        item = schema["items"]
        return [read(each, item, f"{name}[{place}]") for place, each in enumerate(value)]
    if kind == "string":
        return _read_text(value, schema, name)
    if kind in ("integer", "number"):
        least = schema.get("minimum", -math.inf)
        most = schema.get("maximum", math.inf)
        if not least <= value <= most:
            raise InputError(f"{name} must lie in [{least}, {most}], got {_said(value)}")
        return int(value) if kind == "integer" else value
    return value


def read_word(word: str, schema: Schema, name: str) -> Any:
    """Return a value from a path or a query string, as `read` does."""
    kind = schema.get("type")
    if kind == "integer":
        if not re.fullmatch(r"-?\d{1,18}", word, re.ASCII):
            raise InputError(f"{name} must be a whole number, got {word[:80]!r}")
        return read(int(word), schema, name)
    if kind == "boolean":
        if word not in ("true", "false"):
            raise InputError(f"{name} must be true or false, got {word[:80]!r}")
        return word == "true"
    return read(word, schema, name)


_OTHER_NAMES = {"content": "text", "question": "query"}
"""What other programs, or the library, call a member."""


def known_words(word: str, known: Iterable[str]) -> str:
    """Return an unknown name, the known one that it resembles, and all that are known.

    >>> known_words("limits", ["limit", "after"])
    "'limits': did you mean 'limit'? known are limit, after"
    >>> known_words("content", ["context", "text"])
    "'content': did you mean 'text'? known are context, text"
    """
    all_known = list(known)
    if not all_known:
        return f"{word[:80]!r}: there is none"
    other = _OTHER_NAMES.get(word)
    near = [other] if other in all_known else difflib.get_close_matches(word[:80], all_known, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"{word[:80]!r}: {hint}known are {', '.join(all_known)}"


_A_TIME = "a time with its zone, such as 2024-05-01T09:30:00Z"
_ARTICLE = {
    "object": "an object",
    "array": "a list",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
}


def _kind(schema: Schema) -> str:
    return _A_TIME if schema.get("format") == "date-time" else _ARTICLE[schema["type"]]


def _is(kind: str, value: Any) -> bool:
    if kind in ("integer", "number"):
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return kind == "number" or float(value).is_integer()
    return isinstance(value, _TYPES[kind])


def _read_any(value: Any, schema: Schema, name: str) -> Any:
    """Return a value read by the schema of its type; each choice is of another type."""
    for choice in schema["anyOf"]:
        if _is(choice["type"], value):
            return read(value, choice, name)
    kinds = " or ".join(map(_kind, schema["anyOf"]))
    raise InputError(f"{name} must be {kinds}, got {_said(value)}")


def _read_object(value: dict[str, Any], schema: Schema, name: str) -> dict[str, Any]:
    properties: Mapping[str, Schema] = schema.get("properties", {})
    if not schema.get("additionalProperties", True) and (unknown := value.keys() - properties):
        raise InputError(f"{name} has an unknown member {known_words(min(unknown), properties)}")
    for wanted in schema.get("required", ()):
        if wanted not in value:
            raise InputError(f"{name} has no {wanted!r}")
    if len(value) > schema.get("maxProperties", math.inf):
        raise InputError(f"{name} may have {schema['maxProperties']} members, got {len(value)}")
    return {
        key: read(each, properties[key], f"{name}.{key}") if key in properties else each
        for key, each in value.items()
    }


def _read_text(value: str, schema: Schema, name: str) -> Any:
    if schema.get("format") == "date-time":
        return _read_moment(value, name)
    _check_length(len(value), schema, name, "Length", "characters")
    if "pattern" in schema and not _compiled(schema["pattern"]).search(value):
        what = "is blank" if schema["pattern"] == NOT_BLANK else f"must match {schema['pattern']}"
        raise InputError(f"{name} {what}, got {_said(value)}")
    return value


def _read_moment(value: str, name: str) -> datetime:
    if _RFC3339.fullmatch(value):
        try:
            found = datetime.fromisoformat(value.upper())
            found.astimezone(UTC)  # raises beyond the ends of the calendar
        except (ValueError, OverflowError):
            pass
        else:
            return found
    raise InputError(f"{name} must be {_A_TIME}, got {_said(value)}")


def _check_length(found: int, schema: Schema, name: str, ending: str, unit: str) -> None:
    least = schema.get(f"min{ending}", 0)
    most = schema.get(f"max{ending}", math.inf)
    if not least <= found <= most:
        raise InputError(f"{name} must have {least} to {most} {unit}, got {found}")


def _said(value: Any) -> str:
    written = repr(value)
    return written if len(written) <= 80 else f"{written[:77]}..."


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)

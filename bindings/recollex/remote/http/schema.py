"""What a request may hold: types that msgspec checks, and describes as JSON Schema.

Each function returns a type with its bounds and its description, so the same type documents a value
and checks it. `read` checks a JSON value; what it refuses it names by place, bound and value.
"""

import difflib
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.inspect import ListType, LiteralType, Metadata, StructType, UnionType, type_info

from recollex.api.conditions import CONDITIONS, FilterCondition
from recollex_engine.agents.folder_names import MAX_AGENT
from recollex_engine.domain.checks import MAX_NAME, MAX_NAMES, MAX_TEXT
from recollex_engine.domain.question import MAX_BUDGET, MAX_QUERY
from recollex_engine.domain.schema import NETWORKS
from recollex_engine.domain.trust import LEVELS, MAX_SOURCE, ROLES
from recollex_engine.errors import InputError
from recollex_engine.models.description import MAX_DIMENSION

Schema = Any
"""A type that msgspec checks: `Annotated`, or a `Struct`."""

NOT_BLANK = r"[^\s\x1c-\x1f\x85]"
"""Matches a text with a character that is no space, in any dialect of regular expressions: the
spaces are those of `str.isspace`."""
MAX_COMPONENT = 1e30
"""The bound of a vector's components, whose squares are summed."""
# Types made at run time: a checker of types would read what stands in the brackets as types.
_ANNOTATED: Any = Annotated
_LIST: Any = list
_LITERAL: Any = Literal


def text(longest: int = MAX_NAME, about: str = "", **more: Any) -> Schema:
    """Return the type of a text that is not blank."""
    return typed(str, about, more, min_length=1, max_length=longest, pattern=NOT_BLANK)


def whole(least: int, most: int, about: str = "", **more: Any) -> Schema:
    """Return the type of a whole number in [least, most]."""
    return typed(int, about, more, ge=least, le=most)


def number(least: float, most: float, about: str = "", **more: Any) -> Schema:
    """Return the type of a number in [least, most]."""
    return typed(float, about, more, ge=least, le=most)


def moment(about: str = "", **more: Any) -> Schema:
    """Return the type of a time with its zone."""
    return typed(datetime, about, more, tz=True)


def flag(about: str = "", **more: Any) -> Schema:
    """Return the type of a boolean."""
    return typed(bool, about, more)


def one_of(*values: str, about: str = "", **more: Any) -> Schema:
    """Return the type of a word from a list."""
    return typed(_LITERAL[values], about, {"type": "string", **more})


def listed(item: Schema, about: str = "", least: int = 0, most: int = MAX_NAMES) -> Schema:
    """Return the type of a list."""
    return typed(_LIST[item], about, min_length=least, max_length=most)


def one_or_more(item: Schema, about: str) -> Schema:
    """Return the type of an item, or of a list of some."""
    return typed(item | listed(item, least=1), about)


def mapping(about: str, most: int = MAX_NAMES, **more: Any) -> Schema:
    """Return the type of an object with any members, at most so many."""
    return typed(dict[str, Any], about, more, max_length=most)


def members(
    name: str, properties: Mapping[str, Schema], required: tuple[str, ...] = (), about: str = ""
) -> Schema:
    """Return the type of an object with these members and no others; name: in the document."""
    fields = [
        (key, kind) if key in required else (key, kind | UnsetType, UNSET)
        for key, kind in properties.items()
    ]
    return typed(msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True), about)


def typed(
    kind: Any, about: str = "", more: Mapping[str, Any] | None = None, **bounds: Any
) -> Schema:
    """Return a type with a description; more: of its JSON Schema."""
    extra = dict(more) if more else None
    return _ANNOTATED[kind, Meta(description=about or None, extra_json_schema=extra, **bounds)]


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
_LEVELS = tuple(level for level in LEVELS if level)
TRUST = one_of(*_LEVELS, about="How far its source is trusted.")
LEAST_TRUST = one_of(*_LEVELS, about="The least trust of a memory; all, if not given.")
METADATA = mapping("Any JSON values by name.")
QUERY = text(MAX_QUERY, "The question.", example="What does Alice do?")
TEXT = text(MAX_TEXT, example="Alice joined Google.")
VECTOR = listed(
    number(-MAX_COMPONENT, MAX_COMPONENT),
    "A vector of the caller's own, as long as the agent's are; the model's, if not given.",
    1,
    MAX_DIMENSION,
)
BUDGET = whole(1, MAX_BUDGET, "How many memories each arm may bring.", default=100)


def read(value: Any, kind: Schema, whole: str) -> Any:
    """Return a JSON value with its times as datetimes; an object has what was given of it.

    whole: the value's name in messages. Raises `InputError`, which names the place, the bound and
    the value.

    >>> read({"k": 0}, members("Asked", {"k": whole(1, 5)}), "body")
    Traceback (most recent call last):
    recollex_engine.errors.InputError: body.k must be a whole number >= 1, got 0
    """
    try:
        return _given(msgspec.convert(value, kind))
    except msgspec.ValidationError as error:
        raise InputError(_refusal(str(error), value, kind, whole)) from None


def read_words(words: Mapping[str, str], kind: Schema, whole: str) -> dict[str, Any]:
    """Return the words of an address by their names, as `read` does.

    kind: of `members`, or another struct.
    """
    bare: Any = getattr(kind, "__origin__", kind)  # without what is said about it
    kinds = {field.name: field.type for field in msgspec.structs.fields(bare)}
    plain = {name: _plain(word, kinds.get(name)) for name, word in words.items()}
    found: dict[str, Any] = read(plain, kind, whole)
    return found


def _plain(word: str, kind: Any) -> Any:
    """Return a word as the number or the boolean that it should be; else as it is."""
    kind = next(iter(getattr(kind, "__args__", ())), kind)  # without UNSET
    kind = getattr(kind, "__origin__", kind)
    if kind is int and re.fullmatch(r"-?\d{1,18}", word, re.ASCII):
        return int(word)
    if kind is bool and word in ("true", "false"):
        return word == "true"
    return word


def _given(found: Any) -> Any:
    """Return a struct, and those that it holds, as mappings of what was given."""
    if isinstance(found, Struct):
        values = ((name, getattr(found, name)) for name in found.__struct_fields__)
        return {name: _given(each) for name, each in values if each is not UNSET}
    if isinstance(found, list) and found and isinstance(found[0], Struct):
        return [_given(each) for each in found]
    return found


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


# -- what is refused -------------------------------------------------------------------------------

_AT = re.compile(r" - at `\$((?:\.\w+|\[(?:\d+|\.\.\.)\])+)`$")
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
_ARTICLE = {
    "object": "an object",
    "array": "a list",
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "datetime": "a time with its zone, such as 2024-05-01T09:30:00Z",
}


def _refusal(said: str, value: Any, kind: Schema, whole: str) -> str:
    """Return what msgspec says of a value in our words, with the value and with what is known."""
    at = _AT.search(said)
    path = at[1] if at else ""
    said = said[: at.start()] if at else said
    found, value = _followed(_info(kind), value, path)
    place = f"{whole}{path}".lstrip(".") or "the query"
    if isinstance(found, StructType) and isinstance(value, dict):
        names = [field.name for field in found.fields]
        if unknown := value.keys() - names:
            return f"{place} has an unknown member {known_words(min(unknown), names)}"
        for field in found.fields:
            if field.required and field.name not in value:
                return f"{place} has no {field.name!r}"
    written = repr(value)
    got = f"got {written if len(written) <= 80 else f'{written[:77]}...'}"
    if isinstance(found, LiteralType) and isinstance(value, str):
        return f"{place} must be one of {', '.join(map(str, found.values))}, {got}"
    if "matching regex" in said:
        return f"{place} is blank, {got}"
    if "RFC3339" in said or "timezone" in said:
        said = "Expected `datetime`"
    if not said.startswith("Expected "):
        return f"{place}: {said}, {got}"
    wanted = said.removeprefix("Expected ").partition(", got ")[0]
    return f"{place} must be {re.sub('`([a-z |]+)`', _in_words, wanted)}, {got}"


def _in_words(found: re.Match[str]) -> str:
    return " or ".join(_ARTICLE.get(each, each) for each in found[1].split(" | "))


@cache
def _info(kind: Schema) -> Any:
    return type_info(kind)


def _followed(kind: Any, value: Any, path: str) -> tuple[Any, Any]:
    """Return the type and the value at a path; as far as it can be followed."""
    kind = _branch(kind, value)
    for name, place in _STEP.findall(path):
        if isinstance(kind, StructType) and isinstance(value, dict) and name in value:
            kind = next(field.type for field in kind.fields if field.name == name)
            value = value[name]
        elif isinstance(kind, ListType) and isinstance(value, list) and place:
            kind = kind.item_type
            value = value[int(place)]
        else:
            break
        kind = _branch(kind, value)
    return kind, value


def _branch(kind: Any, value: Any) -> Any:
    """Return the part of a union that is of a value's kind, without its description."""
    while isinstance(kind, Metadata):
        kind = kind.type
    if not isinstance(kind, UnionType):
        return kind
    parts = [_branch(each, value) for each in kind.types]
    for python, wanted in ((dict, StructType), (list, ListType), (str, LiteralType)):
        if isinstance(value, python):
            return next((each for each in parts if isinstance(each, wanted)), kind)
    return kind


# The types of the filter's members, which every endpoint with a filter takes.
def _schema(condition: FilterCondition) -> Schema:
    about = f"A memory meets it if {condition.about}."
    match condition.kind:
        case "names":
            return listed(text(), about)
        case "time":
            return moment(about)
        case "trust":
            return LEAST_TRUST
        case "metadata":
            return mapping(about)
    return one_or_more({"network": NETWORK, "role": ROLE}.get(condition.kind, text()), about)


FILTERS: Mapping[str, Schema] = {name: _schema(each) for name, each in CONDITIONS.items()}

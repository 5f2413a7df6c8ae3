"""The schemas of answers: of what `to_dict` of the public classes returns."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, get_args, get_origin, get_type_hints

from recollex.remote.wire.received import looked_up
from recollex_engine.domain.question import KINDS
from recollex_engine.facts.facts import Fact, Value
from recollex_engine.recall.closure import Closure, Predecessor
from recollex_engine.recall.memory import FIELDS, Memory, Told
from recollex_mind.profile import NUMBERS

JsonSchema = Mapping[str, Any]
"""JSON Schema, as the document has it."""

_TEXT: JsonSchema = {"type": "string"}
_MOMENT: JsonSchema = {"type": "string", "format": "date-time"}
_NUMBER: JsonSchema = {"type": "number"}
_WHOLE: JsonSchema = {"type": "integer"}
_OBJECT: JsonSchema = {"type": "object", "additionalProperties": True}


def _or_null(schema: JsonSchema) -> JsonSchema:
    return {"anyOf": [schema, {"type": "null"}]}


def _one_of(words: Iterable[str | None]) -> JsonSchema:
    return {"type": "string", "enum": [word for word in words if word]}


def items(item: JsonSchema) -> JsonSchema:
    """Return the schema of a list."""
    return {"type": "array", "items": item}


def _by_name(item: JsonSchema) -> JsonSchema:
    return {"type": "object", "additionalProperties": item}


def record(about: str = "", **properties: JsonSchema) -> JsonSchema:
    """Return the schema of an object that has all of these members, and may have more."""
    found: dict[str, object] = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
    }
    return found | ({"description": about} if about else {})


def listing(name: str, item: JsonSchema, about: str = "") -> JsonSchema:
    """Return the schema of an object with one list."""
    return record(about, **{name: items(item)})


CLOSURE = record(
    "How a memory left the present.",
    at=_MOMENT,
    how={"type": "string", "enum": ["archived", "amended", "corrected", "replaced", "forgotten"]},
    by=_or_null(_TEXT),
    why=_or_null(_TEXT),
)
PREDECESSOR = record(
    "What a memory said before it was corrected or replaced.",
    id=_TEXT,
    text=_TEXT,
    event_at=_MOMENT,
    recorded_at=_MOMENT,
    closed=CLOSURE,
)
_SCHEMAS: Mapping[object, JsonSchema] = {
    str: _TEXT,
    int: _WHOLE,
    float: _NUMBER,
    datetime: _MOMENT,
    Closure: CLOSURE,
    Predecessor: PREDECESSOR,
    Value: {"description": "An entity's name, or a literal."},
}


def _schema_of(kind: Any) -> JsonSchema:
    """Return the schema of what `to_dict` makes of values of a type."""
    if kind in _SCHEMAS:
        return _SCHEMAS[kind]
    if isinstance(kind, type):
        return _OBJECT
    origin = get_origin(kind)
    arguments = get_args(kind)
    if origin is tuple:
        each = [_schema_of(kind) for kind in arguments if kind is not Ellipsis]
        return items(next((one for one in each if "anyOf" in one), each[0]))
    if origin is Mapping:
        return _OBJECT if arguments[1] is Any else _by_name(_schema_of(arguments[1]))
    (other,) = (each for each in arguments if each is not type(None))
    return _or_null(_schema_of(other))


def _field(name: str, told: Told) -> JsonSchema:
    """Return the schema of a field of a memory."""
    names = told.form.names
    one_of = {"type": "string", "enum": [each for each in names if each is not None]}
    if not names:
        schema = _schema_of(_TYPES[name])
    else:
        schema = _or_null(one_of) if None in names else one_of
    return {**schema, "description": told.help}


_TYPES = get_type_hints(Memory)
MEMORY = record(
    "One memory. ranks, scores and parts say why a search found it.",
    **{name: _field(name, told) for name, told in FIELDS.items() if told.sent},
)
RECALL = record(
    "What bears on the question, best first, within max_tokens; trace is microseconds by stage.",
    query=_TEXT,
    memories=items({"$ref": "#/components/schemas/Memory"}),
    tokens=_WHOLE,
    token_counter=_TEXT,
    confidence=_or_null(_NUMBER),
    signs=_or_null(_OBJECT),
    time_range=_or_null(items(_MOMENT)),
    trace=record(total=_NUMBER, stages=_by_name(_NUMBER), errors=_by_name(_TEXT)),
)
JOINT_RECALL = record(
    "What several agents hold that bears on the question, in one list, best first.",
    query=_TEXT,
    memories=items(
        {"allOf": [{"$ref": "#/components/schemas/Memory"}, record(agent=_TEXT)]},
    ),
    tokens=_WHOLE,
    token_counter=_TEXT,
    confidence=_or_null(_NUMBER),
)
_OF_CUT = ("version", "view")
"""Attributes of a fact that no answer has."""
_FACT = {
    **get_type_hints(Fact),
    **{name: get_type_hints(vars(Fact)[name].fget)["return"] for name in looked_up(Fact)},
}
FACT = record(
    "One version of a fact, as the cut sees it.",
    **{name: _schema_of(kind) for name, kind in _FACT.items() if name not in _OF_CUT},
)
CONTEXTS = record(
    "Gists and facts that a tool found, and as text for a language model in `prompt`.",
    gists=items({"$ref": "#/components/schemas/Memory"}),
    facts=items({"$ref": "#/components/schemas/Fact"}),
    count=_or_null(_WHOLE),
    matched=_or_null(_WHOLE),
    note=_or_null(_TEXT),
    tokens=_WHOLE,
    token_counter=_TEXT,
    prompt=_TEXT,
)
HIT = record(
    "Something that a search found: a member named by its kind holds it.",
    kind={"type": "string", "enum": list(KINDS)},
    text=_TEXT,
    score=_NUMBER,
    ranks=_by_name(_WHOLE),
)
ENTRY = record(
    "One operation of an agent's log.",
    op=_WHOLE,
    recorded_at=_MOMENT,
    kind=_TEXT,
    by=_or_null(_TEXT),
    why=_or_null(_TEXT),
    ids=items(_TEXT),
    payload=_or_null(_OBJECT),
)
STATS = record(
    "What an agent holds.",
    memories=_WHOLE,
    forgotten=_WHOLE,
    archived=_WHOLE,
    passages=_WHOLE,
    entities=_WHOLE,
    facts=_WHOLE,
    events=_WHOLE,
    operations=_WHOLE,
    bytes_on_disk=_WHOLE,
    model=_or_null(_TEXT),
)
_UNIT: JsonSchema = {"type": "number", "minimum": 0, "maximum": 1}
PERSONALITY = record(
    "The Big Five and how much they sway opinions, each in [0, 1].",
    **dict.fromkeys(NUMBERS, _UNIT),
)
PROFILE = record(
    "Who an agent is (Memora 4.2).",
    agent_id=_TEXT,
    personality=PERSONALITY,
    background=_TEXT,
    created_at=_or_null(_MOMENT),
    updated_at=_or_null(_MOMENT),
)
HEAD = record(
    "The last operation of a log, and the hash of all up to it. op:chain is a head for `verify`.",
    op=_WHOLE,
    recorded_at=_or_null(_MOMENT),
    chain=_TEXT,
)
IDS = record(ids=items(_TEXT))
ID_OR_IDS: JsonSchema = {"anyOf": [record(id=_TEXT), IDS]}
ACCESSES = record(
    "How often a memory was accessed, and when last.",
    returned=_WHOLE,
    used=_WHOLE,
    helped=_WHOLE,
    misled=_WHOLE,
    last_returned=_or_null(_MOMENT),
    last_used=_or_null(_MOMENT),
)
DONE = record("It was done.", done={"type": "boolean"})
COUNT = record("How many.", count=_WHOLE)
VALUE_COUNTS = record(
    "How many have each value, the most frequent first.",
    counts={"type": "object", "additionalProperties": _WHOLE},
)
ERASURE = record(
    "How much was erased, or would be; op is null for a preview.",
    memories=_WHOLE,
    passages=_WHOLE,
    facts=_WHOLE,
    events=_WHOLE,
    op=_or_null(_WHOLE),
    recorded_at=_or_null(_MOMENT),
)
EXPIRY = record(
    "How many memories were forgotten, and how many versions erased.",
    forgotten=_WHOLE,
    erased=_WHOLE,
)

COMPONENTS: Mapping[str, JsonSchema] = MappingProxyType(
    {
        "Memory": MEMORY,
        "Recall": RECALL,
        "JointRecall": JOINT_RECALL,
        "Fact": FACT,
        "Hit": HIT,
        "Contexts": CONTEXTS,
        "LogEntry": ENTRY,
        "Stats": STATS,
        "Profile": PROFILE,
    }
)
"""Name -> schema of each object that the document describes once."""


def reference(name: str) -> JsonSchema:
    """Return the schema that refers to one of `COMPONENTS`."""
    return {"$ref": f"#/components/schemas/{name}"}

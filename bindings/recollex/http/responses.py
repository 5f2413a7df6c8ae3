"""The schemas of answers: of what `to_dict` of the public classes returns."""

from collections.abc import Mapping
from types import MappingProxyType

from recollex.http.schema import NETWORK, ROLE, TRUST, Schema

_TEXT: Schema = {"type": "string"}
_MOMENT: Schema = {"type": "string", "format": "date-time"}
_NUMBER: Schema = {"type": "number"}
_WHOLE: Schema = {"type": "integer"}
_OBJECT: Schema = {"type": "object", "additionalProperties": True}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _list(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def _by_name(item: Schema) -> Schema:
    return {"type": "object", "additionalProperties": item}


def record(about: str = "", **properties: Schema) -> Schema:
    """Return the schema of an object that has all of these members, and may have more."""
    found: dict[str, object] = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
    }
    return found | ({"description": about} if about else {})


def listing(name: str, item: Schema, about: str = "") -> Schema:
    """Return the schema of an object with one list."""
    return record(about, **{name: _list(item)})


CLOSURE = record(
    "How a memory left the present.",
    at=_MOMENT,
    how={"type": "string", "enum": ["archived", "corrected", "replaced", "forgotten"]},
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
MEMORY = record(
    "One memory. ranks, scores and parts say why a search found it.",
    id=_TEXT,
    text=_TEXT,
    passage=_TEXT,
    passages=_list(_list(_WHOLE)),
    score=_NUMBER,
    event_at=_MOMENT,
    event=_list(_MOMENT),
    recorded_at=_MOMENT,
    network=NETWORK,
    context=_or_null(_TEXT),
    document_id=_or_null(_TEXT),
    speaker=_or_null(_TEXT),
    role=_or_null(ROLE),
    source=_or_null(_TEXT),
    trust=_or_null(TRUST),
    entities=_list(_TEXT),
    tags=_list(_TEXT),
    metadata=_OBJECT,
    tokens=_WHOLE,
    ranks=_by_name(_WHOLE),
    scores=_by_name(_NUMBER),
    parts=_by_name(_NUMBER),
    collapsed=_list(_TEXT),
    repeated_at=_list(_MOMENT),
    valid_until=_or_null(_MOMENT),
    closed=_or_null(CLOSURE),
    replaces=_or_null(PREDECESSOR),
)
RECALL = record(
    "What bears on the question, best first, within max_tokens; trace is microseconds by stage.",
    query=_TEXT,
    memories=_list({"$ref": "#/components/schemas/Memory"}),
    tokens=_WHOLE,
    token_counter=_TEXT,
    confidence=_or_null(_NUMBER),
    signs=_or_null(_OBJECT),
    time_range=_or_null(_list(_MOMENT)),
    trace=record(total=_NUMBER, stages=_by_name(_NUMBER), errors=_by_name(_TEXT)),
)
FACT = record(
    "One version of a fact, as the cut sees it.",
    id=_TEXT,
    subject=_TEXT,
    predicate=_TEXT,
    object={"description": "An entity's name, or a literal."},
    kind=_TEXT,
    valid=_list(_or_null(_MOMENT)),
    recorded=_list(_or_null(_MOMENT)),
    evidence=_list(_TEXT),
    confidence=_NUMBER,
)
ENTRY = record(
    "One operation of an agent's log.",
    op=_WHOLE,
    recorded_at=_MOMENT,
    kind=_TEXT,
    by=_or_null(_TEXT),
    why=_or_null(_TEXT),
    ids=_list(_TEXT),
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
TRAITS = ("openness", "conscientiousness", "extraversion", "agreeableness", "neuroticism")
_UNIT: Schema = {"type": "number", "minimum": 0, "maximum": 1}
PERSONALITY = record(
    "The Big Five and how much they sway opinions, each in [0, 1].",
    **dict.fromkeys((*TRAITS, "bias_strength"), _UNIT),
)
PROFILE = record(
    "Who an agent is (Memora 4.2).",
    agent_id=_TEXT,
    personality=PERSONALITY,
    background=_TEXT,
    created_at=_or_null(_MOMENT),
)
HEAD = record(
    "The last operation of a log, and the hash of all up to it. op:chain is a head for `verify`.",
    op=_WHOLE,
    recorded_at=_or_null(_MOMENT),
    chain=_TEXT,
)
IDS = record(ids=_list(_TEXT))
DONE = record("It was done.", done={"type": "boolean"})
COUNT = record("How many.", count=_WHOLE)
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

COMPONENTS: Mapping[str, Schema] = MappingProxyType(
    {
        "Memory": MEMORY,
        "Recall": RECALL,
        "Fact": FACT,
        "LogEntry": ENTRY,
        "Stats": STATS,
        "Profile": PROFILE,
    }
)
"""Name -> schema of each object that the document describes once."""


def reference(name: str) -> Schema:
    """Return the schema that refers to one of `COMPONENTS`."""
    return {"$ref": f"#/components/schemas/{name}"}

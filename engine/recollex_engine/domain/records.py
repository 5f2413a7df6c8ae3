"""What is in the records of the log? One class for each kind, and whose content each field is.

`log.format` has the bytes around a record's payload; here is the payload, a JSON object. Numbers
of memories, entities, words, facts and events count from 0 in the order of the log. A field that
says nothing is left out. engine/LOG.md is made of this module.

Each field says what an erasure does with it (see `writing.erasure_plan`): it *goes* with what the
record is about; it *stays*, because it has numbers, times and checksums, or names of rules, models
and settings; or it is *shared*: a word or a name, of which those that others use too stay. A field
that is in no class goes when everything is erased.
"""

from collections.abc import Mapping, Sequence
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NotRequired,
    Required,
    TypedDict,
    get_args,
    get_type_hints,
)

from recollex_engine.domain.fields import LABELS
from recollex_engine.domain.settings import REEMBED
from recollex_engine.text.entity_types import EntityType

Fate = Literal["goes", "stays", "shared"]


class RecordedField(NamedTuple):
    """What is said of a field of a record: what an erasure does with it, and a line of help."""

    fate: Fate
    help: str


def goes(help: str) -> RecordedField:
    """Return what is said of a field with content."""
    return RecordedField("goes", help)


def stays(help: str) -> RecordedField:
    """Return what is said of a field without content."""
    return RecordedField("stays", help)


def shared(help: str) -> RecordedField:
    """Return what is said of words and names that others may use too."""
    return RecordedField("shared", help)


EntityName = tuple[str, int]
"""The name by which a record calls an entity, and its number."""
Names = list[tuple[str, str, int]]
"""Name, its folded form, and the entity. An entity whose number is new begins here."""
Typed = list[tuple[int, EntityType]]
"""Entity, and its type: PERSON, ORGANIZATION, LOCATION, PRODUCT, CONCEPT."""


class Batch(TypedDict):
    """The vectors that a transaction adds."""

    rows: int
    sha256: str | None


class AnyRecord(TypedDict, total=False):
    """What any record may have."""

    hole: Annotated[
        int | bool,
        stays("in a stub: the number of the memory's passages, or true for another record"),
    ]
    by: Annotated[str, stays("who made the record")]


class NotedRecord(AnyRecord, total=False):
    """A record that somebody made for a reason."""

    why: Annotated[str, goes("the reason, as the caller gave it")]


class NamingRecord(NotedRecord, total=False):
    """A record that names entities."""

    names: Annotated[Names, shared("names that are new in the agent")]
    typed: Annotated[Typed, goes("types of entities that are told first")]


class Version(NamingRecord, total=False):
    """A version of a fact or of an event."""

    id: Required[Annotated[str, goes("the caller's, or one of its content")]]
    surface: Annotated[dict[str, Any], goes("words, and vector (float16, base64)")]
    previous: Annotated[int, stays("the version before with this id")]
    closes: Annotated[int, stays("the version that it takes the place of")]


class Create(AnyRecord):
    """The first record: the settings of the agent."""

    model: Annotated[str, stays("fingerprint of the embedding model")]
    dimension: Annotated[int, stays("of its vectors")]
    language: Annotated[str, stays("of the agent's words")]
    analyzer: Annotated[int, stays("version of the analysis of words")]
    counter: Annotated[str, stays("name of the token counter")]
    format: Annotated[int, stays("of the agent: 1")]
    embedding: Annotated[int, stays("1 for the first model; each `reembed` adds 1")]
    locale: Annotated[str, stays("order of day and month in dates")]
    entity_rule: Annotated[str, stays("when two names are one entity")]
    zone: NotRequired[Annotated[str, stays("in which days begin where no other is said")]]


class VocabularyRecord(AnyRecord):
    """The pieces of later records are numbers in this vocabulary."""

    name: Annotated[str, stays("of the vocabulary")]


class RetainRecord(NamingRecord, total=False):
    """A memory: the next number. `correct` is the same, of a new version by a correction."""

    id: Required[Annotated[str, goes("the caller's, or a UUID")]]
    text: Required[Annotated[str, goes("the whole text")]]
    said: Required[Annotated[int, goes("microseconds UTC: when it was said or done")]]
    event: Annotated[tuple[int, int], goes("the time that it speaks of, if another")]
    network: Annotated[int, goes("0 world (if absent), 1 agent, 2 opinion")]
    valid_until: Annotated[int, goes("microseconds UTC: when it ceases to be so")]
    role: Annotated[
        int, goes("0 unknown, 1 user, 2 assistant, 3 system, 4 tool; if not that of the speaker")
    ]
    trust: Annotated[str, goes("web, tool, assistant, user; if not the source's own")]
    tags: Annotated[Sequence[str], goes("as the caller gave them")]
    metadata: Annotated[dict[str, Any], goes("as the caller gave it")]
    passages: Annotated[
        list[tuple[int, int]], goes("start and end in characters, if there are several")
    ]
    pieces: Annotated[list[str], goes("of each passage: token ids, uint16 in base64")]
    entities: Annotated[list[int], goes("that it names")]
    called: Annotated[list[EntityName], goes("given names of entities that have another name")]
    words: Annotated[list[str], shared("new words: the next numbers")]
    terms: Required[
        Annotated[list[list[int]], goes("of each passage: numbers of its words, -1 a stop word")]
    ]
    tokens: Required[
        Annotated[list[int], goes("of the whole text; then of each passage, if several")]
    ]
    links: Annotated[list[tuple[int, float]], goes("earlier memories like it, and how like")]
    previous: Annotated[int, stays("the newest earlier memory with this id")]
    replaces: Annotated[int, stays("the memory that it closes: the open one of its id")]
    amends: Annotated[bool, goes("the text of what it replaces stays")]
    vectors: Annotated[Batch, stays("in the first of a transaction: its rows, and their checksum")]


class Close(NotedRecord):
    """Memories leave the present."""

    memories: Annotated[list[int], goes("those that are closed")]


class ExtractRecord(NotedRecord, total=False):
    """Facts were drawn from memories, or could not be."""

    turns: Required[Annotated[list[int], stays("the memories")]]
    prompt: Required[Annotated[str, stays("name of the prompt or of the rules")]]
    model: Annotated[str, stays("name of the model")]
    facts: Annotated[list[int], stays("memories that were made of them")]
    failed: Annotated[str, stays("why the model gave none")]
    left_out: Annotated[dict[str, int], stays("reason -> how many were not kept")]


class ThinkRecord(NotedRecord):
    """A question was answered; opinions are to be formed of the answer."""

    thought: Annotated[str, goes("its id")]
    question: Annotated[str, goes("what was asked")]
    answer: Annotated[str, goes("what was answered")]
    shown: Annotated[list[int], goes("memories that the model was shown")]
    profile: Annotated[dict[str, Any], goes("personality and background of the agent")]
    prompt: Annotated[str, goes("name of the prompt")]
    model: NotRequired[Annotated[str, goes("name of the model")]]


class FormRecord(NotedRecord):
    """The opinions of a thought were formed, or could not be."""

    thought: Annotated[str, goes("id of the thought")]
    prompt: Annotated[str, goes("name of the prompt")]
    model: NotRequired[Annotated[str, goes("name of the model")]]
    opinions: NotRequired[Annotated[list[int], goes("memories of the same transaction")]]
    failed: NotRequired[Annotated[str, goes("why the model gave none")]]


class UpsertEntityRecord(NamingRecord):
    """What is said of an entity."""

    entity: Annotated[EntityName, goes("the entity")]
    aliases: NotRequired[Annotated[list[str], goes("other names of it")]]
    types: NotRequired[Annotated[list[str], goes("what it is, in words of the caller's")]]


class MergeEntityRecord(NamingRecord):
    """Two entities are one."""

    source: Annotated[EntityName, goes("the entity that becomes the other")]
    target: Annotated[EntityName, goes("the other")]


SplitEntityRecord = TypedDict(
    "SplitEntityRecord",
    {
        "source": Annotated[EntityName, goes("the entity that is one of its own again")],
        "from": NotRequired[
            Annotated[EntityName, goes("the entity whose name becomes one of its own")]
        ],
        "names": NotRequired[Annotated[Names, shared("names that are new in the agent")]],
        "typed": NotRequired[Annotated[Typed, goes("types that new names show")]],
        "hole": NotRequired[Annotated[bool, stays("a stub")]],
        "by": NotRequired[Annotated[str, stays("who made the record")]],
        "why": NotRequired[Annotated[str, goes("the reason, as the caller gave it")]],
    },
)
SplitEntityRecord.__doc__ = "An entity that was merged, or a name, is an entity of its own."


class Phrase(TypedDict):
    """The words and the vector by which an entity is found."""

    version: int
    name: str
    words: list[str]
    vector: NotRequired[str]
    synonyms: NotRequired[list[tuple[int, float]]]


class FactRecord(Version):
    """A version of a fact: the next number. `retro_correct` corrects an earlier one."""

    subject: Annotated[EntityName, goes("the entity")]
    predicate: Annotated[str, goes("the relation")]
    object: Annotated[
        dict[str, Any],
        goes("one of entity ([name, number]), text, number, boolean, time, mention"),
    ]
    valid: Annotated[tuple[int, int], goes("[start, end) in microseconds UTC")]
    evidence: NotRequired[Annotated[list[int], stays("memories; those that are erased go")]]
    mentions: NotRequired[Annotated[list[str], goes("JSON of document, start, end and text")]]
    source: NotRequired[Annotated[str, goes("JSON of where it comes from")]]
    confidence: NotRequired[Annotated[float, goes("in [0, 1]; 1 if absent")]]
    uncertainty: NotRequired[Annotated[str, goes("in words")]]
    zone: NotRequired[Annotated[str, goes("of a time that is the object")]]
    phrases: NotRequired[Annotated[list[Phrase], goes("surfaces of entities that it names first")]]


class ArchiveEdgeRecord(NotedRecord):
    """A fact is closed."""

    id: Annotated[str, goes("of the fact")]
    closes: Annotated[int, goes("its open version")]


class EventRecord(Version):
    """A version of an event (`upsert_event`) or an episode (`upsert_episode`): the next number."""

    summary: Annotated[str, goes("what happened; the title of an episode")]
    span: Annotated[tuple[int, int], goes("[start, end) in microseconds UTC")]
    status: NotRequired[Annotated[str, goes("such as archived; empty if absent")]]
    edges: Annotated[
        list[tuple[str, Any, str | None]],
        goes("relation, target, qualifier; the target is an id, an entity, a time or a mention"),
    ]


class LinkRecord(NamingRecord):
    """An edge from an event to something else."""

    source: Annotated[str, goes("id of the event")]
    relation: Annotated[str, goes("name of the relation")]
    target: Annotated[Any, goes("as the target of an edge of an event")]
    qualifier: NotRequired[Annotated[str, goes("such as the role of a participant")]]


class Surface(AnyRecord):
    """The words and the vector of a version, or of an entity, that had none."""

    of: Annotated[str, goes("fact, event or entity")]
    version: Annotated[int, goes("its number")]
    words: Annotated[list[str], goes("of its text")]
    vector: NotRequired[Annotated[str, goes("float16 in base64")]]
    name: NotRequired[Annotated[str, goes("of the entity")]]
    synonyms: NotRequired[
        Annotated[list[tuple[int, float]], goes("earlier entities with a like name, and how like")]
    ]


class Erase(AnyRecord):
    """Earlier records were erased; what is left of them are stubs."""

    why: NotRequired[Annotated[str, stays("the reason, as the caller gave it")]]
    everything: NotRequired[Annotated[bool, stays("all of the agent's content")]]
    memories: Annotated[int, stays("how many were erased")]
    passages: Annotated[int, stays("of theirs")]
    facts: Annotated[int, stays("how many versions were erased")]
    events: Annotated[int, stays("likewise")]
    left: NotRequired[
        Annotated[dict[str, Any], stays("number and checksum of the stubs before it")]
    ]
    vectors: Annotated[
        list[tuple[int, int, str | None]], stays("first, end, new checksum of batches of rows")
    ]
    ids: NotRequired[Annotated[dict[str, Any], stays("keyed hashes of the erased ids")]]


class Restore(AnyRecord):
    """Lost vectors were made again."""

    first: Annotated[int, stays("row")]
    end: Annotated[int, stays("row after the last")]
    sha256: Annotated[str | None, stays("of their bytes")]


class Reembed(NotedRecord):
    """The agent was moved to another model."""

    settings: Annotated[Create, stays("from now on")]
    batches: Annotated[
        list[tuple[int, str | None]], stays("end and checksum of each batch of rows")
    ]


class Rules(NotedRecord):
    """What is forgotten by age and number from now on."""

    rules: Annotated[list[dict[str, Any]], stays("network, age in microseconds, count, erase")]


RECORDS: Mapping[str, Any] = {
    "create": Create,
    "vocabulary": VocabularyRecord,
    "retain": RetainRecord,
    "correct": RetainRecord,
    "forget": Close,
    "replace": Close,
    "archive": Close,
    "extract": ExtractRecord,
    "think": ThinkRecord,
    "form": FormRecord,
    "upsert_entity": UpsertEntityRecord,
    "merge_entity": MergeEntityRecord,
    "split_entity": SplitEntityRecord,
    "upsert_edge": FactRecord,
    "retro_correct": FactRecord,
    "archive_edge": ArchiveEdgeRecord,
    "upsert_event": EventRecord,
    "upsert_episode": EventRecord,
    "link": LinkRecord,
    "surface": Surface,
    "erase": Erase,
    "restore": Restore,
    REEMBED: Reembed,
    "retention": Rules,
}
"""Kind -> the class of its payload."""


def _fields(record: Any) -> dict[str, RecordedField]:
    """Return the fields of a kind of record, with those that are kept as labels."""
    found: dict[str, RecordedField] = {}
    for name, kind in get_type_hints(record, include_extras=True).items():
        (said,) = (each for each in _arguments(kind) if isinstance(each, RecordedField))
        found[name] = said
    if record is RetainRecord:
        found |= {field.key: goes(field.help) for field in LABELS}
    return found


def _arguments(kind: Any) -> list[Any]:
    """Return the arguments of an annotation, and of those within it."""
    return [each for one in get_args(kind) for each in (one, *_arguments(one))]


FIELDS: Mapping[str, Mapping[str, RecordedField]] = {
    kind: _fields(record) for kind, record in RECORDS.items()
}
"""Kind -> its fields, and what is said of each."""

STAYS: Mapping[str, frozenset[str]] = {
    kind: frozenset(name for name, said in fields.items() if said.fate == "stays")
    for kind, fields in FIELDS.items()
}
"""The fields that stay, whatever is erased."""

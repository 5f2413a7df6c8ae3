"""Whose content is in a field of a log record? One table, by which memories are erased.

A field of `CONTENT` says what the record is about: a memory, a fact, an event, an entity or a
thought. It goes with that, see `writing.erasure_plan`. A field of `STAYS` has numbers, times and
checksums, or names of rules, models and settings; it stays, and so does ``by``, who made the
record. ``why``, the reason, goes with the content, but for that of the operation `erase`.

A field that is in neither is content: an erasure of everything takes it.
"""

from recollex_engine.domain.fields import LABELS
from recollex_engine.domain.settings import REEMBED

_FACT = (
    "id",
    "subject",
    "predicate",
    "object",
    "valid",
    "mentions",
    "source",
    "confidence",
    "uncertainty",
    "zone",
    "names",
    "typed",
    "surface",
    "phrases",
    "why",
)
_EVENT = ("id", "summary", "span", "status", "edges", "names", "typed", "surface", "why")
_MEMORY = (
    "id",
    "text",
    "said",
    "event",
    "network",
    "valid_until",
    *(field.key for field in LABELS),
    "role",
    "trust",
    "tags",
    "metadata",
    "passages",
    "pieces",
    "names",
    "called",
    "entities",
    "typed",
    "words",
    "terms",
    "tokens",
    "links",
    "amends",
    "why",
)
_SETTINGS = (
    "model",
    "dimension",
    "language",
    "analyzer",
    "counter",
    "format",
    "embedding",
    "locale",
    "entity_rule",
)

CONTENT: dict[str, frozenset[str]] = {
    kind: frozenset(fields)
    for kind, fields in {
        "create": (),
        "vocabulary": (),
        "retain": _MEMORY,
        "correct": _MEMORY,
        **dict.fromkeys(("forget", "replace", "archive"), ("memories", "why")),
        "extract": ("why",),
        "think": ("question", "answer", "profile", "thought", "shown", "prompt", "model", "why"),
        "form": ("thought", "prompt", "model", "opinions", "failed", "why"),
        "upsert_entity": ("entity", "aliases", "types", "names", "typed", "why"),
        "merge_entity": ("source", "target", "names", "typed", "why"),
        "split_entity": ("source", "from", "names", "typed", "why"),
        **dict.fromkeys(("upsert_edge", "retro_correct"), _FACT),
        "archive_edge": ("id", "closes", "why"),
        **dict.fromkeys(("upsert_event", "upsert_episode"), _EVENT),
        "link": ("source", "relation", "target", "qualifier", "names", "typed", "why"),
        "surface": ("of", "version", "words", "vector", "name", "synonyms"),
        "erase": (),
        "restore": (),
        **dict.fromkeys((REEMBED, "retention"), ("why",)),
    }.items()
}
"""The fields that go with what the record is about, by the kind of the record."""

STAYS: dict[str, frozenset[str]] = {
    kind: frozenset(("hole", "by", *fields))
    for kind, fields in {
        "create": _SETTINGS,
        "vocabulary": ("name",),
        **dict.fromkeys(("retain", "correct"), ("vectors", "previous", "replaces")),
        **dict.fromkeys(("forget", "replace", "archive"), ()),
        "extract": ("turns", "facts", "prompt", "model", "failed", "left_out"),
        **dict.fromkeys(("think", "form", "archive_edge", "link", "surface"), ()),
        **dict.fromkeys(("upsert_entity", "merge_entity", "split_entity"), ()),
        **dict.fromkeys(("upsert_edge", "retro_correct"), ("evidence", "previous", "closes")),
        **dict.fromkeys(("upsert_event", "upsert_episode"), ("previous", "closes")),
        "erase": (
            "why",
            "everything",
            "memories",
            "passages",
            "facts",
            "events",
            "left",
            "vectors",
            "ids",
        ),
        "restore": ("first", "end", "sha256"),
        REEMBED: ("settings", "batches"),
        "retention": ("rules",),
    }.items()
}
"""The fields that stay, whatever is erased."""

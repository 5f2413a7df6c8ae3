"""Which fields has each operation in JSON, and by which other names? See `dsl`."""

SAME = {
    "src": {"UPSERT_EDGE": "subject", "MERGE_ENTITY": "source", "LINK": "source"},
    "dst": {
        "UPSERT_EDGE": "object",
        "RETRO_CORRECT": "object",
        "MERGE_ENTITY": "target",
        "LINK": "target",
    },
    "rel": {"UPSERT_EDGE": "predicate", "LINK": "relation"},
    "src_id": {"MERGE_ENTITY": "source"},
    "dst_id": {"MERGE_ENTITY": "target"},
    "edge_id": {"UPSERT_EDGE": "id", "ARCHIVE_EDGE": "id", "RETRO_CORRECT": "id"},
    "canonical_name": {"UPSERT_ENTITY": "name"},
    "facts": {"UPSERT_EVENT": "includes_fact"},
    "span": {"UPSERT_EVENT": "time_span"},
    "role": {"LINK": "qualifier"},
    "event": {"LINK": "source"},
}
"""The paper's name of a field -> operation -> the name that is used here."""
COMMON = ("op", "by", "why", "recorded_at")
"""The fields of every operation."""
_MEMORY = "text event_at network context tags metadata valid_until"
_EDGE = "object valid evidence source mentions confidence uncertainty"
FIELDS: dict[str, tuple[str, ...]] = {
    word: tuple(names.split())
    for word, names in {
        "RETAIN": f"{_MEMORY} id document_id entities",
        "FORGET": "id",
        "ARCHIVE": "id",
        "CORRECT": f"id {_MEMORY}",
        "UPSERT_ENTITY": "name aliases types",
        "MERGE_ENTITY": "source target",
        "SPLIT_ENTITY": "source name",
        "UPSERT_EDGE": f"subject predicate id {_EDGE}",
        "ARCHIVE_EDGE": "id valid",
        "RETRO_CORRECT": f"id valid_start valid_end {_EDGE}",
        "UPSERT_EVENT": "summary participants includes_fact time_span status times mentions id",
        "LINK": "source relation target qualifier",
        "UPSERT_EPISODE": "title window events id",
        "BEGIN": "",
        "COMMIT": "",
    }.items()
}
"""Operation -> its fields. The source of a memory is not among them: only the caller gives it."""
NEEDED: dict[str, tuple[str, ...]] = {
    "RETAIN": ("text",),
    "FORGET": ("id",),
    "ARCHIVE": ("id",),
    "CORRECT": ("id",),
    "UPSERT_ENTITY": ("name",),
    "MERGE_ENTITY": ("source", "target"),
    "SPLIT_ENTITY": ("source",),
    "UPSERT_EDGE": ("subject", "predicate", "object"),
    "ARCHIVE_EDGE": ("id",),
    "RETRO_CORRECT": ("id",),
    "UPSERT_EVENT": ("summary",),
    "LINK": ("source", "relation", "target"),
    "UPSERT_EPISODE": ("title", "events"),
}
"""Operation -> the fields that it must have."""

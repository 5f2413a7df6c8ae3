"""Which columns do facts, events and entities have? They are stored beside the memories' columns.

A version of a fact (one item a version, in recorded order)::

    fact_id uint32           its string in the dictionary `fact_ids`
    fact_previous uint32     the older version with the same id, or NONE
    fact_op uint64           the operation that recorded it
    fact_closed_by uint64    the operation that archived or corrected it; 0 while open
    fact_subject uint32      an entity; fact_subject_previous: a chain (see `state.column_set`)
    fact_predicate uint32    a label
    fact_kind uint8, fact_object int64      see `domain.literals`
    fact_start, fact_end int64              valid time, [start, end)
    fact_confidence float64
    fact_uncertainty, fact_source uint32    a label, or NONE
    fact_zone uint32         of an object that is a time, see `zones`: a label, or NONE for UTC
    fact_evidence_end, fact_mention_end uint64    where its items in the two lists end

    fact_evidence uint32     memories, flat; fact_evidence_fact, .._previous: a chain
    fact_mention uint32      labels, flat
    fact_entity uint32       the objects that are entities; fact_entity_fact, .._previous: a chain

A version of an event or an episode::

    event_id, event_previous, event_op, event_closed_by    as for facts, in `event_ids`
    event_kind uint8         event 0, episode 1
    span_start, span_end int64      the time span of the event
    event_status, event_summary uint32    labels

An edge that leaves an event or an episode::

    edge_source uint32       the event's number in `event_ids`; edge_source_previous: a chain
    edge_version uint32      the version that recorded it, or NONE for a LINK
    edge_relation uint8      see `RELATIONS`
    edge_target int64        a number in `fact_ids` or `event_ids`, an entity, a label, microseconds
    edge_target_previous uint32     the previous edge to the same fact, event or entity, or NONE
    edge_qualifier uint32    a label (a role, a qualifier), or NONE
    edge_op uint64
    edge_zone uint32         of a target that is a time, as fact_zone

A record of an entity, and a merge::

    node_entity uint32, node_op uint64, node_name uint32 (a label), node_label_end uint64
    node_label uint32        types and aliases, flat
    merge_source, merge_target uint32, merge_op uint64
    split_source uint32, split_op uint64    from then on the merges of this source do not hold

What an entity is; the newest that a view covers counts::

    type_entity uint32, type_code uint8 (see `text.entity_types`), type_op uint64

A phrase, an entity whose name has a surface, and its synonyms, each link in both directions::

    phrase_entity uint32, phrase_op uint64
    synonym_entity uint32, synonym_other uint32, synonym_weight float32, synonym_op uint64

A surface: the words and the vector of the text by which a version is searched (see
`domain.surfaces`), one item a surface, in the order of the log::

    surface_kind uint8       fact 0, event or episode 1, entity 2
    surface_version uint32   the version, or the entity
    surface_words uint32     how many words it has
    surface_term uint32      its words, flat, in `surface_terms`; surface_term_offset uint64
    surface_vector_of uint32 the surface of each vector, ascending: those of words alone have none
    surface_vector uint16    float16 bit patterns, flat
    surface_code4, .._step, .._norm, .._loss, surface_code1, .._factor    as of passages
"""

FACT = {
    "fact_id": "<u4",
    "fact_previous": "<u4",
    "fact_op": "<u8",
    "fact_closed_by": "<u8",
    "fact_subject": "<u4",
    "fact_predicate": "<u4",
    "fact_kind": "|u1",
    "fact_object": "<i8",
    "fact_start": "<i8",
    "fact_end": "<i8",
    "fact_confidence": "<f8",
    "fact_uncertainty": "<u4",
    "fact_source": "<u4",
    "fact_evidence_end": "<u8",
    "fact_mention_end": "<u8",
    "fact_zone": "<u4",
}
EVENT = {
    "event_id": "<u4",
    "event_previous": "<u4",
    "event_op": "<u8",
    "event_closed_by": "<u8",
    "event_kind": "|u1",
    "span_start": "<i8",
    "span_end": "<i8",
    "event_status": "<u4",
    "event_summary": "<u4",
}
EDGE = {
    "edge_source": "<u4",
    "edge_version": "<u4",
    "edge_relation": "|u1",
    "edge_target": "<i8",
    "edge_qualifier": "<u4",
    "edge_op": "<u8",
    "edge_zone": "<u4",
}
NODE = {"node_entity": "<u4", "node_op": "<u8", "node_name": "<u4", "node_label_end": "<u8"}
TYPE = {"type_entity": "<u4", "type_op": "<u8", "type_code": "|u1"}
"""Columns added in a later version: entities recorded before have no type."""
PHRASE = {"phrase_entity": "<u4", "phrase_op": "<u8"}
SYNONYM = {
    "synonym_entity": "<u4",
    "synonym_other": "<u4",
    "synonym_weight": "<f4",
    "synonym_op": "<u8",
}
"""Columns added in a later version: entities named before get a surface later."""
MERGE = {"merge_source": "<u4", "merge_target": "<u4", "merge_op": "<u8"}
SPLIT = {"split_source": "<u4", "split_op": "<u8"}
"""Columns added in a later version."""
CHAINS = {
    "fact_subject": "fact_subject_previous",
    "fact_entity": "fact_entity_previous",
    "fact_evidence": "fact_evidence_previous",
    "edge_source": "edge_source_previous",
    "node_entity": "node_previous",
    "type_entity": "type_previous",
    "phrase_entity": "phrase_previous",
    "synonym_entity": "synonym_previous",
}
"""The key column of each chain, and the column that holds the previous entry."""
LISTS = {
    "fact_evidence": "<u4",
    "fact_evidence_fact": "<u4",
    "fact_entity": "<u4",
    "fact_entity_fact": "<u4",
    "fact_mention": "<u4",
    "node_label": "<u4",
    "edge_target_previous": "<u4",
}
SURFACES = {
    "surface_version": "<u4",
    "surface_words": "<u4",
    "surface_term": "<u4",
    "surface_term_offset": "<u8",
    "surface_vector_of": "<u4",
    "surface_vector": "<u2",
    "surface_code4": "|u1",
    "surface_code_step": "<f4",
    "surface_code_norm": "<f4",
    "surface_code_loss": "<f4",
    "surface_code1": "<u8",
    "surface_code_factor": "<f4",
    "surface_kind": "|u1",
}
"""Columns added in a later version. `surface_kind` is written last, so its length counts."""
SURFACE_KINDS = ("fact", "event", "entity")
"""The tables of what has surfaces; a table's index is its number in the column."""
COLUMNS = {
    **FACT,
    **EVENT,
    **EDGE,
    **NODE,
    **TYPE,
    **PHRASE,
    **SYNONYM,
    **MERGE,
    **SPLIT,
    **LISTS,
    **SURFACES,
    **dict.fromkeys(CHAINS.values(), "<u4"),
}
CLOSED = ("fact_closed_by", "event_closed_by")
"""The columns whose items are written once, later than the others."""
DICTIONARIES = ("fact_ids", "event_ids", "surface_terms")

ALIAS_OF = "alias_of"
PARTED_FROM = "from"
"""In the record of a split: [name, number] of the entity that had the source as a name."""
HAS_ATTRIBUTE = "has_attr"
MENTIONED_IN = "mentioned_in"

EVENT_KINDS = ("event", "episode")
ARCHIVED = "archived"
"""The status of events and episodes that stay stored, and that no search returns."""
OBSERVATION = "observation"
"""The status of events that say what several facts show together, see `facts.events`."""
RELATIONS = (
    "includes_fact",
    "has_participant",
    "has_time",
    "has_time_text",
    "related_to",
    "subevent_of",
    "causes",
    "corefers",
    "mentioned_in",
    "aggregates",
)
"""The relations of edges; a relation's index is its number in the column."""
TARGETS = {
    "includes_fact": "fact",
    "has_participant": "entity",
    "related_to": "event",
    "subevent_of": "event",
    "causes": "event",
    "corefers": "event",
    "aggregates": "event",
}
"""The kind of node that a relation leads to, for those that lead to a node."""
BETWEEN_EVENTS = frozenset(
    RELATIONS.index(relation)
    for relation, target in TARGETS.items()
    if target == "event" and relation != "aggregates"
)
"""The numbers of the relations that join two events."""

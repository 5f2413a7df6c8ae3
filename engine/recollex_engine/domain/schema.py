"""Which columns does an agent have, and what is in them?

Properties of a memory (one item a memory, by ordinal)::

    id uint32            its string in the dictionary `ids`
    previous uint32      the older version with the same id, or NONE
    op uint64            the operation that recorded it
    closed_by uint64     the operation that closed it; 0 while it is open (written once)
    forgotten_by uint64  the operation that forgot it after another had closed it (written once)
    said_at int64        when it was said or done, as the caller gave it
    event_start, event_end int64    when its event happened, [start, end)
    valid_end int64      when it stopped being true, as the caller gave it; max int64: no end
    network uint8        world 0, agent 1, opinion 2
    role uint8           unknown 0, user 1, assistant 2, system 3, tool 4
    context, document, speaker, source uint32   a label, or NONE: `fields.LABELS` names them
    trust uint8          unknown 0, web 1, tool 2, assistant 3, user 4, see `trust`
    tokens uint32        of the whole text
    words uint32         words that are not stop words, of all its passages
    first_row uint32     [memories + 1] its passages are rows first_row[m]:first_row[m + 1]

Lists of a memory, flat, with offsets of memories + 1 items::

    text uint8               text_offset uint64       UTF-8
    metadata uint8           metadata_offset uint64   JSON; empty for none
    label uint32             label_offset uint64      tags and metadata pairs, for filters
    mention_entity uint32    mention_offset uint64    CSR: memory -> entities
    link_target uint32, link_weight float32    link_offset uint64    CSR: memory -> earlier memories

Properties of a passage (one item a row)::

    memory_of_row uint32, passage_start, passage_end uint32 (characters), passage_tokens uint32
    length uint32 (words that are not stop words), term_offset uint64 [rows + 1], term uint32 (flat)
    code4 uint8 [rows * dimension / 2], code_step, code_norm, code_loss float32
        the vector in four bits a component, and the loss of that
    code1 uint64 [rows * ceil(dimension / 64)], code_factor float32
        the rotated vector in one bit a component, and the factor for estimates from it

Token ids of passages (see `state.word_pieces`); the columns are empty until there are some::

    piece uint16 (flat)    piece_offset uint64 [rows + 1]
    vocabulary uint32, vocabulary_row uint32   a label, and the first row with ids of it

Properties of an operation (one item an op, by op - 1)::

    op_recorded_at int64, op_memories uint32, op_rows uint32, op_length uint64
        the state after it: counts, and the sum of `length`; so a view is one number
    op_kind uint32, op_by uint32, op_why uint32   labels: its kind, who did it and why, or NONE

Properties of a name::

    name_entity uint32   its entity         name_op uint64   the operation that first used it

A name that became an entity of its own (see `state.columns`)::

    parted_name uint32   its number         parted_entity uint32, parted_op uint64

The reversed directions (entity -> memories, memory -> later memories that link to it) are chains:
linked lists in the flat arrays, newest first. `mention_previous` and `link_previous` hold the
previous entry; the heads are computed on opening. A chain grows by one store an entry and needs no
rebuild, so the graph does not depend on where an index ends and the tail begins.

Facts, events and entities have columns of their own: see `fact_schema`.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import orjson

from recollex_engine.domain import fact_schema
from recollex_engine.domain.fields import LABELS

NONE = 0xFFFFFFFF
NETWORKS = ("world", "agent", "opinion")
"""The three networks of Memora, section 2.1; a network's index is its number in the column."""
OPINION = NETWORKS.index("opinion")
"""A memory of this network does not change once it is formed."""

CLOSED = ("closed_by", "forgotten_by", *fact_schema.CLOSED)
"""The columns whose items are written once, later: from 0 to the number of an operation. All other
columns are fixed. A view older than that operation reads the item as 0."""
RETAINING = ("retain", "correct")
"""The kinds of operation that record a memory."""
CLOSING = ("forget", "replace", "archive")
"""The kinds of operation that only close memories, which their payload lists."""
ENDS = {
    "forget": "forgotten",
    "archive": "archived",
    "correct": "corrected",
    "replace": "replaced",
    "retain": "replaced",
}
"""The end of a memory, by the kind of operation that closed it."""

AMENDS: Final = "amends"
"""In the payload of a correction: the text stays. Versions before it read a plain correction."""
CALLED: Final = "called"
"""In the record of a memory: (name, entity) of the names that the caller gave and that joined the
entity before. Its text need not have them, and its columns hold only the entities."""
ERASE = "erase"
"""The kind of the operation that says that other operations were erased, by whom and why."""
EXTRACT = "extract"
"""The kind of the operation that says from which memories facts were drawn. It changes no column
beside those of every operation; see `mind.extraction_log`."""
THINK = "think"
"""The kind of the operation that says that an agent answered a question, from which opinions are to
be formed; it has the question and the answer, until a memory that the model was shown is erased."""
FORM = "form"
"""The kind of the operation that says that they were formed, or could not be. Both change no column
beside those of every operation; see `mind.thinking_log`."""
DRAWN = "extraction"
"""The name in the metadata of a fact that was drawn from memories; its value names the prompt. The
name `EVIDENCE` has the ids of these memories."""
EVIDENCE = "evidence"
RELATIONS = "relations"
"""The name in the metadata of a fact that was drawn: how it relates to others, each with its id as
``known`` and the model's reason."""
SUPERSEDES = "supersedes"
MADE_BY = "made_by"
SHOWN = "shown"
"""Names in the metadata of an opinion: the id of the one before it; what formed it, and in that, if
it names no evidence, the ids of the memories that a model was shown."""
HOLE: Final = "hole"
"""A key of a stub: the memory, fact or event of the record was erased. Its number stays.
The value is the number of passages for a memory, else true."""
PLACEHOLDER = "\x1a"
"""An id, a word or a name that was erased is this character and its number."""

STOP_WORD = -1
"""In a log record, the number of a stop word among the terms of a passage."""

MEMORY = {
    "id": "<u4",
    "previous": "<u4",
    "op": "<u8",
    "closed_by": "<u8",
    "forgotten_by": "<u8",
    "said_at": "<i8",
    "event_start": "<i8",
    "event_end": "<i8",
    "valid_end": "<i8",
    "network": "|u1",
    "role": "|u1",
    "trust": "|u1",
    "tokens": "<u4",
    "words": "<u4",
    **{field.key: "<u4" for field in LABELS},
}
LISTS = {
    "text": {"text": "|u1"},
    "metadata": {"metadata": "|u1"},
    "label": {"label": "<u4"},
    "mention": {"mention_entity": "<u4", "mention_memory": "<u4", "mention_previous": "<u4"},
    "link": {
        "link_target": "<u4",
        "link_source": "<u4",
        "link_previous": "<u4",
        "link_weight": "<f4",
    },
}
ROW = {
    "memory_of_row": "<u4",
    "passage_start": "<u4",
    "passage_end": "<u4",
    "passage_tokens": "<u4",
    "length": "<u4",
    "term_offset": "<u8",
}
CODE = {
    "code4": "|u1",
    "code_step": "<f4",
    "code_norm": "<f4",
    "code_loss": "<f4",
    "code1": "<u8",
    "code_factor": "<f4",
}
PIECES = {
    "piece": "<u2",
    "piece_offset": "<u8",
    "vocabulary": "<u4",
    "vocabulary_row": "<u4",
}
"""Columns added in a later version: a checkpoint without them has no token ids."""
PARTED = {"parted_name": "<u4", "parted_entity": "<u4", "parted_op": "<u8"}
"""Columns added in a later version."""
OP = {
    "op_recorded_at": "<i8",
    "op_memories": "<u4",
    "op_rows": "<u4",
    "op_length": "<u8",
    "op_kind": "<u4",
    "op_by": "<u4",
    "op_why": "<u4",
}
CHAINED = {
    "mention": ("mention_entity", "mention_memory"),
    "link": ("link_target", "link_source", "link_weight"),
}
"""The columns of a chained list that the caller gives, the chain's key first."""
DICTIONARIES = ("ids", "terms", "labels", "names", *fact_schema.DICTIONARIES)


@cache
def schema() -> Mapping[str, str]:
    """Return every column's name and dtype."""
    offsets = {f"{name}_offset": "<u8" for name in LISTS}
    flat = {name: dtype for group in LISTS.values() for name, dtype in group.items()}
    return {
        **MEMORY,
        "first_row": "<u4",
        **offsets,
        **flat,
        **ROW,
        **CODE,
        **PIECES,
        "term": "<u4",
        "entity_name": "<u4",
        "name_entity": "<u4",
        "name_op": "<u8",
        **PARTED,
        **OP,
        **fact_schema.COLUMNS,
    }


def words(dimension: int) -> int:
    """Return how many words of 64 bits hold a bit for each component of a vector."""
    return -(-dimension // 64)


def metadata_label(name: str, value: Any) -> str:
    """Return the label by which a filter on metadata finds ``name`` = ``value``."""
    return f"m:{name}={orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()}"

"""What does a correction say? The corrected memory's own words where the caller gives no others."""

from dataclasses import replace
from typing import Any

from recollex_engine.clock import OPEN_END
from recollex_engine.columns import Columns
from recollex_engine.draft import is_same
from recollex_engine.entities import mentions
from recollex_engine.errors import InputError, UnknownIdError
from recollex_engine.plan import Plan
from recollex_engine.statement import Statement
from recollex_engine.writer import Writer


def find_correction(
    writer: Writer, agent: str, id: str, text: str, changes: dict[str, Any]
) -> tuple[Plan, Statement]:
    """Return the statement that takes the place of memory ``id``, and of when that is true.

    It says ``text`` and ``changes`` (fields of `Statement`), and is otherwise the memory as it is.
    Names are found in the text anew; entities that the caller had named stay. A turn keeps its
    speaker, in front of the text. Raises `UnknownIdError` where no memory with this id is open, and
    `InputError` where nothing changes.
    """
    with writer.lock:
        columns = writer.replica.columns
        memory = columns.newest(id, columns.memories, columns.op)
        if memory is None:
            raise UnknownIdError(id, agent)
        before = _statement(columns, memory, id)
        if before.speaker is not None and not text.startswith(f"{before.speaker}: "):
            text = f"{before.speaker}: {text}"
        statement = replace(before, text=text, **changes)
        if is_same(columns, memory, statement):
            raise InputError(f"memory {id!r} says this already: nothing to correct")
        return Plan(columns.op), statement


def _statement(columns: Columns, memory: int, id: str) -> Statement:
    """Return a memory as the statement that would record it again."""

    def label(name: str) -> str | None:
        return columns.label(int(columns.array(name)[memory]))

    valid_end = int(columns.array("valid_end")[memory])
    return Statement(
        columns.text(memory),
        int(columns.array("said_at")[memory]),
        id,
        int(columns.array("network")[memory]),
        label("context"),
        label("document"),
        label("speaker"),
        _given_entities(columns, memory),
        tuple(columns.tags(memory)),
        columns.metadata(memory),
        None if valid_end == OPEN_END else valid_end,
    )


def _given_entities(columns: Columns, memory: int) -> tuple[str, ...]:
    """Return the entities of a memory that its text does not name."""
    first, end = columns.array("mention_offset")[memory : memory + 2].tolist()
    entities = columns.array("mention_entity")[first:end].tolist()
    speaker = columns.label(int(columns.array("speaker")[memory]))
    found = {columns.entity(name, columns.op) for name in mentions(columns.text(memory), speaker)}
    return tuple(columns.entity_name(entity) for entity in entities if entity not in found)

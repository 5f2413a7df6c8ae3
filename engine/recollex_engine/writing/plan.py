"""Which statements of a retain call are recorded already? Looked up before any is embedded.

Embedding takes long, so it is done without the writer's lock. A plan holds the operation at which
it was made, and the writer refuses it if another thread recorded something since.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from recollex_engine.domain.statement import Statement
from recollex_engine.state.view import View
from recollex_engine.writing.draft import is_same
from recollex_engine.writing.writer import Writer

AFTER_CREATION = 1
"""The operation that creates an agent; no plan depends on what it records."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Which of some statements are recorded already, by their places.

    as_of: the last operation when the plan was made; None if nothing depends on what is recorded.
    known: statements that are recorded under their own ids; they need no vector. held: statements
    without ids that the replaced document holds -> their ids. closed: memories that the document
    loses.
    """

    as_of: int | None
    known: frozenset[int] = frozenset()
    held: dict[int, str] = field(default_factory=dict)
    closed: list[int] = field(default_factory=list)


def find_plan(writer: Writer | None, statements: Sequence[Statement], document: str | None) -> Plan:
    """Return which of ``statements`` are recorded; they replace ``document`` if it is given.

    ``writer`` is None for an agent that holds nothing yet. Cost: with ids or a document, it waits
    for the transaction that is being recorded; then 5 us for each id, and O(memories) for a
    document.
    """
    if document is None and all(statement.id is None for statement in statements):
        return Plan(None)
    if writer is None:
        return Plan(AFTER_CREATION if document is not None else None)
    with writer.lock:
        writer.check_settled()
        columns = writer.replica.columns
        as_of = max(columns.op, AFTER_CREATION)
        closed: list[int] = []
        held: dict[int, str] = {}
        if document is not None:
            closed, held = _document_changes(writer.replica.view(columns.op), document, statements)
        known: list[int] = []
        met: set[str] = set()
        for place, statement in enumerate(statements):
            if statement.id is None or statement.id in met:
                continue  # the second statement of an id is compared with the first
            met.add(statement.id)
            memory = columns.newest(statement.id, columns.memories, columns.op)
            if memory is not None and is_same(columns, memory, statement):
                known.append(place)
    depends = document is not None or known
    return Plan(as_of if depends else None, frozenset(known), held, closed)


def _document_changes(
    view: View, document: str, statements: Sequence[Statement]
) -> tuple[list[int], dict[int, str]]:
    """Return the document's memories to close, and the statements that it holds already.

    A statement matches the memory with its id; without an id, it matches an equal memory.
    """
    columns = view.columns
    label = columns.dictionary["labels"].get(f"d:{document}")
    if label is None:
        return [], {}
    held = np.flatnonzero((view.of_memories("document") == label) & (view.open == 1)).tolist()
    strings = columns.dictionary["ids"]
    keys = columns.array("id")
    name = {memory: strings.string(int(keys[memory])) for memory in held}
    by_id = {id: memory for memory, id in name.items()}
    # equal to a statement with its id, or replaced by it
    stays = {by_id[each.id] for each in statements if each.id is not None and each.id in by_id}
    ids: dict[int, str] = {}
    for place, statement in enumerate(statements):
        if statement.id is not None:
            continue
        for memory in held:
            if memory not in stays and is_same(columns, memory, statement):
                stays.add(memory)
                ids[place] = name[memory]
                break
    return [memory for memory in held if memory not in stays], ids

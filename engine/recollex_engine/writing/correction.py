"""How is a correction recorded? As a new version, with the old fields that are not changed."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from recollex_engine.clock import OPEN_END
from recollex_engine.domain.memory_operations import Archive, Correct, Forget, Retain
from recollex_engine.domain.operations import Operation
from recollex_engine.domain.schema import OPINION
from recollex_engine.domain.statement import Statement
from recollex_engine.domain.trust import check_stamp, least
from recollex_engine.errors import InputError, OperationError, UnknownIdError
from recollex_engine.state.columns import Columns
from recollex_engine.text.name_rules import name_rule
from recollex_engine.writing.draft import is_same, refuse_opinion
from recollex_engine.writing.plan import Plan
from recollex_engine.writing.preparation import Computed, computed_of
from recollex_engine.writing.writer import Writer


def find_correction(
    writer: Writer, agent: str, id: str, text: str, changes: dict[str, Any]
) -> tuple[Plan, Statement]:
    """Return the statement that replaces memory ``id``, and the plan that it is based on.

    Raises the errors of `corrected`, and `InputError` if nothing changes.
    """
    with writer.lock:
        writer.check_settled()
        columns = writer.replica.columns
        memory, statement = corrected(columns, agent, id, text, changes)
        if is_same(columns, memory, statement):
            raise InputError(f"memory {id!r} says this already: nothing to correct")
        return Plan(columns.op), statement


def find_amendment(
    writer: Writer, agent: str, id: str, changes: dict[str, Any]
) -> tuple[Plan, Statement, Computed]:
    """Return the same as `find_correction` for a memory whose text stays, and what it computed.

    Raises the same errors.
    """
    with writer.lock:
        writer.check_settled()
        columns = writer.replica.columns
        memory, statement = corrected(columns, agent, id, None, changes)
        if is_same(columns, memory, statement):
            raise InputError(f"memory {id!r} has these already: nothing to amend")
        return Plan(columns.op), statement, computed_of(writer.replica.view(columns.op), memory)


def corrected(
    columns: Columns, agent: str, id: str, text: str | None, changes: dict[str, Any]
) -> tuple[int, Statement]:
    """Return the open memory ``id``, and the statement that replaces it.

    The statement has ``text`` and ``changes`` (fields of `Statement`); its other fields are those
    of the memory, also the text if ``text`` is None. Names are searched in the text; entities that
    the caller had given stay. A turn keeps its speaker in front of the text. The statement has the
    stamp of the memory or of the correction, the less trusted of both: no correction raises trust.
    Where the text stays, a correction without a source keeps the memory's stamp. Raises
    `UnknownIdError` if no memory with this id is open.
    """
    memory = columns.newest(id, columns.memories, columns.op)
    if memory is None:
        raise UnknownIdError(id, agent)
    if columns.array("network")[memory] == OPINION:
        refuse_opinion(id)
    before = _statement(columns, memory, id)
    given = changes.get("source"), changes.get("trust", 0)
    check_stamp(*given)
    stamps = (given, before.stamp)
    if text is None:
        text = before.text
        stamps = stamps if given[0] is not None else (before.stamp, before.stamp)
    elif before.speaker is not None and not text.startswith(f"{before.speaker}: "):
        text = f"{before.speaker}: {text}"
    source, trust = least(stamps)
    return memory, replace(before, text=text, **(changes | {"source": source, "trust": trust}))


def find_statements(
    writer: Writer | None,
    agent: str,
    operations: Sequence[Operation],
    where: Sequence[str] | None,
) -> tuple[int | None, list[Statement], dict[int, Computed]]:
    """Return what operations are based on, their statements, and what was computed of some.

    The first is an operation, None if there are no corrections: then the statements do not depend
    on what is recorded. The last is of the statements whose text stays, by their places. ``where``
    as for `fact_draft.FactDraft.add`.
    """
    if not any(isinstance(each, Correct) for each in operations):
        return None, [each.statement for each in operations if isinstance(each, Retain)], {}
    with nullcontext() if writer is None else writer.lock:
        if writer is not None:
            writer.check_settled()
        columns = None if writer is None else writer.replica.columns
        statements: list[Statement] = []
        computed: dict[int, Computed] = {}
        changed: set[str] = set()
        for place, each in enumerate(operations):
            try:
                if isinstance(each, Correct):
                    if each.id in changed:
                        raise InputError(
                            f"the memory {each.id!r} is changed in this transaction already"
                        )
                    if writer is None or columns is None:
                        raise UnknownIdError(each.id, agent)
                    memory, new = corrected(columns, agent, each.id, each.text, each.changes)
                    if each.text is None:
                        view = writer.replica.view(columns.op)
                        computed[len(statements)] = computed_of(view, memory)
                    statements.append(new)
                elif isinstance(each, Retain):
                    statements.append(each.statement)
            except InputError as error:
                if where is None:
                    raise
                raise OperationError(where[place], error) from error
            changed.update(
                each.ids if isinstance(each, Retain | Forget | Archive | Correct) else ()
            )
        return None if columns is None else columns.op, statements, computed


def _statement(columns: Columns, memory: int, id: str) -> Statement:
    """Return the statement that would record a memory again."""

    def label(name: str) -> str | None:
        return columns.label(int(columns.array(name)[memory]))

    valid_end = int(columns.array("valid_end")[memory])
    source, trust = columns.stamp(memory)
    return Statement(
        columns.text(memory),
        said_at=int(columns.array("said_at")[memory]),
        id=id,
        network=int(columns.array("network")[memory]),
        context=label("context"),
        document=label("document"),
        speaker=label("speaker"),
        entities=_given_entities(columns, memory),
        tags=tuple(columns.tags(memory)),
        metadata=columns.metadata(memory),
        valid_until=None if valid_end == OPEN_END else valid_end,
        role=int(columns.array("role")[memory]),
        source=source,
        trust=trust,
    )


def _given_entities(columns: Columns, memory: int) -> tuple[str, ...]:
    """Return the entities of a memory that its text does not name."""
    first, end = columns.array("mention_offset")[memory : memory + 2].tolist()
    entities = columns.array("mention_entity")[first:end].tolist()
    speaker = columns.label(int(columns.array("speaker")[memory]))
    assert columns.settings is not None
    find_names = name_rule(columns.settings.language, columns.settings.analyzer)
    found = {columns.entity(name, columns.op) for name in find_names(columns.text(memory), speaker)}
    return tuple(columns.entity_name(entity) for entity in entities if entity not in found)

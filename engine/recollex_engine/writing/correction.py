"""How is a correction recorded? As a new version, with the old fields that are not changed."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from recollex_engine.domain.memory_operations import Archive, Correct, Forget, Retain
from recollex_engine.domain.operations import MergeEntity, Operation, SplitEntity
from recollex_engine.domain.schema import OPINION
from recollex_engine.domain.statement import Statement
from recollex_engine.domain.trust import check_stamp, least
from recollex_engine.errors import InputError, OperationError, UnknownIdError
from recollex_engine.state.columns import Columns
from recollex_engine.writing.draft import is_same, refuse_opinion
from recollex_engine.writing.name_split import NameSplit, find_name_split
from recollex_engine.writing.plan import Plan
from recollex_engine.writing.preparation import Computed, computed_of
from recollex_engine.writing.recorded_statement import recorded_statement
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
    before = recorded_statement(columns, memory, id)
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


@dataclass(slots=True)
class Statements:
    """The statements of a transaction's operations, and what they are based on.

    as_of: an operation; None if they do not depend on what is recorded. statements: those of its
    `Retain` and `Correct` operations and of the names that it splits, in order. computed: of those
    whose text stays, by their places. splits: by the place of the operation.
    """

    as_of: int | None = None
    statements: list[Statement] = field(default_factory=list)
    computed: dict[int, Computed] = field(default_factory=dict)
    splits: dict[int, NameSplit] = field(default_factory=dict)


def find_statements(
    writer: Writer | None,
    agent: str,
    operations: Sequence[Operation],
    where: Sequence[str] | None,
) -> Statements:
    """Return the statements of operations; ``where`` as for `fact_draft.FactDraft.add`."""
    if {Correct, SplitEntity}.isdisjoint(map(type, operations)):
        return Statements(
            statements=[each.statement for each in operations if isinstance(each, Retain)]
        )
    with nullcontext() if writer is None else writer.lock:
        if writer is not None:
            writer.check_settled()
        found = Statements(None if writer is None else writer.replica.columns.op)
        changed: set[str] = set()
        for place, each in enumerate(operations):
            try:
                _find_statement(writer, agent, operations, place, found, changed)
            except InputError as error:
                if where is None:
                    raise
                raise OperationError(where[place], error) from error
            if isinstance(each, Retain | Forget | Archive | Correct):
                changed.update(each.ids)
        return found


def _find_statement(
    writer: Writer | None,
    agent: str,
    operations: Sequence[Operation],
    place: int,
    found: Statements,
    changed: set[str],
) -> None:
    """Add what one operation states; ``changed``: memories that those before it change."""
    each = operations[place]
    if isinstance(each, Retain):
        found.statements.append(each.statement)
    elif isinstance(each, Correct):
        if each.id in changed:
            raise InputError(f"the memory {each.id!r} is changed in this transaction already")
        if writer is None:
            raise UnknownIdError(each.id, agent)
        columns = writer.replica.columns
        memory, new = corrected(columns, agent, each.id, each.text, each.changes)
        if each.text is None:
            view = writer.replica.view(columns.op)
            found.computed[len(found.statements)] = computed_of(view, memory)
        found.statements.append(new)
    elif isinstance(each, SplitEntity) and writer is not None:
        merged = [one.source for one in operations[:place] if isinstance(one, MergeEntity)]
        view = writer.replica.view(writer.replica.columns.op)
        split = find_name_split(view, writer.log.folder, each, merged)
        if split is None:
            return
        found.splits[place] = split
        for statement, computed in split.memories:
            found.computed[len(found.statements)] = computed
            found.statements.append(statement)
        changed.update(split.ids)

"""How does a call become a transaction? It is planned, prepared and embedded, then written.

All steps that may fail come before `WriteContext.open`, which makes the agent's folder.

Which statements of a retain call are recorded already? Looked up before any is embedded.
Embedding takes long, so it is done without the writer's lock. A plan holds the operation at which
it was made, and the writer refuses it if another thread recorded something since.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.memory_operations import Archive, Correct, Forget, Retain
from recollex_engine.domain.operations import MergeEntity, Operation, SplitEntity
from recollex_engine.domain.schema import OPINION
from recollex_engine.domain.statement import Statement
from recollex_engine.domain.surfaces import SURFACE
from recollex_engine.domain.trust import Act, check_stamp, least
from recollex_engine.errors import InputError, OperationError, UnknownIdError
from recollex_engine.models.embedder import EmbeddingProgress, makes_vectors
from recollex_engine.state.columns import Columns
from recollex_engine.state.replica import Replica, gc_paused
from recollex_engine.state.view import View
from recollex_engine.writing.contexts import WriteContext
from recollex_engine.writing.draft import Draft, Lexicon, is_same, refuse_opinion
from recollex_engine.writing.fact_draft import FactDraft
from recollex_engine.writing.name_split import NameSplit, find_name_split, recorded_statement
from recollex_engine.writing.preparation import Computed, Prepared, computed_of, embed, prepare
from recollex_engine.writing.surface_making import (
    SurfaceMaker,
    expected_texts,
    lacking,
    text_of_version,
)
from recollex_engine.writing.taking_away import with_unsupported
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


# How is a correction recorded? As a new version, with the old fields that are not changed.
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


SURFACES_AT_ONCE = 1024
"""Missing surfaces that one transaction adds where all of them are added."""
BATCH = 100
"""Memories or operations in a call from which the garbage collector is paused meanwhile."""


def record_statements(
    context: WriteContext,
    statements: Sequence[Statement],
    plan: Plan,
    given: npt.NDArray[np.float32] | None,
    act: Act,
    progress: EmbeddingProgress | None,
    computed: Computed | None = None,
) -> list[str]:
    """Record the ``statements`` that the plan does not hold already; return the ids of all.

    ``given``: the caller's own vectors, one row for each statement.
    ``computed``: of the text of the only statement. Raises `StalePlan`.
    """
    places = range(len(statements))
    fresh = [place for place in places if place not in plan.held]
    chosen = [statements[place] for place in fresh]
    with gc_paused(len(chosen) >= BATCH):
        prepared = prepare(
            chosen,
            context.said_at(),
            context.analyzer,
            context.counter(),
            context.month_first,
            context.find_types,
        )
    own = None if given is None else given[fresh]
    known = {place for place, at in enumerate(fresh) if at in plan.known}
    before = {} if computed is None else {0: computed}
    ready, vectors = embed(
        prepared, known, own, context.embedder, context.threads, progress, before
    )

    def fill(draft: Draft) -> None:
        context.check_counter(draft.columns)
        draft.replace(plan.closed)
        for each in ready:
            draft.add(each, act)

    writer = context.open()
    link = context.embedder.thresholds.link
    with gc_paused(len(chosen) >= BATCH):
        draft = writer.transact(fill, vectors, context.recorded_at, link, plan.as_of)
    new = iter(draft.ids)
    return [plan.held[place] if place in plan.held else next(new) for place in places]


def record_operations(
    context: WriteContext,
    operations: Sequence[Operation],
    notes: Sequence[dict[str, str]],
    where: Sequence[str] | None,
) -> int:
    """Record ``operations``; return how many records they made. Raises `StalePlan`.

    ``notes`` and ``where`` as for `FactDraft.add`.
    """
    operations = [
        replace(each, statement=context.placed(each.statement)) if type(each) is Retain else each
        for each in operations
    ]
    found = find_statements(context.writer, context.agent, operations, where)
    said_at = context.said_at()
    prepared: Sequence[Prepared] = ()
    if found.statements:
        prepared = prepare(
            found.statements,
            said_at,
            context.analyzer,
            context.counter(),
            context.month_first,
            context.find_types,
        )

    maker = SurfaceMaker(context.embedder, context.analyzer, context.threads)

    def stage(draft: Draft) -> None:
        context.check_counter(draft.columns)
        staging = FactDraft(draft, context.agent, prepared, maker.plain, found.splits)
        staging.add(operations, notes, where)
        draft.operations = with_unsupported(draft.replica, draft.operations)

    held = None if context.writer is None else context.writer.replica.columns
    if held is None:  # a refused operation must not make a folder
        stage(Draft(Replica(context.folder), Lexicon()))
    maker.make(expected_texts(held, operations))

    def fill(draft: Draft) -> None:
        stage(draft)
        maker.complete(draft, lacking(draft.columns))

    prepared, vectors = embed(
        prepared, set(), None, context.embedder, context.threads, None, found.computed
    )
    writer = context.open()
    link = context.embedder.thresholds.link
    with gc_paused(len(operations) >= BATCH):
        draft = writer.transact(fill, vectors, context.recorded_at, link, found.as_of)
        recorded = sum(kind != SURFACE for kind, _ in draft.operations)
        del draft  # the collector need not look at what is gone
    return recorded


def add_surfaces(context: WriteContext, progress: EmbeddingProgress | None = None) -> int:
    """Record the surfaces of all versions that have none; return how many.

    Each batch is one transaction, so an interrupted call is continued by the next one.
    """
    writer = context.writer
    if writer is None or not makes_vectors(context.embedder):
        return 0
    maker = SurfaceMaker(context.embedder, context.analyzer, context.threads)
    columns = writer.replica.columns
    missing = lacking(columns, None)
    for first in range(0, len(missing), SURFACES_AT_ONCE):
        batch = missing[first : first + SURFACES_AT_ONCE]
        maker.make([text_of_version(columns, *version) for version in batch], progress)

        def fill(draft: Draft, batch: Sequence[tuple[str, int]] = batch) -> None:
            maker.add_missing(draft, batch)

        writer.transact(fill, np.empty((0, columns.dimension), np.float16), None)
    return len(missing)

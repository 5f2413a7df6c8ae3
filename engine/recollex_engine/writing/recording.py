"""How does a call become a transaction? It is planned, prepared and embedded, then written.

All steps that may fail come before `WriteContext.open`, which makes the agent's folder.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.act import Act
from recollex_engine.domain.operations import Operation
from recollex_engine.domain.statement import Statement
from recollex_engine.models.embedder import Progress
from recollex_engine.state.gc_pause import gc_paused
from recollex_engine.state.replica import Replica
from recollex_engine.writing.correction import find_statements
from recollex_engine.writing.draft import Draft
from recollex_engine.writing.fact_draft import FactDraft
from recollex_engine.writing.lexicon import Lexicon
from recollex_engine.writing.plan import Plan
from recollex_engine.writing.preparation import Computed, Prepared, embed, prepare
from recollex_engine.writing.write_context import WriteContext

BATCH = 100
"""Memories in a call from which the garbage collector is paused while they are recorded."""


def record_statements(
    context: WriteContext,
    statements: Sequence[Statement],
    plan: Plan,
    given: npt.NDArray[np.float32] | None,
    act: Act,
    progress: Progress | None,
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
            chosen, context.said_at(), context.analyzer, context.counter(), context.month_first
        )
    own = None if given is None else given[fresh]
    known = {place for place, at in enumerate(fresh) if at in plan.known}
    reused = None if computed is None else computed.reused(prepared)
    ready, vectors = reused or embed(
        prepared, known, own, context.embedder, context.threads, progress
    )

    def fill(draft: Draft) -> None:
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
    as_of, statements = find_statements(context.writer, context.agent, operations, where)
    said_at = context.said_at()
    prepared: Sequence[Prepared] = ()
    if statements:
        prepared = prepare(
            statements, said_at, context.analyzer, context.counter(), context.month_first
        )

    def fill(draft: Draft) -> None:
        FactDraft(draft, context.agent, prepared).add(operations, notes, where)

    if context.writer is None:  # a refused operation must not make a folder
        fill(Draft(Replica(context.folder), Lexicon()))
    prepared, vectors = embed(prepared, set(), None, context.embedder, context.threads, None)
    writer = context.open()
    link = context.embedder.thresholds.link
    return len(writer.transact(fill, vectors, context.recorded_at, link, as_of).operations)

"""How does a call become a transaction? It is planned, prepared and embedded, then written.

All steps that may fail come before `WriteContext.open`, which makes the agent's folder.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.operations import Operation
from recollex_engine.domain.statement import Statement
from recollex_engine.domain.surfaces import SURFACE
from recollex_engine.domain.trust import Act
from recollex_engine.models.embedder import EmbeddingProgress, makes_vectors
from recollex_engine.state.replica import Replica, gc_paused
from recollex_engine.writing.correction import find_statements
from recollex_engine.writing.draft import Draft
from recollex_engine.writing.fact_draft import FactDraft
from recollex_engine.writing.lexicon import Lexicon
from recollex_engine.writing.plan import Plan
from recollex_engine.writing.preparation import Computed, Prepared, embed, prepare
from recollex_engine.writing.surface_making import (
    SurfaceMaker,
    expected_texts,
    lacking,
    text_of_version,
)
from recollex_engine.writing.taking_away import with_unsupported
from recollex_engine.writing.write_context import WriteContext

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

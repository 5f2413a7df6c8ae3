"""How is history imported? As a transaction for each time at which something was recorded."""

from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Any

from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.clock import check_recorded_at
from recollex_engine.domain.checks import check_embeddings
from recollex_engine.domain.statement import Statement
from recollex_engine.errors import InputError
from recollex_engine.models.embedder import EmbeddingProgress


def retain_at_times(
    agent: AgentOrCut,
    statements: list[Statement],
    vectors: Any,
    times: Sequence[int | None],
    progress: EmbeddingProgress | None,
) -> list[str]:
    """Retain statements recorded at several times, one transaction for each; return their ids.

    times: microseconds, one for each statement, which must not go back. vectors: one for each
    statement, or None. Raises `InputError`.
    """
    for place, (before, at) in enumerate(pairwise(times), start=1):
        if before is None or at is None or at < before:
            raise InputError(
                f"recorded_at must not go back and have no gaps, got item {place} earlier than "
                "the one before it, or None"
            )
    last = times[-1]
    assert last is not None
    check_recorded_at(last, agent.clock())  # before the first transaction
    if vectors is not None:
        vectors = check_embeddings(vectors, "embedding", len(statements), agent.dimension)
    ids: list[str] = []
    for at, run in groupby(range(len(times)), times.__getitem__):
        places = list(run)
        part = slice(places[0], places[-1] + 1)
        own = None if vectors is None else vectors[part]
        ids += agent.writable().retain(statements[part], own, at, progress=progress)
    return ids

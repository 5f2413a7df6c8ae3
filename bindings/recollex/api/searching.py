"""Finds facts, events and episodes by what they say, for `Facts.search` and `Events.search`."""

from collections.abc import Sequence
from typing import Any

from recollex.api.arguments import optional_micros
from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.clock import Moment
from recollex_engine.domain.checks import check_count, check_embedding, check_text
from recollex_engine.domain.question import MAX_LIMIT, MAX_QUERY
from recollex_engine.facts.fact_view import FactView, Ordinals
from recollex_engine.facts.hits import Hit, read_hits


def search(
    agent: AgentOrCut,
    view: FactView,
    query: str,
    kind: str,
    limit: int,
    *,
    only: Sequence[tuple[str, Ordinals]],
    query_embedding: Any,
    as_recorded: Moment | None,
) -> list[Hit[Any]]:
    """Return the ``limit`` best of one kind that the cut shows; see `search_surfaces`.

    A cut of a recorded time compares every vector, so that it answers as it would have then.
    """
    check_text(query, "query", MAX_QUERY)
    check_count(limit, "limit", 1, MAX_LIMIT)
    vector = None
    if query_embedding is not None:
        vector = check_embedding(query_embedding, "query_embedding", agent.dimension)
    found = agent.search(
        view,
        query,
        (kind,),
        limit,
        only=only,
        embedding=vector,
        exact=agent.is_past or as_recorded is not None,
        now=optional_micros(as_recorded, "as_recorded"),
    )
    return read_hits(view, found)

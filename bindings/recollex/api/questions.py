"""What is asked? The arguments of `Agent.recall` as a question to the engine."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from recollex.api.arguments import as_dict, as_list, as_names, optional_micros
from recollex_engine.domain.checks import check_embedding, check_flag
from recollex_engine.domain.question import Question
from recollex_engine.domain.statement import network_number
from recollex_engine.errors import InputError


def read_question(
    dimension: int,
    query: str,
    thinking_budget: int,
    max_tokens: int,
    networks: Sequence[str] | str | None,
    interval: tuple[datetime | None, datetime | None],
    tags: Sequence[str],
    where: Mapping[str, Any] | None,
    entities: Sequence[str],
    document_id: str | None,
    now: datetime | None,
    exact: bool,
    query_embedding: Any,
    as_world: datetime | None,
    min_confidence: float,
) -> Question:
    """Return the question that a recall's arguments ask; raises `InputError`.

    dimension: the length of a vector. interval: since and until.
    """
    numbers = None
    if networks is not None:
        chosen = (
            [networks]
            if isinstance(networks, str)
            else as_list(networks, "networks", "a str or a list of str")
        )
        if not chosen:
            raise InputError("networks is empty: leave it out to search all of them")
        numbers = tuple(network_number(name) for name in chosen)
    since, until = interval
    vector = None
    if query_embedding is not None:
        vector = check_embedding(query_embedding, "query_embedding", dimension)
    check_flag(exact, "exact")
    return Question(
        query,
        thinking_budget,
        max_tokens,
        numbers,
        optional_micros(since, "since"),
        optional_micros(until, "until"),
        as_names(tags, "tags"),
        as_dict(where),
        as_names(entities, "entities"),
        document_id,
        optional_micros(now, "now"),
        exact,
        vector,
        optional_micros(as_world, "as_world"),
        min_confidence,
    )

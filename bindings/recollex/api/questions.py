"""Reads the arguments of `Agent.recall` as a question to the engine."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex.api.arguments import as_dict, as_list, as_names, optional_micros
from recollex_engine.domain.checks import check_flag
from recollex_engine.domain.question import Question
from recollex_engine.domain.statement import network_number
from recollex_engine.errors import InputError


def read_networks(networks: Sequence[str] | str | None) -> tuple[int, ...] | None:
    """Return the numbers of networks by their names; None for all of them."""
    if networks is None:
        return None
    chosen = (
        [networks]
        if isinstance(networks, str)
        else as_list(networks, "networks", "a str or a list of str")
    )
    if not chosen:
        raise InputError("networks is empty: leave it out to search all of them")
    return tuple(network_number(name) for name in chosen)


def read_question(
    query: str,
    *,
    thinking_budget: int,
    max_tokens: int,
    networks: tuple[int, ...] | None,
    interval: tuple[datetime | None, datetime | None],
    tags: Sequence[str],
    where: Mapping[str, Any] | None,
    entities: Sequence[str],
    document_id: str | None,
    now: datetime | None,
    exact: bool,
    embedding: npt.NDArray[np.float32] | None,
    as_world: datetime | None,
    min_confidence: float,
) -> Question:
    """Return the question that a recall's arguments ask; raises `InputError`.

    networks: their numbers. interval: since and until. embedding: of the caller, checked.
    """
    since, until = interval
    check_flag(exact, "exact")
    return Question(
        query,
        thinking_budget=thinking_budget,
        max_tokens=max_tokens,
        networks=networks,
        since=optional_micros(since, "since"),
        until=optional_micros(until, "until"),
        tags=as_names(tags, "tags"),
        where=as_dict(where),
        entities=as_names(entities, "entities"),
        document=document_id,
        now=optional_micros(now, "now"),
        exact=exact,
        embedding=embedding,
        as_world=optional_micros(as_world, "as_world"),
        min_confidence=min_confidence,
    )

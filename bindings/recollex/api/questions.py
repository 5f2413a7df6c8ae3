"""Reads the arguments of `Agent.recall` as a question to the engine."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex.api.arguments import as_dict, as_list, as_names, optional_micros
from recollex_engine.clock import Moment
from recollex_engine.domain.checks import check_flag
from recollex_engine.domain.question import UNBOUNDED, Question
from recollex_engine.errors import InputError

Kinds = tuple[int, ...] | None
"""Numbers of networks or of roles; None for all of them."""


def read_kinds(names: Sequence[str] | str | None, what: str, number: Callable[[Any], int]) -> Kinds:
    """Return the numbers of kinds of memories by their names; None for all of them.

    what: the argument, "networks" or "roles". number: of one name.
    """
    if names is None:
        return None
    chosen = [names] if isinstance(names, str) else as_list(names, what, "a str or a list of str")
    if not chosen:
        raise InputError(f"{what} is empty: leave it out to search all of them")
    return tuple(number(name) for name in chosen)


def read_question(
    query: str,
    *,
    thinking_budget: int,
    bounds: tuple[int | None, int | None],
    kinds: tuple[Kinds, Kinds],
    interval: tuple[Moment | None, Moment | None],
    tags: Sequence[str],
    where: Mapping[str, Any] | None,
    entities: Sequence[str],
    document_id: str | None,
    now: Moment | None,
    exact: bool,
    embedding: npt.NDArray[np.float32] | None,
    as_world: Moment | None,
    min_confidence: float,
) -> Question:
    """Return the question that a recall's arguments ask; raises `InputError`.

    bounds: max_tokens and limit. kinds: numbers of networks and of roles. interval: since and
    until. embedding: of the caller, checked.
    """
    (networks, roles), (since, until), (max_tokens, limit) = kinds, interval, bounds
    check_flag(exact, "exact")
    return Question(
        query,
        thinking_budget=thinking_budget,
        max_tokens=UNBOUNDED if max_tokens is None else max_tokens,
        limit=limit,
        networks=networks,
        roles=roles,
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

"""Reads the arguments of `Agent.recall` as a question to the engine."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recollex.api.arguments import one_or_more, optional_micros
from recollex_engine.clock import Moment
from recollex_engine.domain.checks import check_flag
from recollex_engine.domain.filter import Filter
from recollex_engine.domain.question import KINDS, MEMORIES, UNBOUNDED, Packing, Question
from recollex_engine.errors import InputError


def read_question(
    query: str,
    wanted: Filter,
    *,
    thinking_budget: int,
    max_tokens: int | None,
    limit: int | None,
    now: Moment | None,
    exact: bool,
    embedding: npt.NDArray[np.float32] | None,
    min_confidence: float,
    packing: Packing | None,
    kinds: str | Sequence[str],
) -> Question:
    """Return the question that a recall's arguments ask; raises `InputError`.

    embedding: of the caller, checked.
    """
    check_flag(exact, "exact")
    return Question(
        query,
        thinking_budget=thinking_budget,
        max_tokens=UNBOUNDED if max_tokens is None else max_tokens,
        limit=limit,
        filter=wanted,
        now=optional_micros(now, "now"),
        exact=exact,
        embedding=embedding,
        min_confidence=min_confidence,
        packing=packing,
        kinds=MEMORIES if kinds is MEMORIES else _kinds(kinds),
    )


def _kinds(given: str | Sequence[str]) -> tuple[str, ...]:
    """Return the kinds that are asked for, in the order of `KINDS`, each once."""
    wanted = one_or_more(given, "kinds")
    for kind in wanted:
        if kind not in KINDS:
            raise InputError(f"kinds must be some of {', '.join(KINDS)}, got {kind!r}")
    return tuple(kind for kind in KINDS if kind in wanted)

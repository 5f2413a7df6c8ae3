"""What is asked? One recall's arguments, checked at the edge."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import OPEN_END, from_micros
from recollex_engine.domain.checks import check_count, check_number
from recollex_engine.domain.packing_options import Packing
from recollex_engine.domain.statement import MAX_NAME, check_metadata, check_names, check_text
from recollex_engine.errors import InputError

MAX_QUERY = 20_000
"""Characters of a question."""
MAX_BUDGET = 100_000
"""Memories that an arm may bring."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question to one agent.

    thinking_budget: memories that each arm may bring. max_tokens: of the memories returned.
    networks: numbers, or None for all. since, until: microseconds UTC; the memory's event time
    must overlap [since, until). tags, entities: all must be present. where: metadata that must be
    equal. now: microseconds UTC that "last week" is read against. exact: scan vectors, never
    search the graph. embedding: the caller's own, float32[dimension] of length 1. as_world:
    microseconds UTC; what was so then: the memory's event had begun and its validity not ended.
    min_confidence: the probability of an answer below which nothing is returned.
    packing: how to pack a subgraph, None for none.
    """

    text: str
    thinking_budget: int = 100
    max_tokens: int = 4096
    networks: tuple[int, ...] | None = None
    since: int | None = None
    until: int | None = None
    tags: tuple[str, ...] = ()
    where: dict[str, Any] = field(default_factory=dict)
    entities: tuple[str, ...] = ()
    document: str | None = None
    now: int | None = None
    exact: bool = False
    embedding: npt.NDArray[np.float32] | None = None
    as_world: int | None = None
    min_confidence: float = 0.0
    packing: Packing | None = None

    def __post_init__(self) -> None:
        check_text(self.text, "query", MAX_QUERY)
        check_count(self.thinking_budget, "thinking_budget", 1, MAX_BUDGET)
        check_count(self.max_tokens, "max_tokens", 1, 2**31)
        check_number(self.min_confidence, "min_confidence", 0, 1)
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise InputError(
                f"since must be earlier than until, got since {from_micros(self.since)} and until "
                f"{from_micros(self.until)}: swap them"
            )
        check_names(self.tags, "tags")
        check_names(self.entities, "entities")
        check_metadata(self.where, "where")
        if self.document is not None:
            check_text(self.document, "document_id", MAX_NAME)

    @property
    def interval(self) -> tuple[int, int] | None:
        """[since, until) with open ends filled in, None if both are open."""
        if self.since is None and self.until is None:
            return None
        return (
            -OPEN_END if self.since is None else self.since,
            OPEN_END if self.until is None else self.until,
        )

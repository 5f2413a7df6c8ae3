"""The arguments of one recall, checked when they are made."""

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import OPEN_END, from_micros
from recollex_engine.domain.checks import (
    MAX_NAME,
    check_count,
    check_metadata,
    check_names,
    check_number,
    check_text,
)
from recollex_engine.domain.packing_options import Packing
from recollex_engine.errors import InputError

MAX_QUERY = 20_000
"""Characters of a question."""
MAX_BUDGET = 100_000
"""Memories that one arm may find."""
MAX_LIMIT = 1_000_000
"""Memories that one call may return."""
UNBOUNDED = 2**31
"""The largest token budget; stands for no budget."""


@dataclass(slots=True)  # made in each recall: a frozen class costs three times as long
class Question:
    """A question to one agent.

    thinking_budget: the most memories that each arm may find.
    max_tokens: the token budget of the returned memories.
    limit: the most memories to return; None for as many as fit.
    networks, roles: numbers of networks and of speakers' roles, or None for all.
    trust: the number of the least level of trust; 0 for all memories.
    since, until: microseconds UTC; a memory's event time must overlap [since, until).
    tags, entities: a memory must have all of them.
    where: metadata that must be equal.
    now: microseconds UTC, the reference time for words like "last week".
    exact: scan the vectors, never search the graph.
    embedding: the caller's own query vector, float32[dimension] of length 1.
    as_world: microseconds UTC; the memory's event had begun by then, and was still valid.
    min_confidence: if the probability of an answer is lower, nothing is returned.
    packing: how to pack a subgraph; None for no subgraph.
    """

    text: str
    _: KW_ONLY
    thinking_budget: int = 100
    max_tokens: int = 4096
    limit: int | None = None
    networks: tuple[int, ...] | None = None
    roles: tuple[int, ...] | None = None
    trust: int = 0
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
        check_count(self.max_tokens, "max_tokens", 1, UNBOUNDED)
        if self.limit is not None:
            check_count(self.limit, "limit", 1, MAX_LIMIT)
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
        """[since, until) with numbers for open ends; None if both are open."""
        if self.since is None and self.until is None:
            return None
        return (
            -OPEN_END if self.since is None else self.since,
            OPEN_END if self.until is None else self.until,
        )

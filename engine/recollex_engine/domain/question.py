"""The arguments of one recall, checked when they are made."""

from dataclasses import KW_ONLY, dataclass

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.checks import check_count, check_number, check_text
from recollex_engine.domain.filter import EVERYTHING, Filter
from recollex_engine.domain.packing_options import Packing
from recollex_engine.errors import InputError

MAX_QUERY = 20_000
"""Characters of a question."""
MAX_BUDGET = 100_000
"""Memories that one arm may find."""
MAX_LIMIT = 1_000_000
"""Memories that one call may return."""
KINDS = ("memory", "fact", "event", "episode")
"""What a recall may return."""
MEMORIES = KINDS[:1]
"""What a recall returns if nothing else is asked for."""
UNBOUNDED = 2**31
"""The largest token budget; stands for no budget."""


@dataclass(slots=True)  # made in each recall: a frozen class costs three times as long
class Question:
    """A question to one agent; with a filter the text may be empty, and lists the newest memories.

    thinking_budget: the most memories that each arm may find.
    max_tokens: the token budget of the returned memories as a prompt.
    limit: the most memories to return; None for as many as fit.
    filter: which memories may be returned.
    now: microseconds UTC, the reference time for words like "last week".
    exact: scan the vectors, never search the graph.
    embedding: the caller's own query vector, float32[dimension] of length 1.
    min_confidence: if the probability of an answer is lower, nothing is returned.
    packing: how to pack a subgraph; None for no subgraph.
    kinds: what to return, some of `KINDS`.
    """

    text: str
    _: KW_ONLY
    thinking_budget: int = 100
    max_tokens: int = 4096
    limit: int | None = None
    filter: Filter = EVERYTHING
    now: int | None = None
    exact: bool = False
    embedding: npt.NDArray[np.float32] | None = None
    min_confidence: float = 0.0
    packing: Packing | None = None
    kinds: tuple[str, ...] = MEMORIES

    def __post_init__(self) -> None:
        if self.text or not self.filter:
            check_text(self.text, "query", MAX_QUERY)
        elif self.packing is not None or self.min_confidence:
            raise InputError(
                "an empty query lists memories: it takes no pack and no min_confidence"
            )
        if self.kinds != MEMORIES:
            self._check_kinds()
        check_count(self.thinking_budget, "thinking_budget", 1, MAX_BUDGET)
        check_count(self.max_tokens, "max_tokens", 1, UNBOUNDED)
        if self.limit is not None:
            check_count(self.limit, "limit", 1, MAX_LIMIT)
        check_number(self.min_confidence, "min_confidence", 0, 1)

    def _check_kinds(self) -> None:
        if not self.kinds or not set(self.kinds) <= set(KINDS):
            raise InputError(f"kinds must be some of {', '.join(KINDS)}, got {self.kinds!r}")
        if not self.text:
            raise InputError("an empty query lists memories: it takes no other kinds")
        if KINDS[0] not in self.kinds and (self.packing is not None or self.min_confidence):
            raise InputError(
                "pack and min_confidence need the memories: add 'memory' to kinds, or leave them "
                "out"
            )

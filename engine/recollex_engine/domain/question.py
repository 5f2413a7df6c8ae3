"""The arguments of one recall, checked when they are made."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.checks import check_count, check_number, check_text
from recollex_engine.domain.fact_schema import BETWEEN_EVENTS, RELATIONS
from recollex_engine.domain.filter import EVERYTHING, Filter
from recollex_engine.errors import InputError

# Options of packing: how far to search around a recall's memories, and when to stop.
FAN_OUT: Mapping[str, int] = {
    "includes_fact": 16,
    "evidence": 8,
    "conflicts_with": 4,
    "subject": 8,
    "object": 8,
    "has_participant": 8,
    "mentions": 8,
    **dict.fromkeys((RELATIONS[number] for number in sorted(BETWEEN_EVENTS)), 4),
}
"""Default fan-out: the most neighbours of one node that each relation may lead to."""


@dataclass(frozen=True)
class Packing:
    """How a recall is packed: how far and how wide the search goes, and when it stops.

    depth: the most edges from a memory of the recall, or from a name in the question.
    fan_out: relation -> the most neighbours of a node, 0 to skip the relation; relations that are
        not named keep their default (see `FAN_OUT`).
    coverage: in (0, 1]; packing stops early once it covers this share of what can be covered.
    seeds: the number of memories, best first, from which the search starts. The memory of rank r
        has weight 1/r, a name in the question has weight 1.

    Raises `InputError`.

    >>> Packing(depth=1, fan_out={"object": 0}).limits["object"]
    0
    """

    depth: int = 2
    fan_out: Mapping[str, int] = field(default_factory=dict)
    coverage: float = 0.9
    seeds: int = 20

    def __post_init__(self) -> None:
        check_count(self.depth, "depth", 0, 10)
        check_count(self.seeds, "seeds", 0, 1000)
        check_number(self.coverage, "coverage", 0, 1)
        if self.coverage == 0:
            raise InputError("coverage must be above 0: at 0 there is nothing to pack")
        if not isinstance(self.fan_out, Mapping):
            raise InputError(
                f"fan_out must be a dict of relation to int, got {type(self.fan_out).__name__}"
            )
        for relation, most in self.fan_out.items():
            if relation not in FAN_OUT:
                raise InputError(f"fan_out must name one of {', '.join(FAN_OUT)}; got {relation!r}")
            check_count(most, f"fan_out of {relation}", 0, 256)

    @property
    def limits(self) -> dict[str, int]:
        """The fan-out of every relation."""
        return {**FAN_OUT, **self.fan_out}


DEFAULT = Packing()


def find_packing(given: object) -> Packing | None:
    """Return the packing that a caller asks for: None, "subgraph" (the default) or a `Packing`."""
    if given is None or isinstance(given, Packing):
        return given
    if given == "subgraph":
        return DEFAULT
    raise InputError(f'pack must be None, "subgraph" or a Packing, got {given!r}')


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
    now: microseconds UTC, the reference time for words like "last week". zone: in which the
    asker's days begin, an IANA name or an offset; None for the agent's.
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
    zone: str | None = None
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

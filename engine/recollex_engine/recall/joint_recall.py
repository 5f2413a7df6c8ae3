"""One ranking of the memories that several agents recall for a question.

Compared are the fused scores. Their units are the same in each agent: a share of what the
question's words could give, and cosines between two thresholds of the model. So a weak best memory
of one agent stays below a strong one of another, and each agent's own order is kept. Scores of
fusions by rank say nothing across agents: with such a preset the lists are interleaved.
"""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

from recollex_engine.domain.prompt_lines import LineCosts
from recollex_engine.fork import cached_property
from recollex_engine.recall.memory import Memory, prompt_of
from recollex_engine.recall.recall import Recall


@dataclass(frozen=True)
class JointRecall(Sequence[Memory]):
    """The memories of several agents for a question, best first; `Memory.agent` names the agent.

    recalls: what each agent recalled by itself, by its id. order: the agent of each memory, and its
    place in that agent's recall. tokens: of the returned memories as a prompt, counted by
    token_counter, which names the agents' counters. confidence: the greatest of the agents', the
    probability that the likeliest of them holds an answer; None if no agent tells one.

    Threads: may be shared once it is returned.
    """

    query: str
    recalls: Mapping[str, Recall]
    order: tuple[tuple[str, int], ...]
    tokens: int
    token_counter: str
    confidence: float | None

    def __len__(self) -> int:
        return len(self.order)

    @overload
    def __getitem__(self, index: int) -> Memory: ...
    @overload
    def __getitem__(self, index: slice) -> list[Memory]: ...
    def __getitem__(self, index: int | slice) -> Memory | list[Memory]:
        return self._memories[index]

    def __iter__(self) -> Iterator[Memory]:
        return iter(self._memories)

    @cached_property
    def _memories(self) -> list[Memory]:
        return [_of_agent(self.recalls[agent][place], agent) for agent, place in self.order]

    def __repr__(self) -> str:
        agents = ", ".join(self.recalls)
        noun = "memory" if len(self) == 1 else "memories"
        return f"<JointRecall of {self.query!r} from {agents}: {len(self)} {noun}>"

    def to_prompt(self, min_confidence: float | None = None) -> str:
        """Return the memories as text for a language model; see `Recall.to_prompt`."""
        shown = any(each.is_shown(min_confidence) for each in self.recalls.values() if len(each))
        return prompt_of(self) if shown else ""

    def to_dict(self) -> dict[str, Any]:
        """Return the recall as JSON values; each memory has its "agent"."""
        return {
            "query": self.query,
            "memories": [{"agent": each.agent} | each.to_dict() for each in self],
            "tokens": self.tokens,
            "token_counter": self.token_counter,
            "confidence": self.confidence,
        }


def join(
    query: str,
    recalls: Mapping[str, Recall],
    costs: Mapping[str, LineCosts],
    *,
    max_tokens: int | None,
    limit: int | None,
    min_confidence: float,
    stop: bool,
) -> JointRecall:
    """Return the memories of ``recalls`` that fit, in one order; see `token_budget.within_budget`.

    ``costs``: of the lines of each agent that recalled something, by its own token counter.
    Of equal scores the agent that is named first comes first. If no agent's confidence is
    ``min_confidence``, none is returned. With an empty query the newest recorded come first.
    """
    told = [each.confidence for each in recalls.values() if each.confidence is not None]
    confidence = max(told, default=None)
    counters = {each.token_counter for each in recalls.values()} - {"none"}
    taken: list[tuple[str, int]] = []
    tokens = 0
    if min_confidence <= (confidence or 0.0) or not min_confidence:
        order = _merged(query, recalls)
        for marked in (False, True):
            taken, tokens = _within(recalls, order, costs, max_tokens, limit, stop, marked)
            if not any(recalls[agent][place].source for agent, place in taken):
                break
    return JointRecall(
        query, recalls, tuple(taken), tokens, "; ".join(sorted(counters)) or "none", confidence
    )


def _merged(query: str, recalls: Mapping[str, Recall]) -> list[tuple[str, int]]:
    """Return the places of all memories; the memories of one agent stay in their order."""

    def key(memory: Memory) -> float:
        return -memory.score if query else -memory.recorded_at.timestamp()

    heads = [
        (key(found[0]), number, agent, 0)
        for number, (agent, found) in enumerate(recalls.items())
        if len(found)
    ]
    heapq.heapify(heads)
    order = []
    while heads:
        _, number, agent, place = heads[0]
        order.append((agent, place))
        found = recalls[agent]
        place = place + 1
        if place < len(found):
            heapq.heapreplace(heads, (key(found[place]), number, agent, place))
        else:
            heapq.heappop(heads)
    return order


def _within(
    recalls: Mapping[str, Recall],
    order: Sequence[tuple[str, int]],
    costs: Mapping[str, LineCosts],
    max_tokens: int | None,
    limit: int | None,
    stop: bool,
    marked: bool,
) -> tuple[list[tuple[str, int]], int]:
    """Return the places of the memories that fit, and their tokens with their lines."""
    taken: list[tuple[str, int]] = []
    total = 0
    for agent, place in order:
        if len(taken) == limit:
            break
        memory = recalls[agent][place]
        lines = costs[agent]
        head = lines.marked(memory.source, memory.trust) if marked else lines.date
        if max_tokens is None or total + head + memory.tokens <= max_tokens:
            taken.append((agent, place))
            total += head + memory.tokens
        elif stop:
            break
    return taken, total


def _of_agent(memory: Memory, agent: str) -> Memory:
    """Return a copy of a memory that names its agent; its fields stay unread."""
    if not hasattr(memory, "_columns"):
        return replace(memory, agent=agent)
    copied = object.__new__(Memory)
    for name in ("_columns", "_place", "id", "text"):
        object.__setattr__(copied, name, getattr(memory, name))
    object.__setattr__(copied, "agent", agent)
    return copied

"""Recalls of several agents at once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from recollex.api.agent import Agent
from recollex.api.arguments import as_list, one_or_more
from recollex_engine.domain.checks import check_number
from recollex_engine.domain.prompt_lines import LineCosts
from recollex_engine.domain.question import MEMORIES
from recollex_engine.errors import InputError
from recollex_engine.ranking.presets import DEFAULT, find_preset
from recollex_engine.ranking.query_embedding import embedded_once
from recollex_engine.recall.joint_recall import JointRecall, join
from recollex_engine.recall.recall import Recall

MOST_AGENTS = 64
"""The most agents of one recall."""


def agent_ids(agents: Iterable[str]) -> list[str]:
    """Return the ids of the agents of a recall. Raises `InputError` unless it is such a list."""
    if isinstance(agents, str):
        raise InputError(f'agents must be a list of ids, got a str: write ["{agents}"]')
    ids = as_list(agents, "agents", "a list of ids")
    if not 1 <= len(ids) <= MOST_AGENTS:
        raise InputError(f"agents must name 1 to {MOST_AGENTS} agents, got {len(ids)}")
    for each in ids:
        if not isinstance(each, str):
            raise InputError(f"agents must be a list of ids, got {type(each).__name__} in it")
    if len(set(ids)) < len(ids):
        twice = next(each for each in ids if ids.count(each) > 1)
        raise InputError(f"agents names {twice!r} twice")
    return ids


def recall_together(
    agents: Sequence[Agent], query: str, *, max_tokens: int | None = 4096, **options: Any
) -> JointRecall:
    """Return what `Store.recall` returns, of these agents; the options are those of `Agent.recall`.

    The question is embedded once.
    """
    by_name = {agent.name: agent for agent in agents}

    def costs(agent: str, counter: str) -> LineCosts:
        return by_name[agent].engine.counting.costs(counter)

    with embedded_once():
        return joined(
            query,
            lambda **each: {name: agent.recall(query, **each) for name, agent in by_name.items()},
            costs,
            max_tokens=max_tokens,
            **options,
        )


def joined(
    query: str,
    recall_each: Callable[..., Mapping[str, Recall]],
    costs: Callable[[str, str], LineCosts],
    *,
    max_tokens: int | None = 4096,
    limit: int | None = None,
    min_confidence: float = 0.0,
    **options: Any,
) -> JointRecall:
    """Return what `Store.recall` returns, of agents wherever they are.

    recall_each: takes the options of a recall, and returns that of each agent. costs: of the lines
    of an agent, by the name of its counter.
    """
    if options.get("pack") is not None:
        raise InputError("a recall of several agents cannot be packed: recall each agent with pack")
    if one_or_more(options.get("kinds", MEMORIES), "kinds") != MEMORIES:
        raise InputError("a recall of several agents has memories alone: recall each by kinds")
    check_number(min_confidence, "min_confidence", 0, 1)
    if min_confidence and not query:
        raise InputError("an empty query lists memories: it takes no min_confidence")
    recalls = recall_each(max_tokens=max_tokens, limit=limit, **options)
    return join(
        query,
        recalls,
        {name: costs(name, each.token_counter) for name, each in recalls.items() if len(each)},
        max_tokens=max_tokens,
        limit=limit,
        min_confidence=min_confidence,
        stop=find_preset(options.get("preset", DEFAULT)).overflow == "stop",
    )

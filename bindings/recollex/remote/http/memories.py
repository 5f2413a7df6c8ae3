"""The endpoints for memories: Memora's search (its 6.1), cuts, and one memory by id."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson

from recollex.api.joint_recalls import MOST_AGENTS
from recollex.presets import CrossEncoderReranker, Heuristic, MemoraHeuristic
from recollex.remote.http import responses
from recollex.remote.http.endpoint import (
    Backend,
    CheckedRequest,
    Endpoint,
    calls,
    done,
    each_of,
    told,
)
from recollex.remote.http.schema import (
    AGENT,
    AS_RECORDED,
    BUDGET,
    FILTERS,
    ID,
    NETWORK,
    OF_AGENT,
    OF_MEMORY,
    QUERY,
    VECTOR,
    Schema,
    flag,
    listed,
    members,
    moment,
    number,
    one_of,
    text,
    whole,
)
from recollex.remote.wire.methods import JOINT
from recollex_engine.domain.question import KINDS, MAX_LIMIT
from recollex_engine.domain.removal import Erasure
from recollex_engine.ranking.presets import PRESETS, Preset, find_preset

_QUESTION: Mapping[str, Schema] = {
    "query": QUERY,
    "fact_type": listed(NETWORK, "Memora's name of network.", 1, 3),
    **FILTERS,
    "thinking_budget": BUDGET,
    "max_tokens": whole(1, 2**31, "Of the memories returned.", default=4096),
    "limit": whole(1, MAX_LIMIT, "The most memories; as many as fit, if not given."),
    "reranker": one_of(
        "none",
        "heuristic",
        "heuristic-corrected",
        "cross-encoder",
        about="The preset's own, if not given. heuristic is Memora's as printed, which prefers old "
        "memories; heuristic-corrected prefers recent ones.",
    ),
    "preset": one_of(*PRESETS, about="How to rank."),
    "query_embedding": VECTOR,
    "now": moment("What the question's times are read against."),
    "exact": flag("Compare with every vector."),
    "explain": flag("Say what each part of the ranking added."),
    "min_confidence": number(0, 1, "Below it, nothing is returned."),
    "pack": one_of("subgraph", about="Add events, facts and their evidence."),
    "kinds": listed(one_of(*KINDS), "What to search: memories, or others in hits.", 1, 4),
}
SEARCH_AT = members("SearchAt", _QUESTION, ("query",))
SEARCH_OF_AGENT = members("SearchOfAgent", {**_QUESTION, "as_recorded": AS_RECORDED}, ("query",))
SEARCH = members(
    "Search", {"agent_id": AGENT, **_QUESTION, "as_recorded": AS_RECORDED}, ("agent_id", "query")
)
SEARCH_TOGETHER = members(
    "SearchTogether",
    {
        "agents": listed(AGENT, "The agents.", 1, MOST_AGENTS),
        **{name: each for name, each in _QUESTION.items() if name not in ("pack", "kinds")},
        "as_recorded": AS_RECORDED,
    },
    ("agents", "query"),
)

ERASE = members(
    "Erase",
    {
        "id": listed(ID, "These memories."),
        **FILTERS,
        "everything": flag("All that the agent holds, without a filter."),
        "by": text(about="Who erases them."),
        "why": text(about="The reason."),
        "preview": flag("Only count."),
    },
    ("by", "why"),
    "Memories that meet all of these.",
)


async def search(backend: Backend, request: CheckedRequest) -> Any:
    """Recall the memories that answer a question."""
    return await backend.call(
        "recall",
        request.agent,
        _arguments_of(request),
        lambda recall: orjson.dumps(recall.to_dict()),
        request.path.get("time"),
    )


async def search_together(backend: Backend, request: CheckedRequest) -> Any:
    """Recall the memories of several agents that answer a question."""
    arguments = _arguments_of(request)
    return await backend.call(JOINT, "", arguments, lambda found: orjson.dumps(found.to_dict()))


def _arguments_of(request: CheckedRequest) -> dict[str, Any]:
    """Return the arguments of a recall."""
    arguments = {name: value for name, value in request.body.items() if name != "agent_id"}
    if "fact_type" in arguments:
        arguments.setdefault("network", arguments.pop("fact_type"))
    if "reranker" in arguments:
        preset = find_preset(arguments.get("preset", "default"))
        arguments["preset"] = _reranked(preset, arguments.pop("reranker"))
    return arguments


def _reranked(preset: Preset, reranker: str) -> Preset:
    """Return the preset with the reranker that Memora's API names."""
    if reranker == "none":
        return replace(preset, reranker=None, combination=None, depth=None)
    if reranker == "cross-encoder":
        return replace(preset, reranker=CrossEncoderReranker())
    chosen = MemoraHeuristic() if reranker == "heuristic" else Heuristic()
    return replace(preset, reranker=chosen, combination=None, depth=None)


async def browse(backend: Backend, request: CheckedRequest) -> Any:
    """List memories, a page at a time."""
    arguments = {"after": request.query.get("after"), "limit": request.query.get("limit", 100)}
    at = request.query.get("as_recorded")
    return await backend.call("list", request.agent, arguments, each_of("memories"), at)


_CUT = {"as_recorded": AS_RECORDED}

ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/search",
        "recall",
        "Search memories",
        search,
        responses.reference("Recall"),
        body=SEARCH,
        about="Memora 6.1. What is not named in the paper is an option of `Agent.recall`.",
    ),
    Endpoint(
        "POST",
        "/api/search/agents",
        JOINT,
        "Search the memories of several agents",
        search_together,
        responses.reference("JointRecall"),
        body=SEARCH_TOGETHER,
        about="One list, best first; each memory says its agent.",
    ),
    Endpoint(
        "POST",
        "/api/agents/{agent_id}/search",
        "recall",
        "Search an agent's memories",
        search,
        responses.reference("Recall"),
        parameters=OF_AGENT,
        body=SEARCH_OF_AGENT,
    ),
    Endpoint(
        "POST",
        "/api/agents/{agent_id}/at/{time}/search",
        "recall",
        "Search what an agent knew at a time",
        search,
        responses.reference("Recall"),
        parameters={"agent_id": AGENT, "time": AS_RECORDED},
        body=SEARCH_AT,
        about="Nothing that was told later has any part in it, not even in a score.",
    ),
    Endpoint(
        "GET",
        "/api/agents/{agent_id}/memories",
        "list",
        "List memories in the order in which they were recorded",
        browse,
        responses.listing("memories", responses.reference("Memory")),
        parameters=OF_AGENT,
        query={
            "after": text(about="The id of the last one of the page before."),
            "limit": whole(1, 1000, default=100),
            **_CUT,
        },
        unknown=True,
    ),
    Endpoint(
        "GET",
        "/api/agents/{agent_id}/memories/{memory_id}",
        "get",
        "Get one memory",
        calls("get", told, cut=True),
        responses.reference("Memory"),
        parameters=OF_MEMORY,
        query=_CUT,
        unknown=True,
    ),
    Endpoint(
        "GET",
        "/api/agents/{agent_id}/memories/{memory_id}/history",
        "history",
        "Get every version of a memory, oldest first",
        calls("history", each_of("memories"), cut=True),
        responses.listing("memories", responses.reference("Memory")),
        parameters=OF_MEMORY,
        query=_CUT,
        unknown=True,
    ),
    Endpoint(
        "DELETE",
        "/api/agents/{agent_id}/memories/{memory_id}",
        "forget",
        "Forget a memory",
        calls("forget", done),
        responses.DONE,
        parameters=OF_MEMORY,
        query={"by": text(about="Who forgets it."), "why": text(about="The reason.")},
        unknown=True,
        about="Earlier cuts still hold it.",
    ),
    Endpoint(
        "POST",
        "/api/agents/{agent_id}/erase",
        "erase",
        "Take memories out of every file, for good",
        calls("erase", Erasure.to_dict),
        responses.ERASURE,
        parameters=OF_AGENT,
        body=ERASE,
        unknown=True,
        about="Earlier cuts do not hold them either. The log keeps who, why, when and how many.",
    ),
)

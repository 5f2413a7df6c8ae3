"""The endpoint that thinks (Memora 4.3); see `recollex.Agent.think`.

The server may have no language model. Then the answer holds what an agent would think from, and the
messages for a model, for a caller that has one.
"""

from typing import Any

from recollex.remote.http import responses
from recollex.remote.http.endpoint import Backend, CheckedRequest, Endpoint
from recollex.remote.http.profiles import MAX_TOLD
from recollex.remote.http.schema import (
    AGENT,
    LEAST_TRUST,
    QUERY,
    flag,
    members,
    number,
    text,
    whole,
)
from recollex_engine.domain.question import MAX_BUDGET
from recollex_engine.domain.schema import NETWORKS
from recollex_mind.thought import Thought

_PASSED = ("thinking_budget", "max_tokens", "context", "min_confidence", "trust", "form_opinions")


async def think(backend: Backend, request: CheckedRequest) -> Any:
    """Return what an agent thinks, and from what."""
    body = request.body
    asked = {"question": body["query"]} | {name: body[name] for name in _PASSED if name in body}
    return await backend.call("think", request.agent, asked, Thought.to_dict)


_MEMORIES: responses.JsonSchema = {"type": "array", "items": responses.reference("Memory")}
_TEXT: responses.JsonSchema = {"type": "string"}
_TEXT_OR_NULL: responses.JsonSchema = {"type": ["string", "null"]}
_MOMENT: responses.JsonSchema = {"type": ["string", "null"], "format": "date-time"}
_CITATION = responses.record(
    "A label of the answer: the memory that it cites, its place, and the claim.",
    label=_TEXT,
    id=_TEXT,
    span={"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
    claim=_TEXT,
)
_VIOLATION = responses.record(
    "A claim that cites what was not so at the asked time.",
    label=_TEXT,
    id=_TEXT,
    reason={"type": "string", "enum": ["ended", "later", "fact"]},
    holds={"type": "array", "items": _MOMENT, "minItems": 2, "maxItems": 2},
    claim=_TEXT,
)
THOUGHT = responses.record(
    "What an agent thinks, and from what. text: null where no model is set, or where it failed.",
    id=_TEXT,
    question=_TEXT,
    text=_TEXT_OR_NULL,
    refused={"type": "boolean"},
    error=_TEXT_OR_NULL,
    citations={"type": "array", "items": _CITATION},
    forged={"type": "array", "items": _TEXT},
    uncited={"type": "array", "items": _TEXT},
    violations={"type": "array", "items": _VIOLATION},
    based_on=responses.record("By network.", **dict.fromkeys(NETWORKS, _MEMORIES)),
    profile=responses.reference("Profile"),
    confidence={"type": ["number", "null"]},
    messages={
        "type": "array",
        "items": responses.record(role=_TEXT, content=_TEXT),
    },
    prompt=_TEXT,
    model=_TEXT_OR_NULL,
)

ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/think",
        "think",
        "Think",
        think,
        THOUGHT,
        body=members(
            "Think",
            {
                "agent_id": AGENT,
                "query": QUERY,
                "thinking_budget": whole(1, MAX_BUDGET, "As for a search.", default=50),
                "max_tokens": whole(1, 2**31, "Of the memories in the prompt.", default=4096),
                "context": text(MAX_TOLD, "What else bears on the question."),
                "min_confidence": number(0, 1, "Below it, the answer is a refusal.", default=0.15),
                "trust": LEAST_TRUST,
                "form_opinions": flag("Record the opinions of the answer.", default=True),
            },
            ("agent_id", "query"),
        ),
        about="Memora 6.1. The memories of each network that bear on the question, the agent's "
        "profile, the messages for a language model that they come to (Memora 4.3), and its "
        "answer where the server was started with --llm: with labels of memories, which are "
        "checked. Opinions that the answer expresses are recorded afterwards.",
        group="agents",
    ),
)

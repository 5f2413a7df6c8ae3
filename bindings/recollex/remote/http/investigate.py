"""The endpoint that looks for an answer step by step (REMem 3.2); see `recollex.Agent.investigate`.

A server without a language model refuses it; its tools need none.
"""

from typing import Any

from recollex.remote.http import responses
from recollex.remote.http.endpoint import Backend, CheckedRequest, Endpoint
from recollex.remote.http.schema import OF_AGENT, QUERY, members, moment, one_of, whole
from recollex_mind.episodic.investigation import Investigation


async def investigate(backend: Backend, request: CheckedRequest) -> Any:
    """Return what an agent finds out about a question."""
    body = request.body
    asked = {"question": body["query"]} | {name: body[name] for name in body if name != "query"}
    return await backend.call("investigate", request.agent, asked, Investigation.to_dict)


_TEXT: responses.JsonSchema = {"type": "string"}
_TEXT_OR_NULL: responses.JsonSchema = {"type": ["string", "null"]}
_TEXTS: responses.JsonSchema = {"type": "array", "items": _TEXT}
_OBJECT: responses.JsonSchema = {"type": "object", "additionalProperties": True}
_FACTS: responses.JsonSchema = {"type": "array", "items": responses.reference("Fact")}
_STEP = responses.record(
    "A call of a tool: its arguments, what it found, or why it failed.",
    tool=_TEXT,
    arguments=_OBJECT,
    reasoning=_TEXT,
    gists=_TEXTS,
    facts=_TEXTS,
    count={"type": ["integer", "null"]},
    error=_TEXT_OR_NULL,
    tokens={"type": "integer"},
    seconds={"type": "number"},
)
INVESTIGATION = responses.record(
    "What an agent finds out. text: null where the model gives no answer.",
    id=_TEXT,
    question=_TEXT,
    text=_TEXT_OR_NULL,
    refused={"type": "boolean"},
    mode=_TEXT,
    steps={"type": "array", "items": _STEP},
    stopped=_TEXT_OR_NULL,
    gists={"type": "array", "items": responses.reference("Memory")},
    facts=_FACTS,
    error=_TEXT_OR_NULL,
    tokens={"type": "integer"},
    token_counter=_TEXT,
    calls={"type": "integer"},
    messages={"type": "array", "items": responses.record(role=_TEXT, content=_TEXT)},
    prompt=_TEXT,
    model=_TEXT_OR_NULL,
)

ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/agents/{agent_id}/investigate",
        "investigate",
        "Look for an answer step by step",
        investigate,
        INVESTIGATION,
        parameters=OF_AGENT,
        body=members(
            "Investigate",
            {
                "query": QUERY,
                "max_steps": whole(1, 32, "Calls of tools.", default=3),
                "mode": one_of(
                    "iterative", "single", about="Step by step, or one search.", default="iterative"
                ),
                "max_tokens": whole(2_000, 2**31, "Sent and received.", default=16_000),
                "reasoning": one_of(
                    "plain", "timeline", about="How the answer is made.", default="plain"
                ),
                "now": moment("The time of the question."),
            },
            ("query",),
        ),
        about="REMem 3.2. The server's language model calls the tools until it can answer, at most "
        "`max_steps` times; the answer, every call and what was found come back. "
        "`refused` says that the memory holds no answer. A server without a model answers 422.",
        group="tools",
    ),
)

"""The endpoints of the tools over gists and facts (REMem, Table 1); see `recollex.api.tools`."""

from collections.abc import Mapping
from functools import partial, reduce
from operator import or_
from typing import Any

from recollex.api.tool_texts import TOOLS
from recollex.api.tools import FORMS, MAX_TOKENS, Tools, tool_schemas
from recollex.remote.http import responses
from recollex.remote.http.endpoint import Backend, CheckedRequest, Endpoint
from recollex.remote.http.schema import (
    OF_AGENT,
    VECTOR,
    Schema,
    members,
    moment,
    one_of,
    typed,
    whole,
)
from recollex_engine.domain.question import MAX_LIMIT

_CLOCKS: Mapping[str, Schema] = {
    "as_recorded": moment("What was known then."),
    "as_world": moment("What was true then."),
}
_OPTIONS: Mapping[str, Schema] = {
    "max_tokens": whole(1, 2**31, "Of the result as a prompt.", default=MAX_TOKENS),
    **_CLOCKS,
}
_LIMIT = {"limit": whole(1, MAX_LIMIT, "The most gists, and the most facts.", default=10)}
_OWN: Mapping[str, Mapping[str, Schema]] = {
    "semantic_retrieve": {**_LIMIT, "query_embedding": VECTOR, **_OPTIONS},
    "lexical_retrieve": {**_LIMIT, **_OPTIONS},
    "find_gist_contexts": {**_LIMIT, **_OPTIONS},
    "find_entity_contexts": _OPTIONS,
    "output_answer": {},
}
"""What a caller may give to each tool, beside what its schema shows to a model."""

_TYPES: Mapping[str, Any] = {"string": str, "integer": int, "number": int | float, "boolean": bool}
_TEXT = {"type": "string"}
_ANSWER = responses.record("The answer as text.", answer=_TEXT)
_SCHEMAS = responses.record(
    "The tools for a language model.",
    tools={"type": "array", "items": {"type": "object", "additionalProperties": True}},
)


async def use(name: str, backend: Backend, request: CheckedRequest) -> Any:
    """Carry out a tool, and return its contexts or its answer."""
    return await backend.call(f"tools.{name}", request.agent, dict(request.body), _told)


async def describe(backend: Backend, request: CheckedRequest) -> Any:
    """Return the schemas of the tools in a form."""
    form = {"form": request.query.get("form", FORMS[0])}
    return await backend.call("tools.schemas", request.agent, form, lambda found: {"tools": found})


def _told(found: Any) -> dict[str, Any]:
    if isinstance(found, str):
        return {"answer": found}
    told: dict[str, Any] = found.to_dict() | {"prompt": found.to_prompt()}
    return told


def _body(tool: Mapping[str, Any]) -> Schema:
    """Return the type of a request: what a model gives, and what its caller gives."""
    schema = tool["inputSchema"]
    given = {name: _given(each) for name, each in schema["properties"].items()}
    name = tool["name"].title().replace("_", "")
    return members(name, {**given, **_OWN[tool["name"]]}, tuple(schema["required"]))


def _given(schema: Mapping[str, Any]) -> Schema:
    """Return the type of what a model gives, from its JSON Schema."""
    about = schema["description"]
    more = {"default": schema["default"]} if "default" in schema else {}
    if "enum" in schema:
        return one_of(*schema["enum"], about=about, **more)
    kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    return typed(
        reduce(or_, [_TYPES[each] for each in kinds]), about, more, ge=schema.get("minimum")
    )


ENDPOINTS = (
    *(
        Endpoint(
            "POST",
            f"/api/agents/{{agent_id}}/tools/{tool['name']}",
            f"tools.{tool['name']}",
            TOOLS[tool["name"]].partition(". ")[0].partition(": ")[0].rstrip("."),
            partial(use, tool["name"]),
            _ANSWER if tool["name"] == "output_answer" else responses.reference("Contexts"),
            parameters=OF_AGENT,
            body=_body(tool),
            about=TOOLS[tool["name"]],
            unknown=True,
            group="tools",
        )
        for tool in tool_schemas(Tools, "mcp")
    ),
    Endpoint(
        "GET",
        "/api/agents/{agent_id}/tools",
        "tools.schemas",
        "Describe the tools to a language model",
        describe,
        _SCHEMAS,
        parameters=OF_AGENT,
        query={"form": one_of(*FORMS, default=FORMS[0])},
        unknown=True,
        group="tools",
    ),
)

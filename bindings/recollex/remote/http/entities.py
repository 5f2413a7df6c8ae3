"""The endpoint that makes those entities one that are; see `recollex.Agent.facts`."""

from typing import Any

from recollex.remote.http import responses
from recollex.remote.http.endpoint import Backend, CheckedRequest, Endpoint
from recollex.remote.http.schema import OF_AGENT, flag, members, text
from recollex_mind.entity_resolution import EntityMatch

_TEXT: responses.JsonSchema = {"type": "string"}
MATCH = responses.record(
    "Two entities that were compared. same: whether they are one, null if undecided.",
    source=_TEXT,
    target=_TEXT,
    way=_TEXT,
    score={"type": "number"},
    same={"type": ["boolean", "null"]},
    decided_by={"type": ["string", "null"]},
    reason=_TEXT,
)


async def resolve_entities(backend: Backend, request: CheckedRequest) -> Any:
    """Find entities that are one, and make them one."""
    return await backend.call("facts.resolve_entities", request.agent, dict(request.body), _matches)


def _matches(found: list[EntityMatch]) -> dict[str, Any]:
    return {"matches": [each.to_dict() for each in found]}


ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/agents/{agent_id}/entities/resolve",
        "facts.resolve_entities",
        "Find entities that are one, and make them one",
        resolve_entities,
        responses.listing("matches", MATCH),
        parameters=OF_AGENT,
        body=members(
            "ResolveEntities",
            {
                "preview": flag("Only say what would be done.", default=False),
                "by": text(about="Who does it, for the log."),
            },
        ),
        about="By rule; the language model of --llm decides borderline pairs. Each merge can be "
        "taken back by SPLIT_ENTITY.",
        group="facts",
    ),
)

"""The endpoint that makes those entities one that are; see `recollex.Agent.facts`."""

from recollex.remote.http import responses
from recollex.remote.http.endpoint import Endpoint, calls, each_of
from recollex.remote.http.schema import OF_AGENT, flag, members, text

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


ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/agents/{agent_id}/entities/resolve",
        "facts.resolve_entities",
        "Find entities that are one, and make them one",
        calls("facts.resolve_entities", each_of("matches")),
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

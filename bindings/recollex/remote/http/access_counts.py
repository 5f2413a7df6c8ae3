"""The endpoints that count accesses to memories, and take what a caller says of their use."""

from typing import Any

from recollex.remote.http import responses
from recollex.remote.http.endpoint import Backend, CheckedRequest, Endpoint
from recollex.remote.http.schema import AGENT, ID, OF_AGENT, flag, listed, members
from recollex_engine.domain.checks import MAX_IDS

USED = members(
    "Used",
    {
        "ids": listed(ID, "The memories that were used.", 1, MAX_IDS),
        "helped": flag("Whether they helped, or misled; left out if that is not known."),
    },
    ("ids",),
)


async def count(backend: Backend, request: CheckedRequest) -> Any:
    """Return how often a memory was accessed."""
    arguments = {"id": request.path["memory_id"]}
    return await backend.call("accesses", request.agent, arguments, lambda found: found.to_dict())


async def use(backend: Backend, request: CheckedRequest) -> Any:
    """Record that memories were used."""
    return await backend.call("used", request.agent, dict(request.body), _done)


def _done(_: None) -> dict[str, bool]:
    return {"done": True}


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/agents/{agent_id}/memories/{memory_id}/accesses",
        "accesses",
        "Count how often a memory was returned and used, and when last",
        count,
        responses.ACCESSES,
        parameters={"agent_id": AGENT, "memory_id": ID},
        unknown=True,
        about="What recalls return is counted by a server that runs with --count-accesses.",
    ),
    Endpoint(
        "POST",
        "/api/agents/{agent_id}/used",
        "used",
        "Say which memories were used, and whether they helped",
        use,
        responses.DONE,
        parameters=OF_AGENT,
        body=USED,
        unknown=True,
    ),
)

"""The endpoints that count accesses to memories, and take what a caller says of their use."""

from recollex.remote.http import responses
from recollex.remote.http.endpoint import Endpoint, calls, done, told
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


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/agents/{agent_id}/memories/{memory_id}/accesses",
        "accesses",
        "Count how often a memory was returned and used, and when last",
        calls("accesses", told),
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
        calls("used", done),
        responses.DONE,
        parameters=OF_AGENT,
        body=USED,
        unknown=True,
    ),
)

"""The endpoints for agents: Memora's profiles (its 6.2 and 4.2); see `mind.profile`."""

import asyncio
from typing import Any

from recollex.remote.http import responses
from recollex.remote.http.endpoint import Backend, CheckedRequest, Endpoint, calls, done
from recollex.remote.http.schema import (
    AGENT,
    OF_AGENT,
    members,
    moment,
    number,
    text,
    typed,
    whole,
)
from recollex_mind.profile import BACKGROUND, MAX_BACKGROUND, NUMBERS, Profile

MAX_TOLD = 20_000
"""The most characters of what is new for a background."""

PERSONALITY = members(
    "Traits",
    dict.fromkeys(NUMBERS, number(0, 1)),
    about="Any of the traits; the others stay as they are.",
)
_BACKGROUND = typed(str, "Who the agent is, in the first person.", max_length=MAX_BACKGROUND)
AGENT_BODY = members("Agent", {"personality": PERSONALITY, "background": _BACKGROUND})
PROFILE_BODY = members("Personality", {"personality": PERSONALITY}, ("personality",))


async def read_profile(backend: Backend, request: CheckedRequest) -> Any:
    """Return an agent's profile."""
    return await profile(backend, request.agent, request.query.get("as_recorded"))


async def profile(backend: Backend, agent: str, at: Any = None) -> Any:
    """Return the profile of an agent, as recorded by ``at`` if that is given."""
    return await backend.call("profile.get", agent, {}, Profile.to_dict, at)


async def write_profile(backend: Backend, request: CheckedRequest) -> Any:
    """Record what a body says of an agent, and return its profile."""
    said = dict(request.body.get("personality", {}))
    if BACKGROUND in request.body:
        said[BACKGROUND] = request.body[BACKGROUND]
    return await backend.call("profile.set", request.agent, {**said, "by": "http"}, Profile.to_dict)


async def merge_background(backend: Backend, request: CheckedRequest) -> Any:
    """Add to an agent's background, and return the background."""
    said = {"content": request.body["content"], "by": "http"}
    return await backend.call("profile.merge_background", request.agent, said, _background)


def _background(made: Profile) -> dict[str, str]:
    return {BACKGROUND: made.background}


async def list_agents(backend: Backend, request: CheckedRequest) -> Any:
    """Return the agents that hold something, a page at a time, with their profiles."""
    names: list[str] = await backend.call("agents", "", {}, lambda names: list(names))
    after = request.query.get("after")
    limit = request.query.get("limit", 100)
    page = [name for name in names if after is None or name > after][:limit]
    return {"agents": await asyncio.gather(*(profile(backend, name) for name in page))}


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/agents",
        "agents",
        "List the agents",
        list_agents,
        responses.listing("agents", responses.reference("Profile")),
        query={
            "after": text(80, "The last agent of the page before."),
            "limit": whole(1, 1000, default=100),
        },
        about="Memora 6.2. Those that hold something and that the token reaches, by name.",
        group="agents",
    ),
    Endpoint(
        "PUT",
        "/api/agents/{agent_id}",
        "profile.set",
        "Create or update an agent",
        write_profile,
        responses.reference("Profile"),
        parameters=OF_AGENT,
        body=AGENT_BODY,
        about="Memora 6.2. What is not given stays as it is.",
        group="agents",
    ),
    Endpoint(
        "DELETE",
        "/api/agents/{agent_id}",
        "delete_agent",
        "Delete an agent with all that it holds",
        calls("delete_agent", done),
        responses.DONE,
        parameters=OF_AGENT,
        unknown=True,
        about="It cannot be brought back. Backups keep what they have.",
        group="agents",
    ),
    Endpoint(
        "GET",
        "/api/agents/{agent_id}/profile",
        "profile.get",
        "Get an agent's profile",
        read_profile,
        responses.reference("Profile"),
        parameters=OF_AGENT,
        query={"as_recorded": moment("As it was at this time.")},
        about="Memora 6.2. An agent that is new has .5 of every trait.",
        group="agents",
    ),
    Endpoint(
        "PUT",
        "/api/agents/{agent_id}/profile",
        "profile.set",
        "Update an agent's personality",
        write_profile,
        responses.reference("Profile"),
        parameters=OF_AGENT,
        body=PROFILE_BODY,
        about="Memora 6.2.",
        group="agents",
    ),
    Endpoint(
        "POST",
        "/api/agents/{agent_id}/background",
        "profile.merge_background",
        "Add to an agent's background",
        merge_background,
        responses.record(background={"type": "string"}),
        parameters={"agent_id": AGENT},
        body=members(
            "Told",
            {"content": text(MAX_TOLD, "What is new, in the first or the second person.")},
            ("content",),
        ),
        about="Memora 6.2. Merged by the language model of --llm; by rule without one: in the "
        "first person, without what is there already, and of what can be so only once, such as "
        "where one was born, the new text stays.",
        group="agents",
    ),
)

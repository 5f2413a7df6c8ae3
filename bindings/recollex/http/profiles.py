"""The endpoints for agents: Memora's profiles (its 6.2 and 4.2).

A profile consists of facts that an agent holds about itself, so it has a history, and a cut shows
the profile of its time. The subject is `SELF`; a trait is a number under its own name; the
background is a text. An agent without such facts has .5 for every trait and no background; a
request for it stores nothing.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from recollex.http import responses
from recollex.http.endpoint import Backend, CheckedRequest, Endpoint
from recollex.http.responses import TRAITS
from recollex.http.schema import OF_AGENT, Schema, members, moment, number, text, whole
from recollex_engine.clock import from_micros
from recollex_engine.facts.facts import FactList

SELF = "self"
"""The name of the agent in the facts about itself."""
BACKGROUND = "background"
MAX_BACKGROUND = 20_000
"""The most characters of a background."""

_NAMES = (*TRAITS, "bias_strength")
_UNSAID = 0.5

PERSONALITY = members(
    dict.fromkeys(_NAMES, number(0, 1)), about="Any of the traits; the others stay as they are."
)
_BACKGROUND: Schema = {
    "type": "string",
    "maxLength": MAX_BACKGROUND,
    "description": "Who the agent is, in the first person.",
}
AGENT_BODY = members({"personality": PERSONALITY, "background": _BACKGROUND})
PROFILE_BODY = members({"personality": PERSONALITY}, ("personality",))


def operations_of(personality: Mapping[str, float], background: str | None) -> list[dict[str, Any]]:
    """Return the operations that record parts of a profile, in the words of `recollex.api.dsl`.

    A blank background removes the background.
    """
    said: dict[str, Any] = dict(personality)
    if background is not None:
        said[BACKGROUND] = {"text": background} if background.strip() else False
    return [
        {"op": "UPSERT_EDGE", "id": _id(name), "subject": SELF, "predicate": name, "object": value}
        for name, value in said.items()
    ]


def _id(name: str) -> str:
    return f"{SELF}:{name}"


def profile_of(agent: str, facts: FactList) -> dict[str, Any]:
    """Return the profile that an agent's facts about itself describe."""
    said = {fact.predicate: fact.object for fact in facts if fact.id == _id(fact.predicate)}
    background = said.get(BACKGROUND)
    view = facts.view
    began = from_micros(int(view.data("op_recorded_at")[0])).isoformat() if view.op else None
    return {
        "agent_id": agent,
        "personality": {name: said.get(name, _UNSAID) for name in _NAMES},
        "background": background if isinstance(background, str) else "",
        "created_at": began,
    }


async def read_profile(backend: Backend, request: CheckedRequest) -> Any:
    """Return an agent's profile."""
    return await profile(backend, request.agent, request.query.get("as_recorded"))


async def profile(backend: Backend, agent: str, at: Any = None) -> Any:
    """Return the profile of an agent, as recorded by ``at`` if that is given."""
    return await backend.call(
        "facts.find", agent, {"subject": SELF}, lambda facts: profile_of(agent, facts), at
    )


async def write_profile(backend: Backend, request: CheckedRequest) -> Any:
    """Record what a body says of an agent, and return its profile."""
    operations = operations_of(request.body.get("personality", {}), request.body.get("background"))
    if operations:
        arguments = {"operations": operations, "by": "http"}
        await backend.call("apply", request.agent, arguments, int)
    return await profile(backend, request.agent)


async def list_agents(backend: Backend, request: CheckedRequest) -> Any:
    """Return the agents that hold something, a page at a time, with their profiles."""
    names: list[str] = await backend.call("agents", "", {}, lambda names: list(names))
    after, limit = request.query.get("after"), request.query.get("limit", 100)
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
        "apply",
        "Create or update an agent",
        write_profile,
        responses.reference("Profile"),
        parameters=OF_AGENT,
        body=AGENT_BODY,
        about="Memora 6.2. What is not given stays as it is.",
        group="agents",
    ),
    Endpoint(
        "GET",
        "/api/agents/{agent_id}/profile",
        "facts.find",
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
        "apply",
        "Update an agent's personality",
        write_profile,
        responses.reference("Profile"),
        parameters=OF_AGENT,
        body=PROFILE_BODY,
        about="Memora 6.2.",
        group="agents",
    ),
)

"""The endpoints for facts, an agent's log, and its counts."""

import dataclasses
from typing import Any

from recollex.remote.http import responses
from recollex.remote.http.endpoint import Backend, CheckedRequest, Endpoint
from recollex.remote.http.schema import (
    OF_AGENT,
    QUERY,
    listed,
    mapping,
    members,
    moment,
    text,
    whole,
)
from recollex_engine.domain.checks import MAX_IDS
from recollex_engine.domain.question import MAX_LIMIT

OPERATION = mapping(
    'An operation of `recollex.dsl`, such as {"op": "UPSERT_EDGE", ...}.',
    properties={"op": {"type": "string"}},
    required=["op"],
)
OPERATIONS = members(
    "Operations",
    {
        "operations": listed(OPERATION, "Recorded together, or not at all.", 1, MAX_IDS),
        "by": text(about="Who says so."),
        "why": text(about="The reason."),
    },
    ("operations",),
)


async def find(backend: Backend, request: CheckedRequest) -> Any:
    """Return the facts that meet every condition."""
    return await backend.call(
        "facts.find",
        request.agent,
        dict(request.query),
        lambda facts: {"facts": [fact.to_dict() for fact in facts]},
    )


async def search(backend: Backend, request: CheckedRequest) -> Any:
    """Return the facts that say most of what a question asks for."""
    return await backend.call("facts.search", request.agent, dict(request.body), _hits)


async def search_events(backend: Backend, request: CheckedRequest) -> Any:
    """Return the events that say most of what a question asks for."""
    return await backend.call("events.search", request.agent, dict(request.body), _hits)


def _hits(hits: list[Any]) -> dict[str, Any]:
    return {"hits": [hit.to_dict() for hit in hits]}


async def record(backend: Backend, request: CheckedRequest) -> Any:
    """Record operations."""
    return await backend.call("apply", request.agent, dict(request.body), _records)


def _records(count: int) -> dict[str, int]:
    return {"records": count}


async def log(backend: Backend, request: CheckedRequest) -> Any:
    """Return the operations of an agent's log."""
    return await backend.call(
        "log",
        request.agent,
        dict(request.query),
        lambda entries: {"entries": [entry.to_dict() for entry in entries]},
    )


async def count(backend: Backend, request: CheckedRequest) -> Any:
    """Return how much an agent holds."""
    return await backend.call("stats", request.agent, {}, dataclasses.asdict)


async def end(backend: Backend, request: CheckedRequest) -> Any:
    """Return the end of an agent's log."""
    return await backend.call("head", request.agent, {}, dataclasses.asdict)


_SEARCHED = {
    "query": QUERY,
    "limit": whole(1, MAX_LIMIT, "The most to return.", default=10),
    "as_recorded": moment("What was known then."),
    "as_world": moment("What was true then."),
}

ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/agents/{agent_id}/facts",
        "facts.find",
        "Find facts",
        find,
        responses.listing("facts", responses.reference("Fact")),
        parameters=OF_AGENT,
        query={
            "subject": text(),
            "predicate": text(),
            "evidence": text(about="A memory's id."),
            "as_recorded": moment("What was known then."),
            "as_world": moment("What was true then."),
        },
        unknown=True,
        group="facts",
    ),
    Endpoint(
        "POST",
        "/api/agents/{agent_id}/facts/search",
        "facts.search",
        "Search facts by what they say",
        search,
        responses.listing("hits", responses.reference("Hit")),
        parameters=OF_AGENT,
        body=members(
            "FactsSearch", {**_SEARCHED, "subject": text(), "predicate": text()}, ("query",)
        ),
        group="facts",
    ),
    Endpoint(
        "POST",
        "/api/agents/{agent_id}/events/search",
        "events.search",
        "Search events by what they say",
        search_events,
        responses.listing("hits", responses.reference("Hit")),
        parameters=OF_AGENT,
        body=members(
            "EventsSearch", {**_SEARCHED, "participant": text(), "status": text()}, ("query",)
        ),
        group="facts",
    ),
    Endpoint(
        "POST",
        "/api/agents/{agent_id}/operations",
        "apply",
        "Record operations",
        record,
        responses.record(records={"type": "integer"}),
        parameters=OF_AGENT,
        body=OPERATIONS,
        group="facts",
    ),
    Endpoint(
        "GET",
        "/api/agents/{agent_id}/log",
        "log",
        "List what was done to an agent's memory",
        log,
        responses.listing("entries", responses.reference("LogEntry")),
        parameters=OF_AGENT,
        query={
            "since": moment("Recorded then or later."),
            "until": moment("Recorded before."),
            "op": text(about='A kind of operation, such as "forget".'),
        },
        group="agents",
    ),
    Endpoint(
        "GET",
        "/api/agents/{agent_id}/head",
        "head",
        "Read the end of an agent's log, to keep elsewhere",
        end,
        responses.HEAD,
        parameters=OF_AGENT,
        group="agents",
    ),
    Endpoint(
        "GET",
        "/api/agents/{agent_id}/stats",
        "stats",
        "Count what an agent holds",
        count,
        responses.reference("Stats"),
        parameters=OF_AGENT,
        group="agents",
    ),
)

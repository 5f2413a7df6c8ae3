"""The endpoints for facts, an agent's log, and its counts."""

import dataclasses

from recollex.remote.http import responses
from recollex.remote.http.endpoint import Endpoint, calls, each_of
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


def _records(count: int) -> dict[str, int]:
    return {"records": count}


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
        calls("facts.find", each_of("facts")),
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
        calls("facts.search", each_of("hits")),
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
        calls("events.search", each_of("hits")),
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
        calls("apply", _records),
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
        calls("log", each_of("entries")),
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
        calls("head", dataclasses.asdict),
        responses.HEAD,
        parameters=OF_AGENT,
        group="agents",
    ),
    Endpoint(
        "GET",
        "/api/agents/{agent_id}/stats",
        "stats",
        "Count what an agent holds",
        calls("stats", dataclasses.asdict),
        responses.reference("Stats"),
        parameters=OF_AGENT,
        group="agents",
    ),
)

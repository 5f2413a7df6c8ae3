"""The endpoints that look into a memory: clocks, neighbours, two cuts, the graph, health.

`/studio` draws them; see `recollex.pages.studio`.
"""

from dataclasses import asdict
from typing import Any

import orjson

from recollex.pages.studio import reads
from recollex.remote.http import responses
from recollex.remote.http.endpoint import Backend, CheckedRequest, Endpoint, calls
from recollex.remote.http.schema import AS_RECORDED, OF_AGENT, OF_MEMORY, flag, moment, text, whole
from recollex.remote.server.metrics_snapshot import parse_metrics, summary

_AS_WORLD = moment("Only what was so at this time of the world.")
_WHOLE: dict[str, object] = {"type": "integer"}
_OBJECT: dict[str, object] = {"type": "object", "additionalProperties": True}
_CLOCK = responses.record(
    "Moments, ascending, and how many memories each shows.",
    moments={"type": "array", "items": {"type": "string", "format": "date-time"}},
    memories={"type": "array", "items": _WHOLE},
)
_OBJECTS = responses.items(_OBJECT)
_COMPARED = responses.record(
    "counts is how many each list would have without limit.",
    counts=_OBJECT,
    added=_OBJECTS,
    closed=_OBJECTS,
    added_facts=_OBJECTS,
    closed_facts=_OBJECTS,
    added_events=_OBJECTS,
    closed_events=_OBJECTS,
)
_NEAR = responses.record(alike=_OBJECTS, named=_OBJECTS, in_time=_OBJECTS)


async def summaries(backend: Backend, request: CheckedRequest) -> Any:
    """Return the agents, a page at a time, and how much each holds."""
    after = request.query.get("after", "")
    limit = request.query.get("limit", 100)

    def convert(found: Any) -> bytes:
        held = [{"id": each} if isinstance(each, str) else asdict(each) for each in found]
        page = [each for each in held if each["id"] > after][:limit]
        return orjson.dumps({"agents": page, "count": len(found)})

    counts = {"counts": True} if request.query.get("counts", True) else {}
    return await backend.call("agents", "", counts, convert)


async def state(backend: Backend, request: CheckedRequest) -> Any:
    """Return what the server does, since its start."""
    now = parse_metrics(backend.service.metrics_text())
    return summary(now, now)


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/summaries",
        "agents",
        "Count what the agents hold, without opening them",
        summaries,
        responses.listing("agents", _OBJECT),
        query={
            "after": text(80, "The last agent of the page before."),
            "limit": whole(1, 1000, default=100),
            "counts": flag("Say how much each holds; without, the names alone.", default=True),
        },
        about="Those that the token reaches, by name; count is the number of all. Counting reads "
        "each log after its checkpoint.",
        group="agents",
    ),
    Endpoint(
        "GET",
        "/api/state",
        "agents",
        "Measure what the server does",
        state,
        _OBJECT,
        about="A few numbers of /metrics, since the server's start; times in seconds.",
        group="agents",
    ),
    Endpoint(
        "GET",
        "/api/agents/{agent_id}/health",
        reads.HEALTH,
        "Say how an agent is kept: its checkpoint, its tail, its files",
        calls(reads.HEALTH, orjson.dumps, cut=True),
        responses.record(operations=_WHOLE, stats=responses.reference("Stats")),
        parameters=OF_AGENT,
        group="agents",
    ),
    Endpoint(
        "GET",
        "/api/agents/{agent_id}/clocks",
        reads.MOMENTS,
        "List the times at which something changed, on both clocks",
        calls(reads.MOMENTS, orjson.dumps, cut=True),
        responses.record(recorded=_CLOCK, world=_CLOCK),
        parameters=OF_AGENT,
        query={"most": whole(2, 10_000, "Moments of a clock.", default=400)},
        group="agents",
    ),
    Endpoint(
        "GET",
        "/api/agents/{agent_id}/log/newest",
        reads.NEWEST_LOG,
        "List the last operations of an agent's log, the newest first",
        calls(reads.NEWEST_LOG, orjson.dumps, cut=True),
        responses.listing("entries", responses.reference("LogEntry")),
        parameters=OF_AGENT,
        query={
            "before": whole(1, 2**53, "The number of the last one of the page before."),
            "limit": whole(1, 1000, default=50),
            "op": text(about='A kind of operation, such as "forget".'),
            "as_recorded": AS_RECORDED,
        },
        group="agents",
    ),
    Endpoint(
        "GET",
        "/api/agents/{agent_id}/compare",
        reads.COMPARE,
        "List what two cuts do not have in common",
        calls(reads.COMPARE, orjson.dumps, cut=True),
        _COMPARED,
        parameters=OF_AGENT,
        query={
            "earlier": moment("The recorded time of the first cut; now, if not given."),
            "later": moment("That of the second; now, if not given."),
            "earlier_world": moment("What was so then, of the first cut."),
            "later_world": moment("What was so then, of the second cut."),
            "limit": whole(1, 1000, "Of each list.", default=100),
        },
        about="A correction is in both lists: as it was, and as it is.",
        group="agents",
    ),
    Endpoint(
        "GET",
        "/api/agents/{agent_id}/graph",
        reads.DRAWING,
        "Get what a page draws of an agent's graph",
        calls(reads.DRAWING, orjson.dumps, cut=True),
        responses.record(until=_WHOLE, memories=_OBJECTS),
        parameters=OF_AGENT,
        query={
            "query": text(1000, "Draw what a recall of it packs."),
            "limit": whole(1, 5000, "Facts and events, and memories.", default=400),
            "as_recorded": AS_RECORDED,
        },
        about="The newest facts, events and memories, or what a recall of query packs.",
        group="facts",
    ),
    Endpoint(
        "GET",
        "/api/agents/{agent_id}/memories/{memory_id}/neighbours",
        reads.NEIGHBOURS,
        "List the memories next to one in the graph",
        calls(reads.NEIGHBOURS, orjson.dumps, cut=True),
        _NEAR,
        parameters=OF_MEMORY,
        query={
            "limit": whole(1, 100, "Of each list.", default=10),
            "as_recorded": AS_RECORDED,
            "as_world": _AS_WORLD,
        },
        unknown=True,
        about="Alike by their vectors, naming the same entity, near in time (TEMPR 2.4).",
    ),
    Endpoint(
        "GET",
        "/api/agents/{agent_id}/memories/{memory_id}/origins",
        reads.ORIGINS,
        "Say who wrote each version of a memory, and why",
        calls(reads.ORIGINS, orjson.dumps, cut=True),
        responses.listing("entries", responses.reference("LogEntry")),
        parameters=OF_MEMORY,
        query={"as_recorded": AS_RECORDED},
        unknown=True,
        about="The entries of the log that recorded its newest 20 versions, oldest first.",
    ),
)

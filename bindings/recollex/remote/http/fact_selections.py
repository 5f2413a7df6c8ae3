"""The endpoints that find or count facts by conditions."""

from datetime import UTC
from typing import Any

from recollex.api.dsl import read_object
from recollex.api.iso_times import parse_time
from recollex.remote.http import responses
from recollex.remote.http.endpoint import Backend, CheckedRequest, Endpoint, counted, each_of
from recollex.remote.http.schema import (
    OF_AGENT,
    Schema,
    flag,
    listed,
    mapping,
    members,
    moment,
    one_of,
    one_or_more,
    text,
    typed,
    whole,
)
from recollex_engine.domain.intervals import OPERATORS, RELATIONS
from recollex_engine.facts.fact_selection import ORDERS, PARTS

_TIME = text(40, "A year, month, week, day, or a time with its zone.", example="2024-05")
_SPAN = listed(moment(), "From the first time to the second.", 2, 2)


_CONDITION = members(
    "TimeCondition", {name: flag() if name == "exists" else _TIME for name in OPERATORS}
)


def _bound(of: str) -> Schema:
    """Return the type of a condition on a time."""
    return typed(
        _TIME | _CONDITION,
        f"When the fact {of} to be true: a time, or an object of the operators "
        f"{', '.join(OPERATORS)}.",
    )


CONDITIONS: dict[str, Schema] = {
    "subject": text(),
    "predicate": text(),
    "object": typed(
        text(about="An entity's name.") | int | float | bool | mapping("Its kind, and it.", 1),
        'An entity\'s name, a literal, or an object of its kind: {"text": "blue"}.',
    ),
    "evidence": one_or_more(text(), "A memory's id, or several; the fact cites one of them."),
    "start": _bound("began"),
    "end": _bound("ceased"),
    "during": _SPAN,
    "overlaps": _SPAN,
    "relation": one_of(*RELATIONS, about="How its time lies to the interval `to`."),
    "to": _SPAN,
    "as_recorded": moment("What was known then."),
    "as_world": moment("What was true then."),
}
FIND = members(
    "FactsFind",
    {
        **CONDITIONS,
        "order_by": one_of(*ORDERS, default="recorded"),
        "descending": flag("In the opposite order."),
        "limit": whole(1, 1000, default=100),
        "offset": whole(0, 2**31, "How many facts are skipped."),
    },
)
COUNT = members(
    "FactsCount",
    {**CONDITIONS, "distinct": one_of(*PARTS, about="Count the different ones of these.")},
)
VALUE_COUNTS = members(
    "FactsValueCounts",
    {"field": one_of(*PARTS, about="Whose values are counted."), **CONDITIONS},
    ("field",),
)


async def find(backend: Backend, request: CheckedRequest) -> Any:
    """Return the facts that meet every condition."""
    arguments = {"limit": 100, **_arguments(request)}
    return await backend.call("facts.find", request.agent, arguments, each_of("facts"))


async def count(backend: Backend, request: CheckedRequest) -> Any:
    """Count the facts that meet every condition."""
    return await backend.call("facts.count", request.agent, _arguments(request), counted)


async def count_values(backend: Backend, request: CheckedRequest) -> Any:
    """Count the values of a part of the facts that meet every condition."""

    def convert(counts: dict[str, int]) -> dict[str, dict[str, int]]:
        return {"counts": counts}

    return await backend.call("facts.value_counts", request.agent, _arguments(request), convert)


def _arguments(request: CheckedRequest) -> dict[str, Any]:
    arguments = dict(request.body)
    if "object" in arguments:
        arguments["object"] = read_object(
            arguments["object"], lambda value, name: parse_time(str(value), UTC, name)
        )
    return arguments


ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/agents/{agent_id}/facts/find",
        "facts.find",
        "Find facts by their parts and times, in an order, a page at a time",
        find,
        responses.listing("facts", responses.reference("Fact")),
        parameters=OF_AGENT,
        body=FIND,
        unknown=True,
        group="facts",
    ),
    Endpoint(
        "POST",
        "/api/agents/{agent_id}/facts/count",
        "facts.count",
        "Count facts, or their different subjects, predicates or objects",
        count,
        responses.COUNT,
        parameters=OF_AGENT,
        body=COUNT,
        unknown=True,
        group="facts",
    ),
    Endpoint(
        "POST",
        "/api/agents/{agent_id}/facts/value_counts",
        "facts.value_counts",
        "Count the subjects, predicates or objects of facts",
        count_values,
        responses.VALUE_COUNTS,
        parameters=OF_AGENT,
        body=VALUE_COUNTS,
        unknown=True,
        group="facts",
    ),
)

"""The endpoints that list, count, forget or amend memories by a filter or by id."""

from itertools import islice
from typing import Any

from recollex.remote.http import responses
from recollex.remote.http.endpoint import (
    Backend,
    CheckedRequest,
    Endpoint,
    calls,
    counted,
    done,
    each_of,
)
from recollex.remote.http.schema import (
    AGENT,
    AS_RECORDED,
    FILTERS,
    ID,
    METADATA,
    OF_AGENT,
    flag,
    listed,
    members,
    moment,
    one_of,
    text,
    typed,
    whole,
)
from recollex_engine.recall.lookups import FIELDS

LIST = members(
    "List",
    {
        **FILTERS,
        "after": text(about="The id of the last one of the page before."),
        "limit": whole(1, 1000, default=100),
        "newest": flag("The newest recorded first."),
        "as_recorded": AS_RECORDED,
    },
)
COUNT = members("Count", {**FILTERS, "as_recorded": AS_RECORDED})
VALUE_COUNTS = members(
    "ValueCounts",
    {
        "field": one_of(*FIELDS, about="Whose values are counted."),
        "most": whole(1, 100_000, "Return only this many values, the most frequent."),
        **FILTERS,
        "as_recorded": AS_RECORDED,
    },
    required=("field",),
)
FORGET = members(
    "Forget",
    {
        "id": listed(ID, "These memories, instead of a filter."),
        **FILTERS,
        "by": text(about="Who forgets them."),
        "why": text(about="The reason."),
    },
)
AMEND = members(
    "Amend",
    {
        "tags": listed(text(), "Those that it has from now on."),
        "metadata": METADATA,
        "valid_until": typed(moment() | None, "When it ceases to be so; null for no end."),
        "zone": text(about="Where it was said: its dates are read again there."),
        "by": text(about="Who amends it."),
        "why": text(about="The reason."),
    },
)


async def count_values(backend: Backend, request: CheckedRequest) -> Any:
    """Count the values of a field of the memories that a filter admits."""
    arguments = dict(request.body)
    at = arguments.pop("as_recorded", None)
    most = arguments.pop("most", None)

    def convert(counts: dict[str, int]) -> dict[str, dict[str, int]]:
        return {"counts": dict(islice(counts.items(), most))}

    return await backend.call("value_counts", request.agent, arguments, convert, at)


ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/agents/{agent_id}/list",
        "list",
        "List the memories that a filter admits",
        calls("list", each_of("memories"), cut=True),
        responses.listing("memories", responses.reference("Memory")),
        parameters=OF_AGENT,
        body=LIST,
        unknown=True,
    ),
    Endpoint(
        "POST",
        "/api/agents/{agent_id}/count",
        "count",
        "Count the memories that a filter admits",
        calls("count", counted, cut=True),
        responses.COUNT,
        parameters=OF_AGENT,
        body=COUNT,
    ),
    Endpoint(
        "POST",
        "/api/agents/{agent_id}/value_counts",
        "value_counts",
        "Count the values of a field, such as tags, of the memories that a filter admits",
        count_values,
        responses.VALUE_COUNTS,
        parameters=OF_AGENT,
        body=VALUE_COUNTS,
    ),
    Endpoint(
        "POST",
        "/api/agents/{agent_id}/forget",
        "forget",
        "Forget the memories of ids, or those that a filter admits",
        calls("forget", counted),
        responses.COUNT,
        parameters=OF_AGENT,
        body=FORGET,
        unknown=True,
        about="Earlier cuts still hold them.",
    ),
    Endpoint(
        "PATCH",
        "/api/agents/{agent_id}/memories/{memory_id}",
        "amend",
        "Change the tags, metadata or end of validity of a memory",
        calls("amend", done),
        responses.DONE,
        parameters={"agent_id": AGENT, "memory_id": ID},
        body=AMEND,
        unknown=True,
        about="Its text stays. Earlier cuts show it as it was.",
    ),
)

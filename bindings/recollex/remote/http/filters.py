"""The types of the filter's members, which every endpoint with a filter takes."""

from collections.abc import Mapping

from recollex.api.conditions import CONDITIONS, FilterCondition
from recollex.remote.http.schema import (
    LEAST_TRUST,
    NETWORK,
    ROLE,
    Schema,
    listed,
    mapping,
    moment,
    one_or_more,
    text,
)


def _schema(condition: FilterCondition) -> Schema:
    about = f"A memory meets it if {condition.about}."
    match condition.kind:
        case "names":
            return listed(text(), about)
        case "time":
            return moment(about)
        case "trust":
            return LEAST_TRUST
        case "metadata":
            return mapping(about)
    return one_or_more({"network": NETWORK, "role": ROLE}.get(condition.kind, text()), about)


FILTERS: Mapping[str, Schema] = {name: _schema(each) for name, each in CONDITIONS.items()}

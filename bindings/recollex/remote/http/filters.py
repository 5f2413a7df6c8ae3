"""The schemas of the filter's members, which every endpoint with a filter takes."""

from collections.abc import Mapping

from recollex.api.conditions import CONDITIONS, Condition
from recollex.remote.http.schema import (
    LEAST_TRUST,
    METADATA,
    NETWORK,
    ROLE,
    Schema,
    listed,
    moment,
    text,
)


def _schema(condition: Condition) -> Schema:
    about = f"A memory meets it if {condition.about}."
    match condition.kind:
        case "names":
            return listed(text(), about)
        case "time":
            return moment(about)
        case "trust":
            return LEAST_TRUST
        case "metadata":
            return {**METADATA, "description": about}
    item = {"network": NETWORK, "role": ROLE}.get(condition.kind, text())
    return {"anyOf": [item, listed(item, least=1)], "description": about}


FILTERS: Mapping[str, Schema] = {name: _schema(each) for name, each in CONDITIONS.items()}

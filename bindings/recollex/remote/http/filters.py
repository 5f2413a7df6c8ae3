"""The schemas of the filter's members, which every endpoint with a filter takes."""

from collections.abc import Mapping

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


def _one_of(item: Schema, about: str) -> Schema:
    """Return the schema of an item, or of a list of some."""
    return {"anyOf": [item, listed(item, least=1)], "description": about}


FILTERS: Mapping[str, Schema] = {
    "tags": listed(text(), "A memory has all of them."),
    "any_tags": listed(text(), "It has one of them."),
    "no_tags": listed(text(), "It has none of them."),
    "document_id": _one_of(text(), "It is of this document, or of one of them."),
    "network": _one_of(NETWORK, "It is of this network, or of one of them."),
    "roles": _one_of(ROLE, "Its speaker has this role, or one of them."),
    "speakers": _one_of(text(), "This speaker said it, or one of them; case does not matter."),
    "source": _one_of(text(), "It is of this source, or of one of them."),
    "trust": LEAST_TRUST,
    "entities": listed(text(), "It names all of them."),
    "since": moment("Of the event's time."),
    "until": moment("Of the event's time."),
    "recorded_since": moment("Of the time at which it was recorded."),
    "recorded_until": moment("Of the time at which it was recorded."),
    "ends_after": moment("Its `valid_until` is later than this, or it has none."),
    "ends_by": moment("Its `valid_until` is not later than this."),
    "as_world": moment("It was so at this time of the world."),
    "where": {
        **METADATA,
        "description": "Values of metadata that are equal, or objects of the operators eq, ne, gt, "
        "ge, lt, le, in, not, contains and exists.",
    },
}

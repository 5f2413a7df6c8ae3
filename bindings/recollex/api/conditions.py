"""The conditions of a filter, one a line: the options of the command line and HTTP come from here.

A new condition is one line here, one of `recollex.api.filters.Filters` for its type, and a field
of the engine's `Filter` with what it does in `recollex_engine.ranking.filters`. Nothing slow is
imported: the command line reads this before numpy could be loaded.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

ConditionKind = Literal["names", "one_of", "network", "role", "trust", "time", "metadata"]
"""What a condition takes: a list of names; a name or several; networks; roles; a level of trust; a
time; conditions on metadata."""


class FilterCondition(NamedTuple):
    """A condition on memories.

    about: what a memory meets. option: its name on the command line, and value: what stands for its
    value there; an option of names may be given again.
    """

    kind: ConditionKind
    about: str
    option: str
    value: str


CONDITIONS: Mapping[str, FilterCondition] = {
    "tags": FilterCondition("names", "it has all of these tags", "tag", "TAG"),
    "any_tags": FilterCondition("names", "it has one of these tags", "any_tag", "TAG"),
    "no_tags": FilterCondition("names", "it has none of these tags", "no_tag", "TAG"),
    "document_id": FilterCondition("one_of", "it is of one of these documents", "document", "ID"),
    "talk": FilterCondition(
        "one_of", "it is of none of these documents, which the asker has in view", "talk", "ID"
    ),
    "network": FilterCondition("network", "it is of one of these networks", "network", "NETWORK"),
    "roles": FilterCondition("role", "its speaker has one of these roles", "role", "ROLE"),
    "speakers": FilterCondition("one_of", "one of these said it, in any case", "speaker", "NAME"),
    "source": FilterCondition("one_of", "it is of one of these sources", "source", "SOURCE"),
    "trust": FilterCondition(
        "trust", "it is trusted as user, assistant, tool or web, or more", "trust", "LEVEL"
    ),
    "entities": FilterCondition("names", "it names all of these", "entity", "NAME"),
    "since": FilterCondition("time", "it happened at or after this", "since", "TIME"),
    "until": FilterCondition("time", "it happened before this", "until", "TIME"),
    "recorded_since": FilterCondition(
        "time", "it was recorded at or after this", "recorded_since", "TIME"
    ),
    "recorded_until": FilterCondition(
        "time", "it was recorded before this", "recorded_until", "TIME"
    ),
    "ends_after": FilterCondition(
        "time", "it is valid for longer than this, or without end", "ends_after", "TIME"
    ),
    "ends_by": FilterCondition("time", "it ceased to be valid by this time", "ends_by", "TIME"),
    "as_world": FilterCondition("time", "it was so then, by what is known", "as_world", "TIME"),
    "where": FilterCondition(
        "metadata",
        "its metadata has these values, or meets objects of the operators eq, ne, gt, ge, lt, le, "
        "in, not, contains and exists",
        "where",
        "JSON",
    ),
}
"""Argument -> its condition."""

"""The filter's arguments: the same for `recall`, `list`, `count`, `forget`, `erase` and exports."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict, cast

from recollex.api.argument_groups import ArgumentGroup
from recollex.api.arguments import as_dict, as_list, as_names, one_or_more, optional_micros
from recollex_engine.clock import Moment
from recollex_engine.domain.filter import EVERYTHING, Filter
from recollex_engine.domain.metadata_conditions import read_where
from recollex_engine.domain.roles import role_number
from recollex_engine.domain.statement import network_number
from recollex_engine.domain.trust import trust_number
from recollex_engine.errors import InputError


class Filters(TypedDict, total=False):
    """Conditions on memories; a memory must meet all of them.

    tags, entities: it has all of these. any_tags: it has one of them; no_tags: it has none of them.
    document_id, network, roles (of its speaker), speakers, source: it is of this one, or of one of
    a list; case does not matter in a speaker's name. trust: the least trust, "user", "assistant",
    "tool" or "web"; memories of unknown source are left out. since, until: its event's time
    overlaps [since, until). recorded_since, recorded_until: it was recorded in that interval.
    ends_after: its `valid_until` is later than this, or it has none. ends_by: its `valid_until` is
    not later than this. as_world: it was so at this time of the world, by today's knowledge: it had
    happened by then, and its `valid_until`, if any, had not passed.

    where: conditions on its metadata: a value that is equal, or a dict of the operators eq, ne, gt,
    ge, lt, le, in, not, contains (of a list) and exists. See `recollex_engine` at
    ``domain.metadata_conditions``.
    """

    tags: Sequence[str]
    any_tags: Sequence[str]
    no_tags: Sequence[str]
    document_id: str | Sequence[str] | None
    network: str | Sequence[str] | None
    roles: str | Sequence[str] | None
    speakers: str | Sequence[str] | None
    source: str | Sequence[str] | None
    trust: str | None
    entities: Sequence[str]
    since: Moment | None
    until: Moment | None
    recorded_since: Moment | None
    recorded_until: Moment | None
    ends_after: Moment | None
    ends_by: Moment | None
    as_world: Moment | None
    where: Mapping[str, Any] | None


_EMPTY = ("tags", "any_tags", "no_tags", "entities")
"""The arguments whose default is an empty tuple; that of the others is None."""
_ELSEWHERE = {
    **dict.fromkeys(("k", "n", "top_k", "topk", "n_results", "num_results", "size"), "limit"),
    **dict.fromkeys(("filter", "filters", "metadata"), "where"),
    **dict.fromkeys(("at", "as_of"), "as_recorded"),
}
FILTERS = ArgumentGroup(Filters, dict.fromkeys(_EMPTY, ()), _ELSEWHERE)


def read_filter(called: str, given: Filters) -> Filter:
    """Return the filter of a call. Raises `InputError`, and `TypeError` for an unknown argument.

    called: the method's name, for that.

    >>> read_filter("list", {"tags": ["work"]}).tags
    ('work',)
    """
    if not given:
        return EVERYTHING
    FILTERS.refuse_unknown(called, given)
    get = cast(dict[str, Any], given).get
    trust = get("trust")
    return Filter(
        **{name: as_names(get(name), name) for name in _EMPTY},
        documents=_several(get("document_id"), "document_id"),
        sources=_several(get("source"), "source"),
        speakers=_several(get("speakers"), "speakers"),
        networks=_kinds(get("network"), "network", network_number),
        roles=_kinds(get("roles"), "roles", role_number),
        trust=0 if trust is None else trust_number(trust),
        event=(optional_micros(get("since"), "since"), optional_micros(get("until"), "until")),
        recorded=(
            optional_micros(get("recorded_since"), "recorded_since"),
            optional_micros(get("recorded_until"), "recorded_until"),
        ),
        ends_after=optional_micros(get("ends_after"), "ends_after"),
        ends_by=optional_micros(get("ends_by"), "ends_by"),
        as_world=optional_micros(get("as_world"), "as_world"),
        where=() if (where := get("where")) is None else read_where(as_dict(where)),
    )


def _several(value: Any, name: str) -> tuple[str, ...]:
    """Return a name or several as a tuple; None as an empty one."""
    if value is None:
        return ()
    if not isinstance(value, str) and not as_list(value, name, "a str or a list of str"):
        raise InputError(f"{name} is empty: leave it out for all of them")
    return one_or_more(value, name)


def _kinds(names: Any, what: str, number: Callable[[Any], int]) -> tuple[int, ...] | None:
    """Return the numbers of networks or roles by their names; None for all of them."""
    chosen = _several(names, what)
    return tuple(number(name) for name in chosen) if chosen else None

"""The arguments that filter memories and facts: the same wherever some are chosen."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict, Unpack, cast

from recollex.api import valid_times
from recollex.api.argument_groups import ArgumentGroup
from recollex.api.arguments import as_dict, as_list, as_names, checked_id, one_or_more
from recollex.api.conditions import CONDITIONS, ConditionKind
from recollex.api.valid_times import GivenInterval
from recollex_engine.clock import Moment, to_micros
from recollex_engine.domain.filter import EVERYTHING, read_where
from recollex_engine.domain.filter import Filter as Wanted
from recollex_engine.domain.intervals import (
    EVERY,
    Box,
    TimeCondition,
    overlapping,
    read_end,
    read_start,
    related,
    within,
)
from recollex_engine.domain.literals import FactObject
from recollex_engine.domain.statement import network_number
from recollex_engine.domain.trust import role_number, trust_number
from recollex_engine.errors import InputError, UnknownIdError
from recollex_engine.facts.fact_selection import FactConditions
from recollex_engine.facts.fact_view import FactView


# The conditions on facts that `find`, `count` and `value_counts` take as keyword arguments.
class FactFilters(TypedDict, total=False):
    """What a fact must meet; all conditions that are given must hold.

    subject, predicate: it has these. object: an entity's name, or a literal. evidence: ids of
    memories; it cites one of them.

    start, end: when it began or ceased to be true: a time, such as "2024" or "2002-02", or a dict
    of the operators lt, le, eq, ge, gt and exists. What each means between times of different
    precision is the table of `recollex_engine` at ``domain.intervals``.

    during: an interval that holds its valid time. overlaps: an interval that shares a moment with
    it. relation: how the valid time lies to the interval ``to``, one of Allen's relations:
    "before", "meets", "overlaps", "starts", "during", "finishes", "equals", and "after", "met_by",
    "overlapped_by", "started_by", "contains", "finished_by".
    """

    subject: str | None
    predicate: str | None
    object: FactObject | None
    evidence: str | Sequence[str] | None
    start: TimeCondition | None
    end: TimeCondition | None
    during: GivenInterval | None
    overlaps: GivenInterval | None
    relation: str | None
    to: GivenInterval | None


_FACTS_ELSEWHERE = dict.fromkeys(("k", "n", "top_k", "size"), "limit") | {
    "order": "order_by",
    "ordering": "order_by",
    "reverse": "descending",
    "start_time": "start",
    "end_time": "end",
    "at": "as_world",
}
FACT_FILTERS = ArgumentGroup(FactFilters, elsewhere=_FACTS_ELSEWHERE)


def read_conditions(called: str, given: FactFilters, view: FactView, agent: str) -> FactConditions:
    """Return the conditions of a call of the method ``called`` on a view.

    Raises `InputError`, `UnknownIdError` for evidence that is not there, and `TypeError` for an
    unknown argument.
    """
    FACT_FILTERS.refuse_unknown(called, given)
    values = cast(dict[str, Any], given)
    get = values.get
    subject = get("subject")
    predicate = get("predicate")
    evidence = get("evidence")
    return FactConditions(
        subject=None if subject is None else checked_id(subject, "subject"),
        predicate=None if predicate is None else checked_id(predicate, "predicate"),
        object=get("object"),
        evidence=None
        if evidence is None
        else _memories(view, one_or_more(evidence, "evidence"), agent),
        valid=_valid(values),
    )


def _valid(values: dict[str, Any]) -> Box:
    """Return the bounds of the valid time."""
    get = values.get
    valid = EVERY
    if (start := get("start")) is not None:
        valid &= Box(start=read_start(start))
    if (end := get("end")) is not None:
        valid &= Box(end=read_end(end))
    if (during := get("during")) is not None:
        valid &= within(valid_times.span(during, "during"))
    if (overlaps := get("overlaps")) is not None:
        valid &= overlapping(valid_times.span(overlaps, "overlaps"))
    relation = get("relation")
    to = get("to")
    if (relation is None) != (to is None):
        raise InputError("relation and to go together: relation='before', to=(start, end)")
    if relation is not None:
        valid &= related(relation, valid_times.span(to, "to"))
    return valid


def _memories(view: FactView, ids: Sequence[str], agent: str) -> list[int]:
    """Return the rows of every version of these memories."""
    columns = view.columns
    known = columns.array("id")[: view.memories]
    found: list[int] = []
    for id in ids:
        key = columns.dictionary["ids"].get(id)
        versions = [] if key is None else (known == key).nonzero()[0].tolist()
        if not versions:
            raise UnknownIdError(id, agent)
        found += versions
    return found


class Filters(TypedDict, total=False):
    """Conditions on memories; a memory must meet all of them.

    tags, entities: it has all of these. any_tags: it has one of them; no_tags: it has none of them.
    document_id, network, roles (of its speaker), speakers, source: it is of this one, or of one of
    a list; case does not matter in a speaker's name. talk: it is of none of these documents, which
    the asker has in view. trust: the least trust, "user", "assistant",
    "tool" or "web"; memories of unknown source are left out. since, until: its event's time
    overlaps [since, until). recorded_since, recorded_until: it was recorded in that interval.
    ends_after: its `valid_until` is later than this, or it has none. ends_by: its `valid_until` is
    not later than this. as_world: it was so at this time of the world, by today's knowledge: it had
    happened by then, and its `valid_until`, if any, had not passed.

    where: conditions on its metadata: a value that is equal, or a dict of the operators eq, ne, gt,
    ge, lt, le, in, not, contains (of a list) and exists. See `recollex_engine` at
    ``domain.filter``.

    filter: all of this as one value, in place of the conditions.
    """

    tags: Sequence[str]
    any_tags: Sequence[str]
    no_tags: Sequence[str]
    document_id: str | Sequence[str] | None
    talk: str | Sequence[str] | None
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
    filter: "Filter"


class Filter:
    """Conditions on memories as one value, built and checked once: see `Filters`.

    Each method that takes these arguments takes the value instead, as ``filter``.

    >>> import recollex, tempfile
    >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
    >>> ids = alice.retain_many(["Tea.", "Call Bob."], tags=[["home"], ["home", "todo"]])
    >>> due = recollex.Filter(tags=["todo"])
    >>> alice.count(filter=due), [memory.text for memory in alice.list(filter=due)]
    (1, ['Call Bob.'])
    """

    __slots__ = ("given", "wanted")

    def __init__(self, **conditions: Unpack[Filters]) -> None:
        FILTERS.refuse_unknown("Filter", conditions)
        if "filter" in conditions:
            raise InputError("a Filter is made of conditions, not of a filter")
        self.given: dict[str, Any] = dict(conditions)
        """The arguments that it was made of."""
        self.wanted: Wanted = _read(self.given)
        """What the engine understands."""

    def __repr__(self) -> str:
        return f"Filter({', '.join(f'{name}={value!r}' for name, value in self.given.items())})"


_EMPTY = tuple(name for name, each in CONDITIONS.items() if each.kind == "names")
"""The arguments whose default is an empty tuple; that of the others is None."""
_ELSEWHERE = {
    **dict.fromkeys(("k", "n", "top_k", "topk", "n_results", "num_results", "size"), "limit"),
    **dict.fromkeys(("filters", "metadata"), "where"),
    **dict.fromkeys(("at", "as_of"), "as_recorded"),
}
FILTERS = ArgumentGroup(Filters, dict.fromkeys(_EMPTY, ()), _ELSEWHERE, whole="filter")


def read_filter(called: str, given: Filters) -> Wanted:
    """Return the filter of a call. Raises `InputError`, and `TypeError` for an unknown argument.

    called: the method's name, for that.

    >>> read_filter("list", {"tags": ["work"]}).tags
    ('work',)
    """
    if not given:
        return EVERYTHING
    FILTERS.refuse_unknown(called, given)
    if "filter" in given:
        return _whole(given).wanted
    return _read(given)


def expanded(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call with the conditions of ``filter`` in its place."""
    rest = {name: value for name, value in options.items() if name != "filter"}
    return rest | _whole(options).given


def _whole(given: Mapping[str, Any]) -> Filter:
    """Return the argument ``filter`` of a call. Raises `InputError` beside other conditions."""
    whole = given["filter"]
    if not isinstance(whole, Filter):
        raise InputError(
            f"filter must be a recollex.Filter, got {type(whole).__name__}: conditions on metadata "
            "are where={...}"
        )
    if not CONDITIONS.keys().isdisjoint(given):
        raise InputError("filter holds all conditions: give it or the conditions, not both")
    return whole


def _read(given: Mapping[str, Any]) -> Wanted:
    """Return the conditions that were given, each read as its kind is."""
    return Wanted(
        **{
            name: _READERS[CONDITIONS[name].kind](value, name)
            for name, value in given.items()
            if value is not None
        }
    )


def _several(value: Any, name: str) -> tuple[str, ...]:
    """Return a name or several as a tuple."""
    if not isinstance(value, str) and not as_list(value, name, "a str or a list of str"):
        raise InputError(f"{name} is empty: leave it out for all of them")
    return one_or_more(value, name)


_READERS: Mapping[ConditionKind, Callable[[Any, str], Any]] = {
    "names": as_names,
    "one_of": _several,
    "network": lambda value, name: tuple(map(network_number, _several(value, name))),
    "role": lambda value, name: tuple(map(role_number, _several(value, name))),
    "trust": trust_number,
    "time": to_micros,
    "metadata": lambda value, _: read_where(as_dict(value)),
}

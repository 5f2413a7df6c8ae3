"""The conditions on facts that `find`, `count` and `value_counts` take as keyword arguments."""

from collections.abc import Sequence
from typing import Any, TypedDict, cast

from recollex.api import valid_times
from recollex.api.argument_groups import ArgumentGroup
from recollex.api.arguments import checked_id, one_or_more
from recollex.api.valid_times import GivenInterval
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
from recollex_engine.errors import InputError, UnknownIdError
from recollex_engine.facts.fact_selection import FactConditions
from recollex_engine.facts.fact_view import FactView


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


_ELSEWHERE = dict.fromkeys(("k", "n", "top_k", "size"), "limit") | {
    "order": "order_by",
    "ordering": "order_by",
    "reverse": "descending",
    "start_time": "start",
    "end_time": "end",
    "at": "as_world",
}
FACT_FILTERS = ArgumentGroup(FactFilters, elsewhere=_ELSEWHERE)


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

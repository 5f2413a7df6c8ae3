"""Which conditions on memories does a filter of LangGraph's `BaseStore` mean?

A filter maps fields of a value to values, or to dicts of `$eq`, `$ne`, `$gt`, `$gte`, `$lt` and
`$lte`. What `where` can say is asked of the agent. The rest, dicts and lists that hold dicts, which
LangGraph compares part by part, is asked of each value.
"""

import operator
from collections.abc import Callable, Mapping
from typing import Any

from recollex.frameworks.nearest import Rest
from recollex_engine.errors import InputError

_ORDER = {"$gt": "gt", "$gte": "ge", "$lt": "lt", "$lte": "le"}
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
_OPERATORS = ("$eq", "$ne", *_ORDER)


def read_filter(asked: Mapping[str, Any] | None) -> tuple[dict[str, Any] | None, Rest | None]:
    """Return the conditions of ``where``, and the rest; each is None if there is nothing.

    A field that no value ever had is no error: it is as if it were None.

    >>> read_filter({"kind": "mail", "n": {"$gt": 2}})[0]
    {'kind': {'eq': 'mail', 'exists': True}, 'n': {'gt': 2, 'exists': True}}
    """
    where: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for name, wanted in (asked or {}).items():
        conditions = _conditions(wanted)
        if conditions is None:
            rest[name] = wanted
        elif conditions:
            where[name] = conditions

    def holds(value: Mapping[str, Any]) -> bool:
        return all(_matches(value.get(name), wanted) for name, wanted in rest.items())

    return where or None, holds if rest else None


def _operators(wanted: Any) -> Mapping[str, Any] | None:
    """Return the operators of a condition; None for a value that is compared part by part."""
    if isinstance(wanted, dict) and any(str(each).startswith("$") for each in wanted):
        for each in wanted:
            if each not in _OPERATORS:
                raise InputError(f"filter has no operator {each!r}: {', '.join(_OPERATORS)}")
        return wanted
    return None


def _conditions(wanted: Any) -> dict[str, Any] | None:
    """Return what of ``where`` is one condition of a filter; None if nothing is."""
    operators = _operators(wanted)
    if operators is None:
        if isinstance(wanted, dict) or (
            isinstance(wanted, list | tuple)
            and any(isinstance(each, dict | list | tuple) for each in wanted)
        ):
            return None
        operators = {"$eq": wanted}
    if len(operators) > 1 and (
        "$ne" in operators or any(operators[each] is None for each in operators)
    ):
        return None  # `where` takes one `not` a name
    found: dict[str, Any] = {}
    for each, operand in operators.items():
        if each in _ORDER:
            found |= {_ORDER[each]: operand, "exists": True}
        elif operand is None:  # LangGraph takes a field that is missing for None
            has_other = {"exists": True, "not": {"eq": None}}
            found |= {"not": has_other} if each == "$eq" else has_other
        elif each == "$eq":
            found |= {"eq": operand, "exists": True}
        else:
            found |= {"not": {"eq": operand, "exists": True}}
    return found


def _matches(value: Any, wanted: Any) -> bool:
    """Compare as LangGraph's own stores do, in Python."""
    operators = _operators(wanted)
    if operators is not None:
        return all(_holds(value, each, operand) for each, operand in operators.items())
    if isinstance(wanted, dict):
        return isinstance(value, dict) and all(
            _matches(value.get(name), each) for name, each in wanted.items()
        )
    if isinstance(wanted, list | tuple):
        return (
            isinstance(value, list)
            and len(value) == len(wanted)
            and all(map(_matches, value, wanted))
        )
    return bool(value == wanted)


def _holds(value: Any, asked: str, operand: Any) -> bool:
    if asked in ("$eq", "$ne"):
        return bool(value == operand) is (asked == "$eq")
    kinds = [str if isinstance(each, str) else float for each in (value, operand)]
    if value is None or kinds[0] is not kinds[1]:
        return False
    return _COMPARE[asked](value, operand)

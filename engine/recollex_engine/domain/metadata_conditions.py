"""What may a filter ask of metadata? The operators of ``where``, read and checked.

``where`` maps names of metadata to conditions; a memory must meet all of them. A condition is a
JSON value, which must be equal, or a dict of operators, which must all hold::

    {"kind": "mail", "n": {"gt": 2, "le": 5}, "tags": {"contains": "x"}, "draft": {"not": True}}

`eq` and `in` (a list) compare JSON values; 2 and 2.0 are equal, 1 and True are not. `gt`, `ge`,
`lt` and `le` compare numbers with numbers and texts with texts; other values do not meet them.
`contains` asks for an item of a list. `exists` is True or False. `ne` and `not` are met wherever
`eq`, or the operators in `not`, are not: also by memories without the name.
"""

import difflib
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from recollex_engine.domain.checks import MAX_NAMES, check_metadata
from recollex_engine.errors import InputError

_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "gt": operator.gt,
    "ge": operator.ge,
    "lt": operator.lt,
    "le": operator.le,
}
OPERATORS = ("eq", "ne", *_ORDER, "in", "not", "contains", "exists")
_INTEGERS = 2.0**53
"""Below it, a float that is whole is written as an integer too."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One operator on one name. wanted: its operand; of "not" and "ne" a tuple of conditions.

    >>> [condition] = read_where({"n": {"gt": 2}})
    >>> condition.holds(3), condition.holds(2), condition.holds("3")
    (True, False, False)
    """

    name: str
    operator: str
    wanted: Any

    @property
    def is_negated(self) -> bool:
        """Whether it holds where conditions do not: then those are ``wanted``."""
        return self.operator == "not"

    @property
    def equals(self) -> list[bytes] | None:
        """The JSON texts of the values that meet it; None if it compares in another way."""
        if self.operator == "in":
            return [spelling for value in self.wanted for spelling in _spellings(value)]
        return _spellings(self.wanted) if self.operator == "eq" else None

    def holds(self, value: Any) -> bool:
        """Return whether a value that a memory has meets it; for "not" see `is_negated`."""
        kind = self.operator
        wanted = self.wanted
        if kind == "exists":
            return True
        if kind == "contains":
            return isinstance(value, list) and any(_equal(each, wanted) for each in value)
        if kind in _ORDER:
            return _comparable(value, wanted) and _ORDER[kind](value, wanted)
        return any(_equal(value, each) for each in (wanted if kind == "in" else (wanted,)))


Where = tuple[Condition, ...]


def read_where(where: object) -> Where:
    """Return the conditions of ``where``. Raises `InputError` for one that is not understood.

    >>> read_where({"n": {"$gt": 2}})
    Traceback (most recent call last):
    recollex_engine.errors.InputError: where['n'] has no operator '$gt', did you mean 'gt'? There \
are eq, ne, gt, ge, lt, le, in, not, contains, exists; {"eq": {...}} compares with a dict
    """
    check_metadata(where, "where")
    assert isinstance(where, dict)
    return tuple(
        condition
        for name, wanted in where.items()
        for condition in _conditions(name, wanted, f"where[{name!r}]")
    )


def _conditions(name: str, wanted: Any, place: str) -> Where:
    if not isinstance(wanted, dict):
        return (Condition(name, "eq", wanted),)
    if not wanted:
        raise InputError(f'{place} has no operator: {{"eq": {{}}}} compares with an empty dict')
    return tuple(_condition(name, kind, operand, place) for kind, operand in wanted.items())


def _condition(name: str, kind: str, operand: Any, place: str) -> Condition:
    if kind not in OPERATORS:
        near = difflib.get_close_matches(kind.lstrip("$"), OPERATORS, 1)
        hint = f", did you mean {near[0]!r}?" if near else "."
        raise InputError(
            f"{place} has no operator {kind!r}{hint} There are {', '.join(OPERATORS)}; "
            '{"eq": {...}} compares with a dict'
        )
    if kind == "ne":
        return Condition(name, "not", (Condition(name, "eq", operand),))
    if kind == "not":
        return Condition(name, "not", _conditions(name, operand, f"{place}['not']"))
    if kind == "exists" and not isinstance(operand, bool):
        raise InputError(f"{place}['exists'] must be True or False, got {operand!r:.80}")
    if kind == "exists" and not operand:
        return Condition(name, "not", (Condition(name, "exists", True),))
    if kind == "in" and not (isinstance(operand, list | tuple) and 0 < len(operand) <= MAX_NAMES):
        raise InputError(
            f"{place}['in'] must be a list of 1 to {MAX_NAMES} values, got {operand!r:.80}"
        )
    if kind in _ORDER and (isinstance(operand, bool) or not isinstance(operand, int | float | str)):
        raise InputError(f"{place}[{kind!r}] must be a number or a str, got {operand!r:.80}")
    return Condition(name, kind, operand)


def _comparable(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return False
    return all(isinstance(each, int | float) for each in (one, other)) or (
        isinstance(one, str) and isinstance(other, str)
    )


def _equal(one: Any, other: Any) -> bool:
    return _spelled(one) == _spelled(other)


def _spelled(value: Any) -> bytes:
    """Return one JSON text for values that are equal: that of an integer for a whole float."""
    return _spellings(value)[0]


def _spellings(value: Any) -> list[bytes]:
    """Return the JSON texts, as labels have them, of values that are equal to ``value``."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and abs(value) < _INTEGERS and float(value).is_integer():
        whole = int(value)
        spelled = [orjson.dumps(whole), orjson.dumps(float(whole))]
        return spelled if whole else [*spelled, orjson.dumps(-0.0)]
    return [orjson.dumps(value, option=orjson.OPT_SORT_KEYS)]

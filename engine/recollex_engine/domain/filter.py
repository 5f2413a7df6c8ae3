"""Which memories are meant? One filter for recalls, lists, counts, forgetting, erasing, exports.

What may a filter ask of metadata? The operators of ``where``, read and checked.
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
from dataclasses import dataclass, field, fields
from typing import Any

import orjson

from recollex_engine.clock import OPEN_END, from_micros
from recollex_engine.domain.checks import MAX_NAMES, check_metadata, check_names
from recollex_engine.domain.trust import stamp
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Conditions on memories; a memory must meet all of them.

    tags, entities: it has all of them. any_tags: it has one of them; no_tags: it has none of them.
    document_id, source, speakers: it is of one of them; no case matters in a speaker's name.
    talk: it is of none of these documents, which the asker has in view.
    network, roles: numbers of networks and of speakers' roles, one of them; none for all. trust:
    the number of the least level of trust; 0 for all memories. since, until: its event's time
    overlaps [since, until). recorded_since, recorded_until: it was recorded in that interval.
    ends_after: its `valid_until` is later than this, or it has none; ends_by: its `valid_until` is
    not later. as_world: its event had begun by this time of the world, and its validity had not
    ended. where: conditions on its metadata. Times are microseconds UTC, None for any.

    >>> bool(Filter()), bool(Filter(tags=("work",)))
    (False, True)
    """

    tags: tuple[str, ...] = ()
    any_tags: tuple[str, ...] = ()
    no_tags: tuple[str, ...] = ()
    document_id: tuple[str, ...] = ()
    talk: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    speakers: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    network: tuple[int, ...] = ()
    roles: tuple[int, ...] = ()
    trust: int = 0
    since: int | None = None
    until: int | None = None
    recorded_since: int | None = None
    recorded_until: int | None = None
    ends_after: int | None = None
    ends_by: int | None = None
    as_world: int | None = None
    where: Where = ()
    narrows: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("tags", "any_tags", "no_tags", "document_id", "talk", "speakers", "entities"):
            check_names(getattr(self, name), name)
        for source in self.source:
            stamp("" if source is None else source)
        for prefix in ("", "recorded_"):
            start = getattr(self, f"{prefix}since")
            end = getattr(self, f"{prefix}until")
            if start is not None and end is not None and start >= end:
                raise InputError(
                    f"{prefix}since must be earlier than {prefix}until, got {prefix}since "
                    f"{from_micros(start)} and {prefix}until {from_micros(end)}: swap them"
                )
        given = (getattr(self, each.name) != each.default for each in fields(self) if each.init)
        object.__setattr__(self, "narrows", any(given))

    def __bool__(self) -> bool:
        return self.narrows

    def check_removal(self) -> None:
        """Raise `InputError` for ``talk``: it leaves a talk out, and all others would go."""
        if self.talk:
            raise InputError(
                f"talk leaves {self.talk[0]!r} out, and everything else would go: name what goes, "
                f"such as document_id={self.talk[0]!r}"
            )


def bounds(start: int | None, end: int | None) -> tuple[int, int] | None:
    """Return an interval with numbers for its open ends; None if both are open.

    >>> bounds(None, None), bounds(0, None) == (0, OPEN_END)
    (None, True)
    """
    if start is None and end is None:
        return None
    return -OPEN_END if start is None else start, OPEN_END if end is None else end


EVERYTHING = Filter()
"""The filter that every memory passes."""

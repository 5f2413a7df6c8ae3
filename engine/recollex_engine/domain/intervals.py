"""How are two intervals of time related? Allen's thirteen relations, and bounds on both ends.

Allen, "Maintaining knowledge about temporal intervals" (CACM 26(11), 1983), figure 2. Intervals are
half-open [start, end) with start < end, in int64 microseconds. An open end is `OPEN_END`, an open
start is `OPEN_START`; two open ends are equal.

What does "starts before 1952" ask of a fact? The operators on the start and the end of a fact.
A condition is a time, which must be equal, or a dict of operators, which must all hold::

    start={"ge": "2024"}, end={"lt": "2024-06-15"}, start="2002-02", end={"exists": False}

A time is a year, a month, a week or a day in ISO 8601 ("2024", "2024-05", "2024-W18",
"2024-05-04"), which is a period of the calendar in UTC, or a moment: a datetime, or text with a
time of day and a zone. An operator compares the start of the valid time, or its end, with the whole
period. Let the period be 1952, from its first moment to its last::

               a fact's start        a fact's end
    lt 1952    before 1952           before 1952
    le 1952    in 1952 or before     in 1952 or before
    eq 1952    in 1952               in 1952
    ge 1952    in 1952 or later      in 1952 or later
    gt 1952    after 1952            after 1952

A valid time is half-open, so its end "is in 1952" if the last moment in which the fact was true is:
1950 to 1952 is [1950-01-01, 1953-01-01), and ends in 1952. A moment is compared with start and end
as they are: a fact that ends at noon is not true at noon, and ``{"eq": noon}`` finds it.

A start that is open is before every time, and an open end after every time. ``exists`` asks whether
a start or an end is recorded at all.
"""

import difflib
import re
from calendar import isleap, monthrange
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

from recollex_engine.clock import DAY, OPEN_END, Moment, from_micros, to_micros
from recollex_engine.errors import InputError

OPEN_START = -OPEN_END
"""Stands for the start of an interval that has no start."""

Span = tuple[int, int]
Moments = tuple[datetime | None, datetime | None]
"""An interval as datetimes; None for an open start or end."""

_SIGNS: dict[tuple[int, int, int, int], str] = {
    # signs of: start - a, start - b, end - a, end - b
    (-1, -1, -1, -1): "before",
    (-1, -1, 0, -1): "meets",
    (-1, -1, 1, -1): "overlaps",
    (-1, -1, 1, 0): "finished_by",
    (-1, -1, 1, 1): "contains",
    (0, -1, 1, -1): "starts",
    (0, -1, 1, 0): "equals",
    (0, -1, 1, 1): "started_by",
    (1, -1, 1, -1): "during",
    (1, -1, 1, 0): "finishes",
    (1, -1, 1, 1): "overlapped_by",
    (1, 0, 1, 1): "met_by",
    (1, 1, 1, 1): "after",
}
RELATIONS = tuple(_SIGNS.values())
"""The names of the relations of one interval to another, [a, b)."""
_SIGNS_OF = {name: signs for signs, name in _SIGNS.items()}
_COMPARED = {-1: "lt", 0: "eq", 1: "gt"}


def relation(one: Span, other: Span) -> str:
    """Return the one relation of ``one`` to ``other``.

    >>> relation((1, 3), (3, 9)), relation((4, 5), (3, 9))
    ('meets', 'during')
    """
    (start, end), (a, b) = one, other
    return _SIGNS[_sign(start, a), _sign(start, b), _sign(end, a), _sign(end, b)]


@dataclass(frozen=True, slots=True)
class Box:
    """The intervals whose start and whose end lie within bounds, both bounds included."""

    start: Span = (OPEN_START, OPEN_END)
    end: Span = (OPEN_START, OPEN_END)

    def __and__(self, other: "Box") -> "Box":
        """Return the intervals of both boxes.

        >>> Box(start=(1, 5)) & Box(start=(3, 9), end=(0, 7))
        Box(start=(3, 5), end=(0, 7))
        """
        return Box(
            (max(self.start[0], other.start[0]), min(self.start[1], other.start[1])),
            (max(self.end[0], other.end[0]), min(self.end[1], other.end[1])),
        )

    @property
    def is_empty(self) -> bool:
        """Whether no interval lies in it."""
        return self.start[0] > self.start[1] or self.end[0] > self.end[1]

    def holds(self, start: int, end: int) -> bool:
        """Return whether [start, end) lies in it."""
        return self.start[0] <= start <= self.start[1] and self.end[0] <= end <= self.end[1]


EVERY = Box()
"""The box of all intervals."""


def bounds(operator: str, first: int, last: int) -> Span:
    """Return the bounds of a value that is lt, le, eq, ge or gt [first, last], bounds included.

    >>> bounds("eq", 3, 5), bounds("lt", 3, 5)[1], bounds("gt", 3, 5)[0]
    ((3, 5), 2, 6)
    """
    return {
        "lt": (OPEN_START, first - 1),
        "le": (OPEN_START, last),
        "eq": (first, last),
        "ge": (first, OPEN_END),
        "gt": (last + 1, OPEN_END),
    }[operator]


def related(name: str, to: Span) -> Box:
    """Return the intervals that have the relation ``name`` to the interval ``to``.

    Raises `InputError` for a name that is not in `RELATIONS`.

    >>> related("before", (3, 4)).holds(1, 2), related("before", (3, 4)).holds(5, 9)
    (True, False)
    """
    if name not in _SIGNS_OF:
        raise InputError(f"relation must be one of {', '.join(RELATIONS)}, got {name!r}")
    start = EVERY
    end = EVERY
    for bound, sign in zip(to, _SIGNS_OF[name][:2], strict=True):
        start &= Box(start=bounds(_COMPARED[sign], bound, bound))
    for bound, sign in zip(to, _SIGNS_OF[name][2:], strict=True):
        end &= Box(end=bounds(_COMPARED[sign], bound, bound))
    return start & end


def overlapping(other: Span) -> Box:
    """Return the intervals that share a moment with ``other``.

    >>> overlapping((3, 6)).holds(1, 3), overlapping((3, 6)).holds(5, 9)
    (False, True)
    """
    return Box(bounds("lt", other[1], other[1]), bounds("gt", other[0], other[0]))


def within(other: Span) -> Box:
    """Return the intervals that lie within ``other`` or equal it.

    >>> within((1, 6)).holds(1, 3), within((1, 6)).holds(5, 9)
    (True, False)
    """
    return Box(bounds("ge", other[0], other[0]), bounds("le", other[1], other[1]))


def check_interval(start: int | None, end: int | None, name: str) -> Span:
    """Return the interval, with `OPEN_START` and `OPEN_END` in place of None.

    Raises `InputError` if the end is not after the start.
    """
    first = OPEN_START if start is None else start
    last = OPEN_END if end is None else end
    if last <= first:
        raise InputError(
            f"{name} must end after it starts, got start {from_micros(first).isoformat()} and end "
            f"{from_micros(last).isoformat()}: an instant ends a microsecond after its start"
        )
    return first, last


def to_moments(start: int, end: int) -> Moments:
    """Return an interval as datetimes; None for an open start or end."""
    return (
        None if start == OPEN_START else from_micros(start),
        None if end == OPEN_END else from_micros(end),
    )


def _sign(one: int, other: int) -> int:
    return (one > other) - (one < other)


TimeCondition = Moment | Mapping[str, Moment | bool]
"""What the start or the end of a fact must be: a time, or a dict of operators."""
OPERATORS = ("lt", "le", "eq", "ge", "gt", "exists")

PRECISIONS = {4: "year", 7: "month", 8: "week", 10: "day"}
"""The precision of a written period of `read_period`, by its length."""

_PERIOD = re.compile(r"(\d{4})(?:-(\d\d))?|(\d{4})-W(\d\d)|(\d{4})-(\d\d)-(\d\d)", re.ASCII)
_EPOCH = date(1970, 1, 1).toordinal()


def read_start(given: object, name: str = "start") -> Span:
    """Return the least and the greatest start that meet a condition. Raises `InputError`.

    >>> read_start({"ge": "1970-01-02", "lt": "1970-01-03"})
    (86400000000, 172799999999)
    """
    return _read(given, name, is_end=False)


def read_end(given: object, name: str = "end") -> Span:
    """Return the least and the greatest end that meet a condition. Raises `InputError`.

    >>> read_end({"ge": "1970-01-02", "lt": "1970-01-03"})
    (86400000001, 172800000000)
    """
    return _read(given, name, is_end=True)


def read_period(given: object, name: str) -> tuple[int, int] | None:
    """Return [start, end) in microseconds of a period of the calendar; None for a moment.

    Raises `InputError` for a text that has the form of a period but is none, such as "2024-13".

    >>> read_period("1970-01", "start"), read_period("1970-01-02T03:00Z", "start")
    ((0, 2678400000000), None)
    """
    matched = _PERIOD.fullmatch(given) if isinstance(given, str) else None
    if matched is None:
        return None
    year, month, week_year, week, *day = matched.groups()
    try:
        if week is not None:
            first = date.fromisocalendar(int(week_year), int(week), 1)
            days = 7
        elif day[0] is not None:
            first = date(*map(int, day))
            days = 1
        elif month is not None:
            first = date(int(year), int(month), 1)
            days = monthrange(int(year), int(month))[1]
        else:
            first = date(int(year), 1, 1)
            days = 365 + isleap(int(year))
    except ValueError:
        raise InputError(f"{name} is not a time of the calendar: {given!r}") from None
    start = (first.toordinal() - _EPOCH) * DAY
    return start, start + days * DAY


def _read(given: object, name: str, is_end: bool) -> Span:
    if not isinstance(given, Mapping):
        return _compared("eq", given, name, is_end)
    if not given:
        raise InputError(f'{name} has no operator: {{"ge": "2024"}} has one')
    least = OPEN_START
    greatest = OPEN_END
    for operator, operand in given.items():
        found = _compared(operator, operand, f"{name}[{operator!r}]", is_end)
        least = max(least, found[0])
        greatest = min(greatest, found[1])
    return least, greatest


def _compared(operator: object, operand: object, name: str, is_end: bool) -> Span:
    if operator not in OPERATORS:
        near = difflib.get_close_matches(str(operator).lstrip("$"), OPERATORS, 1)
        hint = f", did you mean {near[0]!r}?" if near else "."
        raise InputError(
            f"{name.partition('[')[0]} has no operator {operator!r:.80}{hint} "
            f"There are {', '.join(OPERATORS)}"
        )
    if operator == "exists":
        if not isinstance(operand, bool):
            raise InputError(f"{name} must be True or False, got {operand!r:.80}")
        unknown = OPEN_END if is_end else OPEN_START
        if not operand:
            return unknown, unknown
        return (OPEN_START, OPEN_END - 1) if is_end else (OPEN_START + 1, OPEN_END)
    period = read_period(operand, name)
    if period is None:
        moment = to_micros(operand, name)  # type: ignore[arg-type]  # which refuses other types
        return bounds(str(operator), moment, moment)
    return compared(str(operator), period, is_end)


def compared(operator: str, period: Span, is_end: bool) -> Span:
    """Return the least and the greatest start, or end, that an operator admits; see above.

    operator: one of `OPERATORS` without ``exists``. period: [start, end) in microseconds.

    >>> compared("lt", (10, 20), False), compared("le", (10, 20), True)
    ((-9223372036854775807, 9), (-9223372036854775807, 20))
    """
    first, end = period
    return bounds(operator, first + is_end, end - 1 + is_end)

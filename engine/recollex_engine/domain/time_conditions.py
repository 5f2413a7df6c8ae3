"""What does "starts before 1952" ask of a fact? The operators on the start and the end of a fact.

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
from datetime import date

from recollex_engine.clock import DAY, OPEN_END, Moment, to_micros
from recollex_engine.domain.intervals import OPEN_START, Span, bounds
from recollex_engine.errors import InputError

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

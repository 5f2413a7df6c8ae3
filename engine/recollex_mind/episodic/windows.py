"""Which time does a tool ask for? start_time and end_time with their operators (REMem, Table 1).

The operators mean what the table of `domain.intervals` says, at the precision of the time
that is given: ``start_time="1952", start_operator="lt"`` is what began before 1952. By default a
thing must begin in ``start_time`` or later, and end in ``end_time`` or before, as in REMem. A
language model writes times in many ways, so "15 January 2020" and "last May" are read as well.
"""

from collections.abc import Callable
from datetime import UTC, datetime

from recollex_engine.clock import to_micros
from recollex_engine.dates.locales import DAY_FIRST, puts_month_first
from recollex_engine.dates.time_range import find_range
from recollex_engine.domain.checks import MAX_NAME, check_text
from recollex_engine.domain.intervals import (
    EVERY,
    OPERATORS,
    Box,
    Span,
    bounds,
    compared,
    read_period,
)
from recollex_engine.errors import InputError

COMPARISONS = tuple(operator for operator in OPERATORS if operator != "exists")
"""The operators on a start and an end."""
START_OPERATOR = "ge"
END_OPERATOR = "le"
"""The operators that hold where none is given (REMem, Figure 8)."""


def read_window(
    start_time: object,
    end_time: object,
    start_operator: object = START_OPERATOR,
    end_operator: object = END_OPERATOR,
    *,
    now: int = 0,
    locale: Callable[[], str] = lambda: DAY_FIRST,
) -> Box:
    """Return the bounds of start and end; None, or an empty text, for a time is no condition.

    now: "last May" is relative to it, in microseconds. locale: tells whether 5/7/2023 is 7 May.
    Raises `InputError`.

    >>> read_window("1952", None, "lt").holds(-1000000000000000, 0)
    True
    >>> read_window("1952", "1955-12-31") == read_window("in 1952", "31 December 1955")
    True
    """
    box = EVERY
    for name, given, operator, is_end in (
        ("start", start_time, start_operator, False),
        ("end", end_time, end_operator, True),
    ):
        if operator not in COMPARISONS:
            raise InputError(
                f"{name}_operator must be one of {', '.join(COMPARISONS)}, got {operator!r:.80}"
            )
        if given is None or given == "":
            continue
        admitted = _read(given, f"{name}_time", str(operator), is_end, now, locale)
        box &= Box(end=admitted) if is_end else Box(start=admitted)
    return box


def _read(
    given: object, name: str, operator: str, is_end: bool, now: int, locale: Callable[[], str]
) -> Span:
    if isinstance(given, datetime):
        moment = to_micros(given, name)
        return bounds(operator, moment, moment)
    if isinstance(given, int) and not isinstance(given, bool) and 0 < given < 10_000:
        given = f"{given:04d}"  # a year
    if not isinstance(given, str):
        raise InputError(f"{name} must be a time such as '2024' or '2024-05-04', got {given!r:.80}")
    check_text(given, name, MAX_NAME)
    words = given.strip()
    if (period := read_period(words, name)) is not None:
        return compared(operator, period, is_end)
    try:
        read = datetime.fromisoformat(words)
    except ValueError:
        found = find_range(words, now, UTC, puts_month_first(locale()))
        if found is None:
            raise InputError(
                f"{name} names no time: {words[:80]!r}. Write 2024, 2024-05, 2024-05-04 or "
                "2024-05-04T09:30Z"
            ) from None
        return compared(operator, (found.start, found.end), is_end)
    moment = to_micros(read if read.tzinfo else read.replace(tzinfo=UTC), name)
    return bounds(operator, moment, moment)

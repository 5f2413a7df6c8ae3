"""Intervals as callers give them: two times, or words that are parsed as a time."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any

from recollex_engine.clock import Moment, to_micros
from recollex_engine.dates.locales import DAY_FIRST, puts_month_first
from recollex_engine.dates.time_range import find_range
from recollex_engine.domain.intervals import PRECISIONS, read_period
from recollex_engine.domain.qualifiers import precision_note
from recollex_engine.errors import InputError

_ROUGHLY = re.compile(r"\b(?:around|about|circa|c\.|ca\.|roughly|approximately)\s+", re.IGNORECASE)
_FIRST = to_micros(datetime(1, 1, 2, tzinfo=UTC), "the first day")
"""A range that begins by then, such as that of "until 2010", has no start."""

_Bound = tuple[int | None, str | None]
"""Microseconds, None for an open end; the precision of a period, None for a moment."""
GivenInterval = Sequence[Moment | None] | str
"""(start, end) as datetimes or in ISO 8601, None for an open end; or words: "from 1811 to 1827".

A year, month, week or day in ISO 8601 is a period: ("2001", "2003-05") lasts from the beginning of
2001 to the end of May 2003.
"""


def interval(value: object, name: str) -> tuple[int | None, int | None]:
    """Return (start, end) of two times in microseconds; None for an open end.

    >>> interval((None, datetime(1970, 1, 2, tzinfo=UTC)), "valid")
    (None, 86400000000)
    >>> interval(("1970-01-02", "1970-01-02"), "valid")
    (86400000000, 172800000000)
    """
    (start, _), (end, _) = _bounds(value, name)
    return start, end


def _bounds(value: object, name: str) -> tuple[_Bound, _Bound]:
    pair = value if type(value) is tuple else ()  # an abstract class costs 1 us to ask
    if not pair and isinstance(value, Sequence) and not isinstance(value, str):
        pair = tuple(value)
    if len(pair) != 2:
        raise InputError(
            f"{name} must be (start, end), two times or None for an open end, got {value!r}"
        )
    return _bound(pair[0], f"{name} start", 0), _bound(pair[1], f"{name} end", 1)


def _bound(moment: Any, name: str, side: int) -> _Bound:
    """Return a bound: of a period its beginning (side 0) or its end (1), and its precision."""
    if moment is None:
        return None, None
    period = read_period(moment, name) if type(moment) is str else None
    if period is None:
        return to_micros(moment, name), None
    return period[side], PRECISIONS[len(moment)]


def span(value: object, name: str) -> tuple[int, int]:
    """Return (start, end) in microseconds of an interval without an open end."""
    start, end = interval(value, name)
    if start is None or end is None or end <= start:
        raise InputError(f"{name} must be (start, end) with start before end, got {value!r}")
    return start, end


def read(
    value: Any,
    name: str,
    now: Callable[[], int],
    zone: tzinfo = UTC,
    locale: Callable[[], str] = lambda: DAY_FIRST,
) -> tuple[int | None, int | None, str | None]:
    """Return (start, end, uncertainty) of an interval, or of words that are relative to ``now``.

    locale: returns the agent's locale, which tells whether 5/7/2023 is 7 May; this and ``now`` are
    asked for words only.
    uncertainty: None for datetimes. A year, month, week or day in ISO 8601 ("2002-02") is a period,
    and known to that precision, also in a pair. For words it is a tag, "parsed" or "approximate",
    and the words themselves, since their meaning is an interpretation. "since 2010" has an open
    end, "until 2010" an open start.

    >>> read("from 1811 to 1827", "valid", lambda: 0)
    (-5017593600000000, -4481136000000000, 'parsed: from 1811 to 1827')
    >>> read("2002-02", "valid", lambda: 0)
    (1012521600000000, 1014940800000000, 'to the month')
    >>> read(("2002-02", "2003"), "valid", lambda: 0)[2]
    'start to the month, end to the year'
    >>> read("around 1811", "valid", lambda: 0)[2]
    'approximate: around 1811'
    """
    if value is None:
        return None, None, None
    if isinstance(value, str) and (period := read_period(value.strip(), name)) is not None:
        return *period, f"to the {PRECISIONS[len(value.strip())]}"
    if isinstance(value, str):
        words, roughly = _ROUGHLY.subn("in ", value)
        asked = now()
        found = find_range(words, asked, zone, puts_month_first(locale()))
        if found is None:
            raise InputError(
                f"{name} names no time that can be read: {value!r}; give (start, end) as datetimes"
            )
        tag = "approximate" if roughly else "parsed"
        start = None if found.start <= _FIRST else found.start
        return start, None if found.end == asked else found.end, f"{tag}: {value}"
    (start, first), (end, last) = _bounds(value, name)
    return start, end, precision_note(first, last)

"""How is the valid time of a fact written? As REMem's qualifiers, at the precision it was given.

::

    [2002-02-01, 2002-03-01)                          point_in_time 2002-02
    [2001-01-01, 2003-06-01), "start to the year"     start_time 2001, end_time 2003-05-31
    [2004-05-04T09:30, open)                          start_time 2004-05-04T09:30:00Z

REMem 3.1 attaches point_in_time, or start_time and end_time, to a triple. A fact here has a
half-open interval and perhaps a note on its uncertainty, such as "to the month". An interval that
is a whole year, month or day of the calendar is a point in time of that precision; the last day of
an interval is written as its end. What lies beyond the calendar is written as its first or last
moment: "until the beginning of the year 1" as end_time 0001-01-01.

How precisely was a time said? A note on a fact's uncertainty tells it: "parsed: in May 2022".
A note is "to the month", "start to the year, end to the month", or the words that were parsed.
"""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Literal, cast

from recollex_engine.clock import MICROSECOND
from recollex_engine.dates.english_words import MONTHS, SHORT_MONTHS

Unit = Literal["year", "month", "week", "day", "moment"]

_PRECISION = re.compile(r"(?:(start|end) )?to the (year|month|day)")
_DIVIDED = re.compile(r"\b(?:to|until|till|through|and)\b|[\u2013\u2014]|\s-\s|/", re.I)
_DAY_NUMBER = re.compile(r"\b\d{1,2}(?:st|nd|rd|th)?\b")
_MONTH = re.compile(rf"\b(?:{'|'.join([*MONTHS, *SHORT_MONTHS])})\b", re.I)
_ISO = re.compile(r"\b\d{4}(-\d\d)?(-\d\d)?\b")
_CLOCK = re.compile(r"\d:\d\d|\d ?[ap]m\b", re.I)


@lru_cache(maxsize=4096)
def said_units(uncertainty: str | None) -> tuple[Unit, Unit]:
    """Return how precise the start and the end of a valid time are, by the words that gave it.

    >>> said_units("parsed: from May 1983 to 1986"), said_units(None)
    (('month', 'year'), ('moment', 'moment'))
    >>> said_units("start to the day, end to the year"), said_units("to the month")
    (('day', 'year'), ('month', 'month'))
    """
    units = cast(dict[str, Unit], dict(_PRECISION.findall(uncertainty or "")))
    if units and ": " not in (uncertainty or ""):
        both: Unit = units.get("", "moment")
        return units.get("start", both), units.get("end", both)
    tag, _, words = (uncertainty or "").partition(": ")
    if tag not in ("parsed", "approximate") or not words:
        return "moment", "moment"
    pieces = _DIVIDED.split(words)
    named = [unit for piece in pieces if (unit := _unit(piece)) is not None]
    return (named[0], named[-1]) if named else ("moment", "moment")


def _unit(words: str) -> Unit | None:
    if _CLOCK.search(words):
        return "moment"
    if (iso := _ISO.search(words)) is not None and (iso[1] or not _MONTH.search(words)):
        return "day" if iso[2] else "month" if iso[1] else "year"
    if _MONTH.search(words):
        return "day" if _DAY_NUMBER.search(_ISO.sub("", words)) else "month"
    return None


POINT = "point_in_time"
START = "start_time"
END = "end_time"
RECORD = "record_time"

_INSTANT = timedelta(seconds=1)
_INSIDE = {"year": timedelta(days=182), "month": timedelta(days=14), "day": timedelta(hours=12)}
"""How far within a period its middle is: the date there is the same in every zone."""
_LONGEST = {"year": timedelta(366), "month": timedelta(31), "day": timedelta(1)}


def precision_note(start: str | None, end: str | None) -> str | None:
    """Return the note that states the precisions of a start and an end; None without one.

    >>> precision_note("day", "year"), precision_note(None, None)
    ('start to the day, end to the year', None)
    """
    if start is None and end is None:  # as a rule
        return None
    return ", ".join(
        f"{side} to the {said}" for side, said in (("start", start), ("end", end)) if said
    )


def qualifiers(
    start: datetime | None, end: datetime | None, uncertainty: str | None = None
) -> dict[str, str]:
    """Return the qualifiers of a valid time [start, end); None for an open end.

    >>> qualifiers(datetime(2002, 2, 1, tzinfo=UTC), datetime(2002, 3, 1, tzinfo=UTC))
    {'point_in_time': '2002-02'}
    >>> qualifiers(datetime(2001, 1, 1, tzinfo=UTC), None, "start to the year")
    {'start_time': '2001'}
    >>> qualifiers(None, datetime(2003, 6, 1, tzinfo=UTC))
    {'end_time': '2003-05-31'}
    >>> qualifiers(datetime(2019, 1, 1, tzinfo=UTC), None, "parsed: since 2019")
    {'start_time': '2019'}
    """
    in_words = ": " in (uncertainty or "")  # without words, another zone's month is a month too
    begins, ends = calendar_units(start, end, uncertainty) if in_words else said_units(uncertainty)
    if start is not None and end is not None:
        if end - start <= _INSTANT:
            return {POINT: _moment(start)}
        whole = begins if begins == ends != "moment" else whole_period(start, end)
        if whole is not None and end - start <= _LONGEST[whole]:
            return {POINT: _dated(start + (end - start) / 2, whole)}
    found = {}
    if start is not None:
        found[START] = (
            _plain(start, start)
            if begins == "moment"
            else _dated(_moved(start, _INSIDE[begins]), begins)
        )
    if end is not None:
        found[END] = (
            _plain(end, _moved(end, -MICROSECOND))
            if ends == "moment"
            else _dated(_moved(end, -_INSIDE[ends]), ends)
        )
    return found


def calendar_units(
    start: datetime | None, end: datetime | None, uncertainty: str | None
) -> tuple[Unit, Unit]:
    """Return how precisely a start and an end were said, in periods of the calendar in UTC.

    A bound between no two such periods is a moment: words that name a year may mean a part of it
    ("summer 2021"), and the month of another zone begins within one.

    >>> calendar_units(datetime(2021, 6, 1, tzinfo=UTC), None, "parsed: since summer 2021")
    ('moment', 'year')
    """
    begins, ends = said_units(uncertainty)
    return (
        begins if start is None or _opens(start, begins) else "moment",
        ends if end is None or _opens(end, ends) else "moment",
    )


def _opens(at: datetime, unit: str) -> bool:
    """Return whether a moment is the first one of a period of the calendar in UTC."""
    at = at.astimezone(UTC)
    is_first = {"month": at.day == 1, "year": (at.month, at.day) == (1, 1)}
    return not _has_time(at) and is_first.get(unit, True)


def whole_period(start: datetime, end: datetime) -> str | None:
    """Return the precision of a whole period of the calendar in UTC; None for another interval.

    >>> whole_period(datetime(2002, 2, 1, tzinfo=UTC), datetime(2002, 3, 1, tzinfo=UTC))
    'month'
    """
    first = start.astimezone(UTC)
    last = (end - MICROSECOND).astimezone(UTC)
    after = end.astimezone(UTC)
    if _has_time(first) or _has_time(after):
        return None
    if first.date() == last.date():
        return "day"
    if (first.year, first.month) == (last.year, last.month) and first.day == after.day == 1:
        return "month"
    january = (first.month, first.day) == (after.month, after.day) == (1, 1)
    return "year" if first.year == last.year and january else None


def _moved(at: datetime, by: timedelta) -> datetime:
    """Return ``at + by``, clamped to the range of datetime."""
    try:
        return at + by
    except OverflowError:
        return (datetime.max if by > timedelta(0) else datetime.min).replace(tzinfo=UTC)


def _plain(at: datetime, day: datetime) -> str:
    """Return a bound without a precision: ``day``'s date if it lies between two days."""
    return _moment(at) if _has_time(at.astimezone(UTC)) else _dated(day, "day")


def _dated(at: datetime, precision: str) -> str:
    written = at.astimezone(UTC)
    if precision == "year":
        return f"{written.year:04d}"
    if precision == "month":
        return f"{written.year:04d}-{written.month:02d}"
    return f"{written.year:04d}-{written.month:02d}-{written.day:02d}"


def _moment(at: datetime) -> str:
    written = at.astimezone(UTC)
    return written.isoformat(timespec="auto").replace("+00:00", "Z")


def _has_time(at: datetime) -> bool:
    return bool(at.hour or at.minute or at.second or at.microsecond)

"""How is the valid time of a fact written? As REMem's qualifiers, at the precision it was given.

::

    [2002-02-01, 2002-03-01)                          point_in_time 2002-02
    [2001-01-01, 2003-06-01), "start to the year"     start_time 2001, end_time 2003-05-31
    [2004-05-04T09:30, open)                          start_time 2004-05-04T09:30:00Z

REMem 3.1 attaches point_in_time, or start_time and end_time, to a triple. A fact here has a
half-open interval and perhaps a note on its uncertainty, such as "to the month". An interval that
is a whole year, month or day of the calendar is a point in time of that precision; the last day of
an interval is written as its end.
"""

import re
from datetime import UTC, datetime, timedelta

POINT, START, END = "point_in_time", "start_time", "end_time"
RECORD = "record_time"

_PRECISION = re.compile(r"(?:(start|end) )?to the (year|month|day)")
_INSTANT = timedelta(seconds=1)
_INSIDE = {"year": timedelta(days=182), "month": timedelta(days=14), "day": timedelta(hours=12)}
"""How far within a period its middle is: the date there is the same in every zone."""
_LONGEST = {"year": timedelta(366), "month": timedelta(31), "day": timedelta(1)}
_TICK = timedelta(microseconds=1)


def stated_precision(uncertainty: str | None) -> dict[str, str]:
    """Return the precision that a note states: of "start", of "end", and under "" of both.

    >>> stated_precision("start to the day, end to the year"), stated_precision("to the month")
    ({'start': 'day', 'end': 'year'}, {'': 'month'})
    """
    return dict(_PRECISION.findall(uncertainty or ""))


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
    """
    given = stated_precision(uncertainty)
    if start is not None and end is not None:
        if end - start <= _INSTANT:
            return {POINT: _moment(start)}
        whole = given.get("") or whole_period(start, end)
        if whole is not None and end - start <= _LONGEST[whole]:
            return {POINT: _dated(start + (end - start) / 2, whole)}
    found = {}
    if start is not None:
        precision = given.get("start") or given.get("")
        found[START] = (
            _plain(start, start)
            if precision is None
            else _dated(start + _INSIDE[precision], precision)
        )
    if end is not None:
        precision = given.get("end") or given.get("")
        found[END] = (
            _plain(end, end - _TICK)
            if precision is None
            else _dated(end - _INSIDE[precision], precision)
        )
    return found


def whole_period(start: datetime, end: datetime) -> str | None:
    """Return the precision of a whole period of the calendar in UTC; None for another interval.

    >>> whole_period(datetime(2002, 2, 1, tzinfo=UTC), datetime(2002, 3, 1, tzinfo=UTC))
    'month'
    """
    first, last = start.astimezone(UTC), (end - _TICK).astimezone(UTC)
    after = end.astimezone(UTC)
    if _has_time(first) or _has_time(after):
        return None
    if first.date() == last.date():
        return "day"
    if (first.year, first.month) == (last.year, last.month) and first.day == after.day == 1:
        return "month"
    january = (first.month, first.day) == (after.month, after.day) == (1, 1)
    return "year" if first.year == last.year and january else None


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

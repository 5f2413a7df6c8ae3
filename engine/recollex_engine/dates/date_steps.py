"""Steps from a date, and units within a period: "two weeks later", "the second Friday of", ..."""

from datetime import date, datetime, timedelta

from recollex_engine.dates import periods
from recollex_engine.dates.calendar_dates import hours
from recollex_engine.dates.english_words import WEEKDAYS
from recollex_engine.dates.periods import DAY, PARTS_OF_DAY, Period, midnight


def shifted(day: date, name: str, number: int) -> datetime:
    """Return the midnight `number` units from `day`; the 31st becomes a short month's last day."""
    if name in ("day", "week", "weekend"):
        return midnight(day + timedelta(days=number * (1 if name == "day" else 7)))
    months = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}[name]
    start, end = periods.month(day.year, day.month + number * months)
    return min(start + (day.day - 1) * DAY, end - DAY)


def nth(period: Period, what: str, ordinal: int) -> Period:
    """Return the `ordinal`-th day, week, weekend or weekday of a period; -1 is the last."""
    start, end = period
    if what == "week":  # of seven days from the first
        if ordinal < 0:
            return end - 7 * DAY, end
        return start + (ordinal - 1) * 7 * DAY, start + ordinal * 7 * DAY
    weekday, length = {"day": (None, 1), "weekend": (5, 2)}.get(what, (WEEKDAYS.get(what), 1))
    step = 1 if weekday is None else 7
    if ordinal > 0:
        skip = 0 if weekday is None else (weekday - start.weekday()) % 7
        first = start + (skip + (ordinal - 1) * step) * DAY
    else:
        first = end - length * DAY
        first -= (0 if weekday is None else (first.weekday() - weekday) % 7) * DAY
    return first, first + length * DAY


def beside(start: datetime, end: datetime, name: str, sign: int) -> Period:
    """Return the unit, weekday or part of a day before `start` (-1) or after `end` (1)."""
    if name in PARTS_OF_DAY:
        return hours((start - DAY if sign < 0 else end).date(), name)
    if name in WEEKDAYS or name == "weekend":
        weekday, length = (5, 2) if name == "weekend" else (WEEKDAYS[name], 1)
        if sign > 0:
            first = end + (weekday - end.weekday()) % 7 * DAY
        else:
            first = start - length * DAY
            first -= (first.weekday() - weekday) % 7 * DAY
        first = midnight(first.date())
        return first, first + length * DAY
    edge = (
        midnight(start.date())
        if sign < 0
        else midnight((end - timedelta(microseconds=1)).date()) + DAY
    )
    beyond = shifted(edge.date(), name, sign)
    return min(edge, beyond), max(edge, beyond)

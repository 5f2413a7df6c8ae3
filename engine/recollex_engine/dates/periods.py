"""Periods of the local calendar: days, weeks, months, seasons, years, and their arithmetic.

A `Period` is a half-open pair of naive local datetimes; `time_range` converts it to UTC.
Arithmetic that leaves the years 1 to 9999 raises `ValueError` or `OverflowError`, as datetime does.
"""

from collections.abc import Callable
from datetime import date, datetime, timedelta

Period = tuple[datetime, datetime]
OfYear = Callable[[int], Period]
"""Returns the period of a year: "in May", "at Easter"."""

DAY = timedelta(days=1)

WEEKDAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SEASON_STARTS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
PARTS_OF_DAY = {
    "dawn": (4, 8),
    "morning": (6, 12),
    "noon": (11, 14),
    "midday": (11, 14),
    "lunchtime": (11, 14),
    "afternoon": (12, 18),
    "evening": (18, 24),
    "night": (18, 30),
    "midnight": (23, 25),
}
"""Hours from the day's midnight; a night ends at six the next morning."""
EARLY_AND_LATE = {
    ("early", "morning"): (4, 9),
    ("late", "morning"): (10, 12),
    ("early", "afternoon"): (12, 15),
    ("late", "afternoon"): (15, 18),
    ("early", "evening"): (18, 20),
    ("late", "evening"): (20, 24),
    ("late", "night"): (22, 28),
}
"""Hours of the parts of a day that are named by two words."""


def midnight(day: date) -> datetime:
    """Return the start of a day."""
    return datetime(day.year, day.month, day.day)


def days(first: date, count: int = 1) -> Period:
    """Return `count` days, beginning with `first`."""
    start = datetime(first.year, first.month, first.day)
    return start, start + count * DAY


def year(y: int, count: int = 1) -> Period:
    """Return `count` calendar years, beginning with `y`."""
    return datetime(y, 1, 1), datetime(y + count, 1, 1)


def month(y: int, m: int, count: int = 1) -> Period:
    """Return `count` calendar months; `m` may lie outside 1..12 and carries into the year."""
    first = y * 12 + m - 1
    last = y * 12 + m - 1 + count
    return datetime(first // 12, first % 12 + 1, 1), datetime(last // 12, last % 12 + 1, 1)


def week(day: date) -> Period:
    """Return the week, Monday to Sunday, that holds `day`."""
    return days(day - timedelta(days=day.weekday()), 7)


def weekend(day: date) -> Period:
    """Return the Saturday and Sunday of the week that holds `day`."""
    return days(day - timedelta(days=day.weekday() - 5), 2)


def season(name: str, y: int) -> Period:
    """Return the three months of a season that begins in year `y` (a winter in its December)."""
    return month(y, SEASON_STARTS[name], 3)


def unit(name: str, day: date, offset: int = 0) -> Period:
    """Return the calendar unit that holds `day`, `offset` units later."""
    if name == "day":
        return days(day + timedelta(days=offset))
    if name == "week":
        return week(day + timedelta(days=7 * offset))
    if name == "weekend":
        return weekend(day + timedelta(days=7 * offset))
    if name == "month":
        return month(day.year, day.month + offset)
    if name == "quarter":
        return month(day.year, (day.month - 1) // 3 * 3 + 1 + 3 * offset, 3)
    if name == "decade":
        return year(day.year // 10 * 10 + 10 * offset, 10)
    if name == "century":
        return year((day.year - 1) // 100 * 100 + 1 + 100 * offset, 100)
    return year(day.year + offset)


def part(period: Period, index: int, of: int) -> Period:
    """Return the `index`-th of `of` parts: whole months of years, else whole days."""
    start, end = period
    months = (end.year - start.year) * 12 + end.month - start.month
    if months >= of and months % of == 0 and start.day == end.day == 1:
        return month(start.year, start.month + months // of * index, months // of)
    length = max(1, round((end - start) / DAY / of))
    first = start + index * length * DAY
    return first, (end if index == of - 1 else first + length * DAY)

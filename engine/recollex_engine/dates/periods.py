"""Periods of the local calendar, their arithmetic, and when the holidays are.

A `Period` is a half-open pair of naive local datetimes; `time_range` converts it to UTC.
Arithmetic that leaves the years 1 to 9999 raises `ValueError` or `OverflowError`, as datetime does.

When are the holidays? By a fixed date, by weekday, by Easter, or by the moon.
A name that means different days in different countries ("National Day", "Labor Day") is left out.
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


# Days after 20 January, 26 May and 6 September, in base 36, for 1970 to 2069: the first day of the
# Chinese calendar's first month, the fifth of its fifth, the fifteenth of its eighth.
_FIRST_MOON_YEAR = 1970
_NEW_YEAR = (
    "h7qe3mbti8rg5odvk9sh7qf3lbui8rg4nc2k9ti6pe3lbuj8rg5n"
    "c2l9sh6oe3mbuj8qf4nc2lash6pd3mcuj8qf4nd1k9sg6pe3"
)
_DRAGON_BOAT = (
    "d2katj7qf4mbuk9rg5nd2lati7pe4nbuk9rg5od2lbsh7pe4ncuj"
    "8rf5oe2lath6pf4nc1j8rg5od3k9si6pf4mbuj8rg6od2l9s"
)
_MID_AUTUMN = (
    "9rg5oe2lath6pf4ncvj8rg5oe3lati6pf5mcuj8rg6od2l9si7pf"
    "4nbuj9rg6pd2lasi7qe4mbtj9sg5od1kati7qf3mbuj9rh5n"
)


def _fixed(m: int, d: int) -> OfYear:
    return lambda y: days(date(y, m, d))


def _weekday(m: int, weekday: int, n: int, later: int = 0) -> OfYear:
    """Return the rule of the `n`-th `weekday` of a month (-1 the last), and `later` days."""

    def rule(y: int) -> Period:
        if n > 0:
            skip = (weekday - date(y, m, 1).weekday()) % 7
            day = date(y, m, 1 + skip + 7 * (n - 1))
        else:
            last = date(y + m // 12, m % 12 + 1, 1) - timedelta(days=1)
            day = last - timedelta(days=(last.weekday() - weekday) % 7)
        return days(day + timedelta(days=later))

    return rule


def _from_easter(later: int) -> OfYear:
    return lambda y: days(_easter(y) + timedelta(days=later))


def _from_moon(table: str, m: int, d: int, first: int = 0, count: int = 1) -> OfYear:
    """Return the rule of `count` days that begin `first` days after a day of the lunar table."""

    def rule(y: int) -> Period:
        if not 0 <= y - _FIRST_MOON_YEAR < len(table):
            raise ValueError(f"the moon's table has no year {y}")
        later = int(table[y - _FIRST_MOON_YEAR], 36) + first
        return days(date(y, m, d) + timedelta(days=later), count)

    return rule


def _clear_and_bright(y: int) -> Period:
    """Return Qingming, when the sun stands at 15 degrees: 4 or 5 April, from 1970 to 2069."""
    if not _FIRST_MOON_YEAR <= y < _FIRST_MOON_YEAR + len(_NEW_YEAR):
        raise ValueError(f"no rule for Qingming in {y}")
    short = y % 100
    if y >= 2000:
        return days(date(y, 4, int(short * 0.2422 + 4.81) - short // 4))
    return days(date(y, 4, int(short * 0.2422 + 5.59) - (short - 1) // 4))


def _easter(y: int) -> date:
    """Return Easter Sunday by the anonymous Gregorian computus (Meeus, Astronomical Algorithms)."""
    a = y % 19
    b = y // 100
    c = y % 100
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    n = (32 + 2 * e + 2 * i - h - k) % 7
    m = (a + 11 * h + 22 * n) // 451
    mon, day = divmod(h + n - 7 * m + 114, 31)
    return date(y, mon, day + 1)


_SPRING_FESTIVAL = _from_moon(_NEW_YEAR, 1, 20, first=-1, count=8)  # its eve and seven days

_RULES: dict[str, OfYear] = {
    "christmas eve": _fixed(12, 24),
    "christmas day": _fixed(12, 25),
    "christmas": _fixed(12, 25),
    "xmas": _fixed(12, 25),
    "boxing day": _fixed(12, 26),
    "new year": _fixed(1, 1),
    "new year eve": _fixed(12, 31),
    "new years eve": _fixed(12, 31),
    "new year day": _fixed(1, 1),
    "new years day": _fixed(1, 1),
    "valentine day": _fixed(2, 14),
    "valentines day": _fixed(2, 14),
    "women day": _fixed(3, 8),
    "saint patrick day": _fixed(3, 17),
    "st patrick day": _fixed(3, 17),
    "earth day": _fixed(4, 22),
    "may day": _fixed(5, 1),
    "independence day": _fixed(7, 4),
    "fourth of july": _fixed(7, 4),
    "halloween": _fixed(10, 31),
    "veterans day": _fixed(11, 11),
    "singles day": _fixed(11, 11),
    "thanksgiving day": _weekday(11, 3, 4),
    "thanksgiving": _weekday(11, 3, 4),
    "black friday": _weekday(11, 3, 4, later=1),
    "cyber monday": _weekday(11, 3, 4, later=4),
    "mother day": _weekday(5, 6, 2),
    "mothers day": _weekday(5, 6, 2),
    "father day": _weekday(6, 6, 3),
    "fathers day": _weekday(6, 6, 3),
    "memorial day": _weekday(5, 0, -1),
    "good friday": _from_easter(-2),
    "easter sunday": _from_easter(0),
    "easter monday": _from_easter(1),
    "easter": _from_easter(0),
    "spring festival": _SPRING_FESTIVAL,
    "lunar new year": _SPRING_FESTIVAL,
    "chinese new year": _SPRING_FESTIVAL,
    "qingming festival": _clear_and_bright,
    "qingming": _clear_and_bright,
    "dragon boat festival": _from_moon(_DRAGON_BOAT, 5, 26),
    "mid autumn festival": _from_moon(_MID_AUTUMN, 9, 6),
}
HOLIDAYS = {tuple(name.split()): rule for name, rule in _RULES.items()}
"""The rule of each holiday by the words of its name; Thanksgiving is the American one."""

LONGEST = max(map(len, HOLIDAYS))
"""Words of the longest name."""

BEGINNINGS = frozenset(name[0] for name in HOLIDAYS)
"""The first words of the names."""

TELLING = frozenset(
    {"christmas", "xmas", "halloween", "thanksgiving", "easter", "festival", "qingming"}
)
"""Words that tell a holiday by themselves.

Each other name has a month, a weekday, "day" or "year".
"""


def holiday(name: tuple[str, ...], y: int) -> Period:
    """Return the day or days of a holiday of `HOLIDAYS` in year `y`.

    Raises ValueError for a year that the table of lunar holidays (1970 to 2069) does not hold.
    """
    return HOLIDAYS[name](y)

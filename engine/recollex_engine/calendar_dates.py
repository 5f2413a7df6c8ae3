"""Calendar dates in English: "7 May 2023", "June", "summer 2021", "Q3 2024", "Halloween", "2022".

A date that names no year is kept as a function of the year, which is chosen where it is used.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import Literal

from recollex_engine import periods
from recollex_engine.periods import DAY, HOLIDAYS, PARTS_OF_DAY, SEASON_STARTS, Period, midnight
from recollex_engine.time_words import (
    DASHES,
    MONTHS,
    SHORT_MONTHS,
    SHORT_WEEKDAYS,
    WEEKDAYS,
    Token,
)

OfYear = Callable[[int], Period]
Looking = Literal["past", "nearest", "future"]

_MONTH_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

# What a bare year, month, season, weekday or holiday must follow to be a time at all.
_BOUNDS = frozenset({"since", "before", "after", "until", "till", "from"})
YEAR_AFTER = _BOUNDS | {"in", "during", "throughout", "circa"}
MONTH_AFTER = _BOUNDS | {"in", "during", "throughout", "around", "by"}
SEASON_AFTER = MONTH_AFTER | {"over"}
WEEKDAY_AFTER = _BOUNDS | {"on", "by"}
HOLIDAY_AFTER = _BOUNDS | {"at", "on", "for", "during", "over", "around", "by"}
WEEKEND_AFTER = frozenset({"over", "during", "on", "at", "since"})
PREPOSITIONS = SEASON_AFTER | HOLIDAY_AFTER | YEAR_AFTER | frozenset({"of", "within", "about"})
_SMALL_MONTH_AFTER_WORDS = """
in during since last next of early late mid between until
"""
_SMALL_MONTH_AFTER = frozenset(_SMALL_MONTH_AFTER_WORDS.split())
_NO_HOLIDAY_BEFORE_WORDS = """
tree trees card cards present presents gift gifts cookie cookies costume costumes movie movies song
songs island decorations decoration lights market markets egg eggs bunny story carol carols candy
dinner
"""
_NO_HOLIDAY_BEFORE = frozenset(_NO_HOLIDAY_BEFORE_WORDS.split())
_UNCOUNTED_WORDS = """
was is has does this as his its us always perhaps vs sometimes afterwards towards besides across
plus thus unless it's that's whereas
"""
_UNCOUNTED = frozenset(_UNCOUNTED_WORDS.split())
_COUNTED_WORDS = """
people men women children feet percent km kg m ms mg mb gb ft lb usd eur dollar euro mile rpm hp am
pm
"""
_COUNTED = frozenset(_COUNTED_WORDS.split())


@dataclass(frozen=True, slots=True)
class Expression:
    """A time expression that was read: `of_year(y)` is its period, if `y` is its year.

    `year` is the year it names, 0 where none matters ("yesterday"), None where it must be chosen.
    `only_after` are the prepositions it needs to be a time at all, None for one that needs none.
    `dated` says that a year was written out; `after` is the index of the next token.
    """

    after: int
    of_year: OfYear
    year: int | None = None
    only_after: frozenset[str] | None = None
    dated: bool = False
    calendar: bool = True


class CalendarReader:
    """Reads calendar dates from `tokens`, at the local time `now`.

    `looking` chooses the year of "in June" and the day of "on Friday": the latest that has begun
    ("past"), the next not yet over ("future"), or whichever is nearer ("nearest", weekdays past).
    `last_is_previous_year`: "last spring" is the previous calendar year's, as the papers have it
    for queries; otherwise it is the latest one that is over.
    """

    def __init__(
        self,
        tokens: list[Token],
        now: datetime,
        looking: Looking,
        last_is_previous_year: bool,
    ) -> None:
        self.tokens = tokens
        self.now = now
        self.today = now.date()
        self.looking = looking
        self.last_is_previous_year = last_is_previous_year

    def word(self, i: int) -> str:
        """Return the word at token `i`, or "" if there is none."""
        return self.tokens[i].text if i < len(self.tokens) and self.is_kind(i, "word") else ""

    def is_kind(self, i: int, kind: str) -> bool:
        """Return whether there is a token `i` of this kind."""
        return i < len(self.tokens) and self.tokens[i].kind == kind

    def settle(self, expression: Expression) -> Period:
        """Return the period of an expression, its year chosen if it names none."""
        if expression.year is not None:
            return expression.of_year(expression.year)
        return expression.of_year(self.chosen_year(expression.of_year, self.looking))

    def chosen_year(self, of_year: OfYear, looking: Looking) -> int:
        """Return the year of the latest begun, the next unfinished or the nearest occurrence."""
        possible = []
        for y in range(self.today.year - 8, self.today.year + 9):  # 29 February needs eight
            try:
                possible.append((y, of_year(y)))
            except (ValueError, OverflowError):
                continue
        begun = [y for y, period in possible if period[0] <= self.now]
        unfinished = [y for y, period in possible if period[1] > self.now]
        if not possible:
            raise ValueError("no year from 1 to 9999 has this day")
        if begun and (looking == "past" or not unfinished):
            return begun[-1]
        if looking == "future" or not begun:
            return unfinished[0]
        middles = {y: period[0] + (period[1] - period[0]) / 2 for y, period in possible}
        return min(middles, key=lambda y: abs(middles[y] - self.now))

    def counts(self, i: int) -> bool:
        """Return whether token `i` is a thing counted, which makes a number before it no date."""
        if i >= len(self.tokens):
            return False
        token = self.tokens[i]
        if token.kind != "word":
            return token.text in "%\u00b0"
        if token.capital or token.text in _UNCOUNTED:
            return False
        return token.text in _COUNTED or (token.text.endswith("s") and len(token.text) > 2)

    def calendar_date(self, i: int) -> Expression | None:
        """Return the calendar date that begins at token `i`, with or without its year, or None."""
        if i >= len(self.tokens):
            return None
        token = self.tokens[i]
        if token.kind in ("iso", "slash"):
            return _numeric(token, i + 1)
        if token.kind in ("number", "ordinal"):
            return self._day_month(i) or self._bare_year(i)
        if token.kind == "decade":
            return self._decade(i)
        if re.fullmatch("q[1-4]", token.text):
            m = int(token.text[1]) * 3 - 2
            return self._yearless(i + 1, lambda y: periods.month(y, m, 3), MONTH_AFTER)
        if token.kind != "word":
            return None
        name = token.text
        if name in WEEKDAYS or name in SHORT_WEEKDAYS:
            return self._named_weekday(i)
        if (month := self._month(i)) is not None:
            return self._month_day(i, month)
        if name in SEASON_STARTS:
            return self._yearless(i + 1, lambda y: periods.season(name, y), SEASON_AFTER)
        if name == "weekend" and i and self.tokens[i - 1].text == "the":
            sign = 1 if self.looking == "future" else -1
            saturday = periods.weekend(self.today)
            if sign < 0 and saturday[0] > self.now:
                saturday = (saturday[0] - 7 * DAY, saturday[1] - 7 * DAY)
            return replace(fixed(i + 1, saturday), only_after=WEEKEND_AFTER)
        for length in (3, 2, 1):
            key = tuple(self.word(i + n) for n in range(length))
            if key in HOLIDAYS and self.word(i + length) not in _NO_HOLIDAY_BEFORE:
                return self._yearless(i + length, partial(periods.holiday, key), HOLIDAY_AFTER)
        return None

    def _yearless(self, after: int, of_year: OfYear, only_after: frozenset[str]) -> Expression:
        if (year := self.year_at(after)) is not None:
            return dated(year[1], of_year, year[0])
        return Expression(after, of_year, only_after=only_after)

    def with_part_of_day(self, i: int, day: date) -> Expression:
        """Return a day, or the part of it that token `i` names."""
        if self.word(i) in PARTS_OF_DAY:
            return fixed(i + 1, hours(day, self.word(i)))
        return fixed(i, periods.days(day))

    def year_at(self, i: int) -> tuple[int, int] | None:
        """Return (year, next token) if a year belongs to what ends before token `i`, or None.

        "2023", ", 2023", "of 2023", "(2023)", "'23", "of last year".
        """
        if i >= len(self.tokens):
            return None
        opened = self.tokens[i].text
        if opened in (",", "(") or (opened in ("of", "in") and self.is_kind(i, "word")):
            i += 1
        if self.word(i) in ("last", "this", "next") and self.word(i + 1) == "year":
            return self.today.year + {"last": -1, "this": 0, "next": 1}[self.word(i)], i + 2
        short = i < len(self.tokens) and self.tokens[i].text == "'"
        i += short
        if not self.is_kind(i, "number") or self.counts(i + 1):
            return None
        digits = self.tokens[i].text
        if short:
            year = self.today.year // 100 * 100 + int(digits)
            year -= 100 if year > self.today.year + 5 else 0
            return (year, i + 1) if len(digits) == 2 else None
        if len(digits) != 4 or not 1000 <= int(digits) < 3000:
            return None
        closed = opened == "(" and i + 1 < len(self.tokens) and self.tokens[i + 1].text == ")"
        return int(digits), i + 1 + closed

    def _bare_year(self, i: int) -> Expression | None:
        text = self.tokens[i].text
        if not self.is_kind(i, "number") or len(text) != 4 or not 1000 <= int(text) < 2200:
            return None
        if self.counts(i + 1) or (i + 1 < len(self.tokens) and self.tokens[i + 1].text == "/"):
            return None
        return dated(i + 1, periods.year, int(text), YEAR_AFTER)

    def _decade(self, i: int) -> Expression | None:
        start = int(self.tokens[i].text.strip("'s"))
        if start >= 1000:
            length = 100 if start % 100 == 0 and start < 2000 else 10  # "the 1800s"
            return dated(i + 1, lambda y: periods.year(y, length), start)
        if not i or self.tokens[i - 1].text != "the":
            return None
        start += 1900 if start >= 30 else 2000
        return dated(i + 1, lambda y: periods.year(y, 10), start, YEAR_AFTER)

    def _month(self, i: int) -> int | None:
        name = self.word(i)
        if name in SHORT_MONTHS:
            # "dec" and "mar" are other things too: a capital or a number makes them months
            numbered = self.is_kind(i + 1, "number") or self.is_kind(i + 1, "ordinal")
            return SHORT_MONTHS[name] if numbered or self.tokens[i].capital else None
        return MONTHS.get(name)

    def _day_month(self, i: int) -> Expression | None:
        """Read "7 May 2023", "7th of May", "7-9 May"."""
        first = last = int(self.tokens[i].text.rstrip("stndrh"))
        i += 1
        if i + 1 < len(self.tokens) and self.tokens[i].text in DASHES and self.is_day(i + 1):
            last = int(self.tokens[i + 1].text.rstrip("stndrh"))
            i += 2
        m = self._month(i + (self.word(i) == "of"))
        if m is None or not 1 <= first <= last <= _MONTH_LENGTHS[m - 1]:
            return None
        return self._in_year(i + (self.word(i) == "of") + 1, _day_range(m, first, last))

    def _month_day(self, i: int, m: int) -> Expression | None:
        """Read "May 7, 2023", "May 7-9", "May the 7th", "May 2023", "May"."""
        month, after = self.tokens[i], i + 1
        verb = month.text in ("may", "march") and not month.capital
        if after < len(self.tokens) and self.tokens[after].text == "." and len(month.text) < 5:
            after += 1 if self.is_kind(after + 1, "number") else 0
        if self.word(after) == "the" and self.is_kind(after + 1, "ordinal"):
            after += 1
        if self.is_day(after) and not self.counts(after + 1):
            first = last = int(self.tokens[after].text.rstrip("stndrh"))
            to = self.tokens[after + 1].text if after + 1 < len(self.tokens) else ""
            if (
                (to in DASHES or to in ("to", "through") or (to == "and" and self.between(i)))
                and self.is_day(after + 2)
                and self._month(after + 3) is None
                and not self.counts(after + 3)
            ):
                last = int(self.tokens[after + 2].text.rstrip("stndrh"))
                after += 2
            if not 1 <= first <= last <= _MONTH_LENGTHS[m - 1]:
                return None
            if verb and self.word(after + 1) and not self.tokens[after + 1].capital:
                return None
            return self._in_year(after + 1, _day_range(m, first, last))
        year = self.year_at(after)
        if year is None and verb and (not i or self.tokens[i - 1].text not in _SMALL_MONTH_AFTER):
            return None
        return self._yearless(after, lambda y: periods.month(y, m), MONTH_AFTER)

    def between(self, i: int) -> bool:
        """Return whether "between" or "between the" stands before token `i`."""
        before = [token.text for token in self.tokens[max(0, i - 2) : i]]
        return before[-1:] == ["between"] or before == ["between", "the"]

    def is_day(self, i: int) -> bool:
        """Return whether token `i` may be the number of a day of a month."""
        if not (self.is_kind(i, "number") or self.is_kind(i, "ordinal")):
            return False
        return 1 <= int(self.tokens[i].text.rstrip("stndrh")) <= 31

    def _in_year(self, after: int, of_year: OfYear) -> Expression:
        """Return a day or days of a month, which need no preposition."""
        return replace(self._yearless(after, of_year, MONTH_AFTER), only_after=None)

    def _named_weekday(self, i: int) -> Expression | None:
        """Read "Friday", "Friday night", "Friday last week", "Sunday, 7 May"."""
        name, comma = self.word(i), i + 1
        comma += comma < len(self.tokens) and self.tokens[comma].text in (",", ".")
        if self.is_day(comma + (self.word(comma) == "the")) or self._month(comma) is not None:
            date_after = self.calendar_date(comma + (self.word(comma) == "the"))
            if date_after is not None and date_after.only_after is None:
                return date_after
        if name not in WEEKDAYS or (i and self.tokens[i - 1].text in ("black", "good", "every")):
            return None
        after = i + 1 + (self.word(i + 1) == "of")
        if self.word(after) in ("last", "this", "next") and self.word(after + 1) == "week":
            week = {"last": -1, "this": 0, "next": 1}[self.word(after)]
            monday = periods.unit("week", self.today, week)[0]
            return fixed(after + 2, periods.days((monday + WEEKDAYS[name] * DAY).date()))
        ahead = (WEEKDAYS[name] - self.today.weekday()) % 7
        if self.looking != "future" and ahead:
            ahead -= 7
        day = self.with_part_of_day(i + 1, self.today + timedelta(days=ahead))
        return replace(day, only_after=WEEKDAY_AFTER)


def fixed(after: int, period: Period) -> Expression:
    """Return an expression whose period is known."""
    return Expression(after, lambda _: period, year=0, calendar=False)


def dated(
    after: int, of_year: OfYear, year: int, only_after: frozenset[str] | None = None
) -> Expression:
    """Return an expression whose year was written out."""
    return Expression(after, of_year, year, only_after, dated=True)


def hours(day: date, part: str) -> Period:
    """Return the morning, afternoon, evening or night of a day."""
    first, last = PARTS_OF_DAY[part]
    start = midnight(day)
    return start + timedelta(hours=first), start + timedelta(hours=last)


def _day_range(m: int, first: int, last: int) -> OfYear:
    return lambda y: periods.days(date(y, m, first), last - first + 1)


def _numeric(token: Token, after: int) -> Expression | None:
    """Read 2023-05-07, 2023-05 and 25/12/2023; 5/7/2023 is two different days and so none."""
    if token.kind == "iso":
        y, m = int(token.text[:4]), int(token.text[5:7])
        if not 1 <= m <= 12:
            return None
        if len(token.text) == 7:
            return dated(after, lambda y: periods.month(y, m), y, MONTH_AFTER)
        d = int(token.text[8:10])
    else:
        first, second, third = token.text.split("/")
        if len(first) == 4:
            y, m, d = int(first), int(second), int(third)
        elif len(third) != 4 or (int(first) <= 12 and int(second) <= 12 and first != second):
            return None
        else:
            y, m, d = int(third), int(first), int(second)
            if m > 12:
                m, d = d, m
    if not 1 <= m <= 12 or not 1 <= d <= _MONTH_LENGTHS[m - 1]:
        return None
    return dated(after, _day_range(m, d, d), y)

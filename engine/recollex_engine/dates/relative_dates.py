"""Dates relative to now or to another date: "last Friday", "two weeks ago", "the day after 9 June".

`calendar_dates` parses the dates of the calendar. This module adds what is counted from now
("yesterday", "last Friday", "two weeks ago") and what is a part of another expression or a step
from it ("early June", "the second week of June", "the day after 9 June").
"""

import re
from datetime import date, datetime, timedelta

from recollex_engine.dates import periods
from recollex_engine.dates.calendar_dates import WEEKDAY_AFTER, CalendarDateParser, hours
from recollex_engine.dates.english_words import (
    CLOCK,
    DASHES,
    HALVES,
    LAST,
    NEXT,
    NUMBERS,
    ORDINALS,
    SHORT_UNITS,
    SHORT_WEEKDAYS,
    THIRDS,
    THIRDS_OF,
    UNITS,
    WEEKDAYS,
)
from recollex_engine.dates.expression_parser import Expression, dated, fixed
from recollex_engine.dates.periods import (
    DAY,
    EARLY_AND_LATE,
    PARTS_OF_DAY,
    SEASON_STARTS,
    OfYear,
    Period,
    midnight,
)


# Steps from a date, and units within a period: "two weeks later", "the second Friday of", ...
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


_SHORT = re.compile("([0-9]+) ?([a-z]+?)s?$")
_NEGATIONS = frozenset({"t", "not", "never", "no"})
_DAYS = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1}


class RelativeDateParser(CalendarDateParser):
    """Parses any time expression, relative to the local time `now`."""

    def expression(self, i: int, depth: int = 0) -> Expression | None:
        """Return the expression that begins at token `i`, or None.

        `depth` bounds the nesting of expressions ("the end of the first week of June").
        """
        if depth > 3:
            return None
        if self.words[i] == "the":
            i += 1
        name = self.words[i]
        if not name:
            return self._numbered(i, depth)
        return (
            (self._day(i) if name in _DAYS else None)
            or self._part(i, depth)
            or (self._nth_part(i, ORDINALS[name], depth) if name in ORDINALS else None)
            or self._step(i, depth)
            or self._relative(i)
            or self.calendar_date(i)
        )

    def _numbered(self, i: int, depth: int) -> Expression | None:
        """Return the expression that begins at token `i`, which is no word, or None."""
        kind = self.numbers.get(i)
        if kind is None:
            return None
        if kind == "short":
            return self._ago(i)
        if kind == "ordinal" and (part := self._nth_part(i, int(self.texts[i][:-2]), depth)):
            return part
        if kind == "number" and (counted := self._step(i, depth)):
            return counted
        return self.calendar_date(i)

    def _step(self, i: int, depth: int) -> Expression | None:
        """Return what is counted from another date, or from now."""
        return self._offset(i, depth) or self._ago(i)

    # Days and units counted from now

    def _day(self, i: int) -> Expression:
        day = self.today + timedelta(days=_DAYS[self.words[i]])
        if self.words[i] == "tonight":
            return fixed(i + 1, hours(day, "night"))
        return self.with_part_of_day(i + 1, day)

    def _count(self, i: int) -> tuple[int, int, int] | None:
        """Return (fewest, most, next token) of "two", "a couple of", "a few", "several", "12"."""
        if self.words[i] == "a" and self.words[i + 1] in ("few", "couple"):
            i += 1
        name = self.words[i]
        if name == "couple":
            return 2, 2, i + 2 if self.words[i + 1] == "of" else i + 1
        if name in ("few", "several"):
            return (2, 5, i + 1) if name == "few" else (3, 7, i + 1)
        number = self._number(i)
        if not number:
            return None
        if name in ("a", "an") and self.words[i + 1] == "dozen":
            return 12, 12, i + 2
        joiner = self.texts[i + 1] if i + 1 < len(self.texts) else ""
        most = self._number(i + 2) if joiner in ("or", "to", *DASHES) else 0
        return (number, most, i + 3) if most > number else (number, number, i + 1)

    def _number(self, i: int) -> int:
        """Return the number at token `i`, 0 for none."""
        if i >= len(self.texts):
            return 0
        return NUMBERS.get(self.words[i]) or (
            int(self.texts[i]) if self.numbers.get(i) == "number" else 0
        )

    def _counted(self, i: int) -> tuple[int, int, str, int] | None:
        """Return (fewest, most, unit, next token) of "two weeks", "a year and a half", "3d"."""
        if self.numbers.get(i) == "short":
            number, letters = _SHORT.match(self.texts[i]).groups()  # type: ignore[union-attr]
            return int(number), int(number), SHORT_UNITS[letters], i + 1
        half = self.words[i] == "half"
        count = (0, 0, i + 1 + (self.words[i + 1] in ("a", "an"))) if half else self._count(i)
        if count is None:
            return None
        fewest, most, at = count
        if not half and self.words[at : at + 3] == ["and", "a", "half"]:
            half = True  # "two and a half weeks"
            at += 3
        word = self.words[at]
        name = "fortnight" if word in ("fortnight", "fortnights") else UNITS.get(word)
        if name is None:
            return None
        at += 1
        if not half and self.words[at : at + 3] == ["and", "a", "half"]:
            half = True  # "a year and a half"
            at += 3
        if name == "fortnight" and not half:
            return 2 * fewest, 2 * most, "week", at
        if not half:
            return fewest, most, name, at
        if name not in HALVES:
            return None
        unit, held = HALVES[name]
        return fewest * held + held // 2, most * held + held // 2, unit, at

    def _ago(self, i: int) -> Expression | None:
        """Read "two weeks ago", "a year from now"; "in two weeks" in a text about the future."""
        ahead = self.words[i] == "in"
        counted = self._counted(i + ahead)
        if counted is None or (ahead and self.looking != "future"):
            return None
        fewest, most, name, after = counted
        if ahead and not _NEGATIONS.isdisjoint(self.texts[max(0, i - 12) : i]):
            return None  # "we haven't talked in two weeks"
        if self.words[after] == "or" and self.words[after + 1] == "so":
            after += 2
        if self.words[after] == "ago":
            return fixed(after + 1, self._away(self.today, name, fewest, most, -1))
        if self.words[after] == "from" and self.words[after + 1] in ("now", "today"):
            return fixed(after + 2, self._away(self.today, name, fewest, most, 1))
        if ahead:
            return fixed(after, self._away(self.today, name, fewest, most, 1))
        return None

    def _away(self, day: date, name: str, fewest: int, most: int, sign: int) -> Period:
        """Return the calendar units from `fewest` to `most` units away from `day`.

        Hours and minutes are counted from now; the period then reaches half a unit to either side.
        """
        if name in CLOCK:
            step = CLOCK[name]
            near = self.now + sign * fewest * step
            far = self.now + sign * most * step
            return min(near, far) - step / 2, max(near, far) + step / 2
        near_unit = periods.unit(name, day, sign * fewest)
        far_unit = periods.unit(name, day, sign * most)
        return min(near_unit[0], far_unit[0]), max(near_unit[1], far_unit[1])

    def _relative(self, i: int) -> Expression | None:
        """Read "last week", "this summer", "next Friday", "the past few days"."""
        which = self.words[i]
        sign = -1 if which in LAST else 1 if which in NEXT else 0
        if not sign and which not in ("this", "current"):
            return None
        name = self.words[i + 1]
        if sign and name == "fortnight":
            return self._rolling(i + 2, "week", 2, sign)
        if sign and name in UNITS and self.words[i + 2 : i + 5] == ["and", "a", "half"]:
            unit, held = HALVES.get(UNITS[name], ("", 0))
            return self._rolling(i + 5, unit, held + held // 2, sign) if unit else None
        counted = self._counted(i + 1) if sign and name not in UNITS else None
        if counted:
            return self._rolling(counted[3], counted[2], counted[1], sign)
        if which == "past" and name in ("day", "week", "month", "quarter", "year", "decade"):
            return self._rolling(i + 2, name, 1, sign)
        if name in UNITS and name not in ("day", "minute", "hour") and not name.endswith("s"):
            return fixed(i + 2, periods.unit(name, self.today, sign))
        if name in PARTS_OF_DAY and sign <= 0:
            return fixed(i + 2, hours(self.today + timedelta(days=sign), name))
        weekday = WEEKDAYS.get(name)
        if weekday is None and name in SHORT_WEEKDAYS and self.tokens.capital(i + 1):
            weekday = SHORT_WEEKDAYS[name]  # "last Tues"
        if weekday is not None:
            return self.with_part_of_day(i + 2, self._weekday(weekday, sign))
        bare = self.calendar_date(i + 1)
        if bare is None or bare.year is not None or bare.only_after is WEEKDAY_AFTER:
            return None
        return fixed(bare.after, self._yearly(bare.of_year, name, sign))

    def _yearly(self, of_year: OfYear, name: str, sign: int) -> Period:
        """Return the last, this or next occurrence of an expression that comes once a year."""
        this = self.today.year
        if name == "winter" and self.today.month <= 2:
            this -= 1  # the present winter began last year
        if sign == 0:
            return of_year(this)
        if sign > 0:
            year = next(y for y in (this, this + 1) if of_year(y)[0] > self.now)
        elif name in SEASON_STARTS and self.asks:
            year = this - 1
        else:
            year = next(y for y in (this, this - 1) if of_year(y)[1] <= self.now)
        return of_year(year)

    def _rolling(self, after: int, name: str, number: int, sign: int) -> Expression:
        """Read "the last two weeks", which end with today; "the next ..." begin tomorrow."""
        if name in CLOCK:
            there = self.now + sign * number * CLOCK[name]
            return fixed(after, (min(there, self.now), max(there, self.now)))
        there = shifted(self.today, name, sign * number)
        tomorrow = midnight(self.today) + DAY
        if sign < 0:
            return fixed(after, (there, tomorrow))
        return fixed(after, (tomorrow, there + DAY))

    def _weekday(self, weekday: int, sign: int) -> date:
        """Return the weekday strictly before (-1) or after (1) today, or that of this week (0)."""
        ahead = weekday - self.today.weekday()
        if sign < 0:
            ahead = -(-ahead % 7 or 7)
        elif sign > 0:
            ahead = ahead % 7 or 7
        return self.today + timedelta(days=ahead)

    # Parts of and steps from another expression

    def _part(self, i: int, depth: int) -> Expression | None:
        """Read "early June", "the end of 2022", "the week of 7 May", "the evening of ..."."""
        name = self.words[i]
        if (name, self.words[i + 1]) in EARLY_AND_LATE:
            return self._part_of(i + 1, (name, self.words[i + 1]), depth)
        if name in THIRDS:
            return self._thirds(i, depth)
        if name in THIRDS_OF and self.words[i + 1] == "of":
            return self._sliced(self._whole(i + 2, depth), THIRDS_OF[name], 3)
        if name in PARTS_OF_DAY:
            return self._part_of(i, name, depth)
        if self.words[i + 1] == "of" and name in ("week", "weekend", "month", "year"):
            whole = self.expression(i + 2, depth + 1)
            if whole is None or (name == "year" and not whole.dated):
                return None
            if name in ("month", "year"):
                return whole.part(whole.of_year)
            return self._within(whole, name)
        if name in ("season", "year") and self.numbers.get(i + 1) in ("span", "iso"):
            years = self.calendar_date(i + 1)
            return years and years.part(years.of_year)
        if name == "year" and (year := self.year_at(i + 1)):
            return dated(year[1], periods.year, year[0])
        return None

    def _nth_part(self, i: int, ordinal: int, depth: int) -> Expression | None:
        """Read "the second week of June", "the last ten days of May", "the 19th century"."""
        if self.words[i + 1] == "century" and ordinal > 0:
            return dated(i + 2, lambda _: periods.year(ordinal * 100 - 99, 100), 0)
        if ordinal in (1, -1) and (found := self._first_units(i + 1, ordinal, depth)):
            return found
        if not ordinal or ordinal > 5 or self.words[i + 2] not in ("of", "in"):
            return None
        what = self.words[i + 1]
        whole = self._whole(i + 3, depth)
        if what in ("half", "quarter"):
            pieces = 2 if what == "half" else 4
            if ordinal > pieces:
                return None
            return self._sliced(whole, ordinal - 1 if ordinal > 0 else pieces - 1, pieces)
        if whole is None or what not in ("day", "week", "weekend", *WEEKDAYS):
            return None
        return whole.part(lambda y: nth(whole.of_year(y), what, ordinal))

    def _thirds(self, i: int, depth: int) -> Expression | None:
        """Read "early June", "mid-June", "mid-to-late June", "late in 2022"."""
        first = last = THIRDS[self.words[i]]
        after = i + 1 + self._is_dash(i + 1)
        if self.words[after] == "to":
            beyond = after + 1 + self._is_dash(after + 1)
            if self.words[beyond] in THIRDS:
                last = THIRDS[self.words[beyond]]
                after = beyond + 1 + self._is_dash(beyond + 1)
        whole = self.expression(after + (self.words[after] == "in"), depth + 1)
        start = self._sliced(whole, first, 3)
        if whole is None or start is None or last <= first:
            return start

        def of_year(y: int) -> Period:
            thirds = (
                periods.part(whole.of_year(y), first, 3),
                periods.part(whole.of_year(y), last, 3),
            )
            return thirds[0][0], thirds[1][1]

        return start.part(of_year)

    def _is_dash(self, i: int) -> bool:
        return i < len(self.texts) and self.texts[i] in DASHES

    def _part_of(self, i: int, part: str | tuple[str, str], depth: int) -> Expression | None:
        """Read "the evening of 7 May", "morning on 9 June", "early morning of 2 August"."""
        if self.words[i + 1] not in ("of", "on"):
            return None
        whole = self.expression(i + 2, depth + 1)
        if whole is None:
            return None
        start, end = self.settle(whole)
        if end - start > 3 * DAY:
            return None
        of_year = whole.of_year
        return whole.part(lambda y: hours(of_year(y)[0].date(), part))

    def _first_units(self, i: int, ordinal: int, depth: int) -> Expression | None:
        """Read "[the first] three months of 2023", "[the last] ten days of May"."""
        count = self._count(i)
        name = UNITS.get(self.words[count[2]]) if count else None
        if count is None or name is None or name in CLOCK:
            return None
        if self.words[count[2] + 1] not in ("of", "in"):
            return None
        whole = self._whole(count[2] + 2, depth)
        if whole is None:
            return None

        def of_year(y: int) -> Period:
            start, end = whole.of_year(y)
            if ordinal > 0:
                return start, min(end, shifted(start.date(), name, count[1]))
            return max(start, shifted(end.date(), name, -count[1])), end

        return whole.part(of_year)

    def _whole(self, i: int, depth: int) -> Expression | None:
        """Read an expression, or "the year", "the month", "the week": the present ones."""
        if self.words[i] == "the" and self.words[i + 1] in ("week", "month", "year", "decade"):
            inner = self.expression(i, depth + 1)
            return inner or fixed(i + 2, periods.unit(self.words[i + 1], self.today))
        return self.expression(i, depth + 1)

    def _sliced(self, whole: Expression | None, index: int, of: int) -> Expression | None:
        if whole is None:
            return None
        start, end = self.settle(whole)
        if end - start < of * DAY:
            return None
        return whole.part(lambda y: periods.part(whole.of_year(y), index, of))

    def _within(self, whole: Expression, name: str) -> Expression | None:
        """Return "the week of 7 May", "the weekend of"."""
        start, end = self.settle(whole)
        if end - start > 3 * DAY:
            return None

        def of_year(y: int) -> Period:
            return periods.unit(name, whole.of_year(y)[0].date())

        return whole.part(of_year)

    def _offset(self, i: int, depth: int) -> Expression | None:
        """Read "the week before 9 June", "two days after Christmas", "the Sunday before 25 May"."""
        if self.words[i] == "last" and self.words[i + 1] in (*UNITS, *WEEKDAYS):
            i += 1  # "last weekend before 10 April"
        count = self._count(i)
        at = count[2] if count else i
        name = UNITS.get(self.words[at], self.words[at])
        known = name in UNITS or (not count and (name in WEEKDAYS or name in PARTS_OF_DAY))
        if not known or name in CLOCK:
            return None
        if not count and self.words[at].endswith("s") and name in UNITS:
            return None
        direction = self.words[at + 1]
        after = at + 2
        if direction == "prior" and self.words[after] == "to":
            direction = "before"
            after = after + 1
        if direction not in ("before", "after", "following"):
            return None
        sign = -1 if direction == "before" else 1
        if self.words[after] == ("last" if sign < 0 else "next") and name in UNITS and not count:
            beyond = self.expression(after, depth + 1)
            if beyond is None:
                return fixed(after + 1, periods.unit(name, self.today, 2 * sign))
        anchor = self.expression(after, depth + 1)
        if anchor is None:
            return None

        def of_year(y: int) -> Period:
            start, end = anchor.of_year(y)
            if count:
                day = start.date() if sign < 0 else (end - DAY).date()
                return self._away(day, name, count[0], count[1], sign)
            return beside(start, end, name, sign)

        return Expression(anchor.after, of_year, anchor.year, None, anchor.dated, calendar=False)

"""Calendar dates in English: "7 May 2023", "June", "summer 2021", "Q3 2024", "Halloween", "2022".

A date without a year is kept as a function of the year. The year is chosen where the date is used.
"""

from datetime import date, timedelta
from functools import partial

from recollex_engine.dates import periods
from recollex_engine.dates.english_words import (
    DASHES,
    MONTHS,
    SHORT_MONTHS,
    SHORT_WEEKDAYS,
    SPELLED_DAYS,
    WEEKDAYS,
)
from recollex_engine.dates.expression_parser import (
    AHEAD,
    COUNTING,
    Expression,
    ExpressionParser,
    dated,
    fixed,
)
from recollex_engine.dates.numeric_dates import CLOSING, read_numbers
from recollex_engine.dates.periods import (
    BEGINNINGS,
    DAY,
    EARLY_AND_LATE,
    HOLIDAYS,
    LONGEST,
    PARTS_OF_DAY,
    SEASON_STARTS,
    OfYear,
    Period,
    midnight,
)

# Days of a month, and the names of months: "May", "Sept.", "3rd to 5th", "twenty-first".
_SMALL_MONTH_AFTER_WORDS = """
in during since last next of early late mid between until
"""
SMALL_MONTH_AFTER = frozenset(_SMALL_MONTH_AFTER_WORDS.split())
"""Words before "may" or "dec" without a capital that make them months."""
SPELLED = frozenset({*SPELLED_DAYS, "twenty", "thirty"})
"""Words that a spelled day begins with."""


class MonthDayParser(ExpressionParser):
    """Reads the names of months, the numbers of days, and what joins them."""

    def month(self, i: int) -> int | None:
        """Return the number of the month that token `i` names, None if it names none."""
        name = self.words[i]
        if name in SHORT_MONTHS:
            # "dec" and "mar" have other meanings: with a capital or a number they are months
            told = self.numbers.get(i + 1) in COUNTING or self.tokens.capital(i)
            if not told and name != "mar" and i:
                told = self.texts[i - 1] in SMALL_MONTH_AFTER
            return SHORT_MONTHS[name] if told else None
        return MONTHS.get(name)

    def last_day(self, i: int, start: int, first: int) -> tuple[int, int] | None:
        """Return (last day, next token) of "-9", "to the 5th", "and 5th" after the day ``first``.

        "and" needs "between" before the first day, or the next day after it.
        """
        to = self.texts[i] if i < len(self.texts) else ""
        at = i + 1 + (self.words[i + 1] == "the")
        if (last := self.days.get(at)) is None:
            return None
        if to in DASHES or to in ("to", "until", "through"):
            return last, at + 1
        if to == "and" and (self.between(start) or last == first + 1):
            return last, at + 1
        return None

    def is_stop(self, i: int) -> bool:
        """Return whether token `i` is a full stop."""
        return i < len(self.texts) and self.texts[i] == "."

    def after_month(self, i: int) -> int:
        """Return the token after the month ``i``, and after its stop if a date goes on there."""
        after = i + 1
        if self.words[i] not in SHORT_MONTHS or not self.is_stop(after):
            return after
        day = self.numbers.get(after + 1) in COUNTING
        the = self.words[after + 1] == "the" and self.numbers.get(after + 2) == "ordinal"
        comma = self.year_at(after + 1) is not None
        return after + 1 if day or the or comma else after

    def spelled_day(self, i: int) -> tuple[int, int] | None:
        """Return (day, next token) of "third", "twenty-first"."""
        tens = {"twenty": 20, "thirty": 30}.get(self.words[i])
        if tens:
            at = i + 1 + (i + 1 < len(self.texts) and self.texts[i + 1] in DASHES)
            units = SPELLED_DAYS.get(self.words[at], 10)
            return (tens + units, at + 1) if units < 10 and tens + units <= 31 else None
        day = SPELLED_DAYS.get(self.words[i])
        return (day, i + 1) if day else None

    def between(self, i: int) -> bool:
        """Return whether "between" or "between the" stands before token `i`."""
        before = self.texts[max(0, i - 2) : i]
        return before[-1:] == ["between"] or before == ["between", "the"]


_MONTH_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

# A bare year, month, season, weekday or holiday is a time only after one of these prepositions.
_BOUNDS = frozenset({"since", "before", "after", "until", "till", "from"})
YEAR_AFTER = _BOUNDS | {"in", "during", "throughout", "circa"}
MONTH_AFTER = _BOUNDS | {"in", "during", "throughout", "around", "by", "for"}
SEASON_AFTER = MONTH_AFTER | {"over"}
WEEKDAY_AFTER = _BOUNDS | {"on", "by", "for", "about"}
HOLIDAY_AFTER = _BOUNDS | {"at", "on", "for", "during", "over", "around", "by"}
WEEKEND_AFTER = frozenset({"over", "during", "on", "at", "since"})
PREPOSITIONS = SEASON_AFTER | HOLIDAY_AFTER | YEAR_AFTER | frozenset({"of", "within", "about"})
_NO_HOLIDAY_BEFORE_WORDS = """
tree trees card cards present presents gift gifts cookie cookies costume costumes movie movies song
songs island decorations decoration lights market markets egg eggs bunny story carol carols candy
dinner resolution resolutions parade sale sales deal deals
"""
_NO_HOLIDAY_BEFORE = frozenset(_NO_HOLIDAY_BEFORE_WORDS.split())
_NAMES = frozenset({4, 5, 6, 8})  # April, May, June and August are people too
_FOR_A_MONTH_WORDS = """
plan plans planned planning budget budgeted schedule scheduled goal goals target targets agenda
booked forecast report records data figures summary arranged due set
"""
_FOR_A_MONTH = frozenset(_FOR_A_MONTH_WORDS.split())
_NTH_AFTER = _BOUNDS | {"on", "by", "around", *WEEKDAYS}
_TIME_OFF = frozenset({"vacation", "holiday", "holidays", "break", "semester", "term", "season"})


class CalendarDateParser(MonthDayParser):
    """Parses calendar dates; `relative_dates` adds what is counted from now or another date."""

    def calendar_date(self, i: int) -> Expression | None:
        """Return the calendar date that begins at token `i`, with or without its year, or None."""
        if name := self.words[i]:
            return self._named(i, name)
        kind = self.numbers.get(i)
        if kind is None:
            return None
        text = self.texts[i]
        if kind in ("number", "ordinal"):
            day = self._day_month(i)
            return day or (self._bare_year(i) if kind == "number" else self._nth_of_month(i))
        if kind == "iso" and len(text) == 7 and text[5:] > "12":
            return self._two_years(i + 1, int(text[:4]), text[5:])
        if kind == "iso":
            return _iso(text, i + 1)
        if kind == "numeric":
            return self._two_days(i) or self._numeric(i)
        if kind == "decade":
            return self._decade(i)
        if kind == "span":
            first, last = text.split("/")
            return self._two_years(i + 1, int(first), last)
        if kind == "quarter":
            m = int(text[1]) * 3 - 2
            return self.yearless(i + 1, lambda y: periods.month(y, m, 3), MONTH_AFTER)
        return None

    def _two_days(self, i: int) -> Expression | None:
        """Read "25/26 July", "25/26 July 2026"."""
        days = self.texts[i].split("/")
        m = self.month(i + 1)
        if m is None or len(days) != 2 or not int(days[0]) < int(days[1]) <= _MONTH_LENGTHS[m - 1]:
            return None
        return self.yearless(self.after_month(i + 1), _day_range(m, int(days[0]), int(days[1])))

    def _named(self, i: int, name: str) -> Expression | None:
        """Return the calendar date that begins with a word, or None."""
        if name in SPELLED and (day := self._spelled_day_of_month(i)):
            return day
        if name in BEGINNINGS and (holiday := self._holiday(i)):
            return holiday
        if name in WEEKDAYS or name in SHORT_WEEKDAYS:
            return self._named_weekday(i)
        if (month := self.month(i)) is not None:
            return self._month_day(i, month)
        if name in SEASON_STARTS and not self._in_a_name(i):
            after = i + 1 + (self.words[i + 1] in _TIME_OFF)
            return self.yearless(after, lambda y: periods.season(name, y), SEASON_AFTER)
        if name == "weekend" and i and self.texts[i - 1] == "the":
            sign = 1 if self.looking in AHEAD else -1
            saturday = periods.weekend(self.today)
            if sign < 0 and saturday[0] > self.now:
                saturday = (saturday[0] - 7 * DAY, saturday[1] - 7 * DAY)
            return fixed(i + 1, saturday, WEEKEND_AFTER)
        return None

    def _holiday(self, i: int) -> Expression | None:
        """Read "Christmas", "St. Patrick's Day", "Easter weekend"."""
        words: list[str] = []
        ends: list[int] = []
        for at in range(i, min(i + 2 * LONGEST, len(self.texts))):
            if word := self.words[at]:
                words.append(word)
                ends.append(at + 1)
            elif self.texts[at] not in ("'", ".", "-"):
                break
        for length in range(min(LONGEST, len(words)), 0, -1):
            key = tuple(words[:length])
            if key not in HOLIDAYS or _NO_HOLIDAY_BEFORE.intersection(words[length : length + 1]):
                continue
            rule = HOLIDAYS[key]
            after = ends[length - 1]
            stretch = self.words[after]
            if stretch in ("week", "weekend"):
                around = partial(_stretch, rule, stretch)
                return self.yearless(after + 1, around, HOLIDAY_AFTER)
            return self.yearless(after + (stretch in _TIME_OFF), rule, HOLIDAY_AFTER)
        return None

    def _in_a_name(self, i: int) -> bool:
        """Return whether a season is part of a name or of a thing: "Spring Festival", "Fall of"."""
        if i + 1 >= len(self.texts):
            return False
        tokens = self.tokens
        following = self.texts[i + 1]
        if self.words[i + 1] and tokens.capital(i) and tokens.capital(i + 1):
            return True
        if following in DASHES and tokens.joined(i + 1):
            return i + 2 < len(self.texts) and tokens.joined(i + 2)
        return following == "of" and self.year_at(i + 1) is None

    def with_part_of_day(self, i: int, day: date) -> Expression:
        """Return a day, or the part of it that token `i` names."""
        part = self.words[i]
        return fixed(i + (part in PARTS_OF_DAY), _day_or_part(day, part))

    def _bare_year(self, i: int) -> Expression | None:
        text = self.texts[i]
        if len(text) != 4 or not 1000 <= int(text) < 2200:
            return None
        if self.counts(i + 1) or self.before_christ(i + 1):
            return None
        if i + 2 < len(self.texts):
            mark = self.texts[i + 1]
            last = self.texts[i + 2]
            if mark == "/":
                return None
            if mark in DASHES and len(last) == 2 and self.tokens.joined(i + 2):
                return self._two_years(i + 3, int(text), last)
        return dated(i + 1, periods.year, int(text), YEAR_AFTER)

    def _two_years(self, after: int, first: int, last: str) -> Expression | None:
        """Read "2018/19": the twelve months from July of seasons, school and fiscal years."""
        if not last.isdigit() or int(last) % 100 != (first + 1) % 100:
            return None
        return dated(after, lambda y: periods.month(y, 7, 12), first, YEAR_AFTER)

    def _decade(self, i: int) -> Expression | None:
        start = int(self.texts[i].strip("'s"))
        if start >= 1000:
            length = 100 if start % 100 == 0 and start < 2000 else 10  # "the 1800s"
            return dated(i + 1, lambda y: periods.year(y, length), start, YEAR_AFTER | {"of"})
        before = self.texts[i - 1] if i else ""
        if before not in ("the", "early", "mid", "late") and before not in DASHES:
            return None
        start += 1900 if start >= 30 else 2000
        return dated(i + 1, lambda y: periods.year(y, 10), start, YEAR_AFTER | {"of"})

    def _numeric(self, i: int) -> Expression | None:
        """Read "19.01.2024", "19.1.24", "25.12.", "12/25"."""
        numbers = read_numbers(self.tokens, i, self.month_first, self.today.year)
        if numbers is None or not _is_date(*numbers[1:]):
            return None
        y, m, d = numbers
        if y is None:
            return Expression(i + 1, _day_range(m, d, d))
        return dated(i + 1, _day_range(m, d, d), y)

    def _day_month(self, i: int) -> Expression | None:
        """Read "7 May 2023", "7th of May", "7-9 May", "3rd to the 5th of May", "19. May 2023"."""
        start = i
        first = self.days.get(i)
        if first is None:
            return None
        last = first
        i += 1
        if beyond := self.last_day(i, start, first):
            last, i = beyond
        elif self.is_stop(i) and self.month(i + 1) is not None and self.year_at(i + 2):
            i += 1
        i += self.words[i] == "of"
        m = self.month(i)
        if m is None or not first <= last <= _MONTH_LENGTHS[m - 1]:
            return None
        return self.yearless(self.after_month(i), _day_range(m, first, last))

    def _spelled_day_of_month(self, i: int) -> Expression | None:
        """Read "third of May", "twenty-first of January 2024"."""
        day = self.spelled_day(i)
        if day is None or self.words[day[1]] != "of" or (m := self.month(day[1] + 1)) is None:
            return None
        if day[0] > _MONTH_LENGTHS[m - 1]:
            return None
        return self.yearless(self.after_month(day[1] + 1), _day_range(m, day[0], day[0]))

    def _nth_of_month(self, i: int) -> Expression | None:
        """Read "on the 15th", "since the 1st", "Friday the 1st": the latest; ahead, the next."""
        d = self.days.get(i)
        if d is None or i < 2:
            return None
        before = self.texts[i - 2]
        if self.texts[i - 1] != "the" or before not in _NTH_AFTER:
            return None
        closing = CLOSING if self.words[i + 1] else ".;?!)"
        if i + 1 < len(self.texts) and self.texts[i + 1] not in closing:
            return None
        ahead = self.looking in AHEAD
        weekday = WEEKDAYS.get(before)
        steps = range(0, 14) if ahead else range(0, -14, -1)
        for step in steps:
            start, end = periods.month(self.today.year, self.today.month + step)
            day = periods.days((start + (d - 1) * DAY).date())
            if day[1] > end or (weekday is not None and day[0].weekday() != weekday):
                continue
            if day[1] > self.now if ahead else day[0] <= self.now:
                only_after = None if weekday is not None else WEEKDAY_AFTER | {"around"}
                return fixed(i + 1, day, only_after)
        return None

    def _month_day(self, i: int, m: int) -> Expression | None:
        """Read "May 7, 2023", "May 7-9", "May the 7th", "May 2023", "May"."""
        after = self.after_month(i)
        if self.words[after] == "the":
            spelled = self.spelled_day(after + 1)
            if spelled and spelled[0] <= _MONTH_LENGTHS[m - 1] and not self._is_verb(i):
                return self.yearless(spelled[1], _day_range(m, spelled[0], spelled[0]))
            after += self.numbers.get(after + 1) == "ordinal"
        first = self.days.get(after)
        if first is not None and not self.counts(after + 1):
            last = first
            to = self.texts[after + 1] if after + 1 < len(self.texts) else ""
            if (
                (to in DASHES or to in ("to", "through") or (to == "and" and self.between(i)))
                and after + 2 in self.days
                and self.month(after + 3) is None
                and not self.counts(after + 3)
            ):
                last = self.days[after + 2]
                after += 2
            if not first <= last <= _MONTH_LENGTHS[m - 1]:
                return None
            if self.words[after + 1] and self._is_verb(i) and not self.tokens.capital(after + 1):
                return None
            return self.yearless(after + 1, _day_range(m, first, last))
        year = self.year_at(after)
        alone = year is None and (not i or self.texts[i - 1] not in SMALL_MONTH_AFTER)
        if alone and self._is_verb(i):
            return None
        for_whom = year is None and m in _NAMES and i and self.texts[i - 1] == "for"
        if for_whom and _FOR_A_MONTH.isdisjoint(self.texts[:i]):  # "a gift for June"
            return None
        if year is not None:
            return dated(year[1], lambda y: periods.month(y, m), year[0])
        return Expression(after, lambda y: periods.month(y, m), only_after=MONTH_AFTER)

    def _is_verb(self, i: int) -> bool:
        """Return whether a month's name at token `i` is read as a verb: "may", "march"."""
        return self.texts[i] in ("may", "march") and not self.tokens.capital(i)

    def _named_weekday(self, i: int) -> Expression | None:
        """Read "Friday", "Friday night", "Friday last week", "Sunday, 7 May"."""
        name = self.words[i]
        comma = i + 1
        while comma < min(i + 3, len(self.texts)) and self.texts[comma] in (",", "."):
            comma += 1
        at = comma + (self.words[comma] == "the")
        led = at in self.days or self.numbers.get(comma) == "numeric"
        if led or self.month(comma) is not None:
            date_after = self.calendar_date(at)
            if date_after is not None and date_after.only_after is None:
                return date_after
        before = self.texts[i - 1] if i else ""
        if before in ("black", "good", "every"):
            return None
        if name not in WEEKDAYS and (before != "on" or name in ("sat", "sun")):
            return None
        weekday = WEEKDAYS.get(name, SHORT_WEEKDAYS.get(name, 0))
        after = i + 1 + (self.words[i + 1] == "of")
        if self.words[after] in ("last", "this", "next") and self.words[after + 1] == "week":
            week = {"last": -1, "this": 0, "next": 1}[self.words[after]]
            monday = periods.unit("week", self.today, week)[0]
            return fixed(after + 2, periods.days((monday + weekday * DAY).date()))
        part = self.words[i + 1]

        def of_year(_: int) -> Period:  # the tense is read only where the day is a time
            ahead = (weekday - self.today.weekday()) % 7
            if ahead and self.looking not in AHEAD:
                ahead -= 7
            return _day_or_part(self.today + timedelta(days=ahead), part)

        after = i + 1 + (part in PARTS_OF_DAY)
        return Expression(after, of_year, 0, WEEKDAY_AFTER, calendar=False)


def hours(day: date, part: str | tuple[str, str]) -> Period:
    """Return a part of a day, such as "morning"; "early morning" is given as a pair of words."""
    first, last = PARTS_OF_DAY[part] if isinstance(part, str) else EARLY_AND_LATE[part]
    start = midnight(day)
    return start + timedelta(hours=first), start + timedelta(hours=last)


def _day_or_part(day: date, part: str) -> Period:
    return hours(day, part) if part in PARTS_OF_DAY else periods.days(day)


def _stretch(rule: OfYear, name: str, y: int) -> Period:
    """Return the week or weekend that holds a holiday's first day."""
    return periods.unit(name, rule(y)[0].date())


def _day_range(m: int, first: int, last: int) -> OfYear:
    return lambda y: periods.days(date(y, m, first), last - first + 1)


def _iso(text: str, after: int) -> Expression | None:
    """Read 2023-05-07 and 2023-05."""
    y = int(text[:4])
    m = int(text[5:7])
    if len(text) == 7:
        return dated(after, lambda y: periods.month(y, m), y, MONTH_AFTER) if 1 <= m <= 12 else None
    d = int(text[8:10])
    return dated(after, _day_range(m, d, d), y) if _is_date(m, d) else None


def _is_date(m: int, d: int) -> bool:
    return 1 <= m <= 12 and 1 <= d <= _MONTH_LENGTHS[m - 1]

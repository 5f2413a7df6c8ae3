"""Hours of a day: "10:30 on 5 May", "yesterday at 3 pm", "5 May in the evening".

A clock time without a day is ignored: it may be that of any day.
"""

import re
from datetime import datetime, timedelta

from recollex_engine.dates.english_words import DASHES, Tokens
from recollex_engine.dates.expression_parser import Expression, Looking, LookingAt
from recollex_engine.dates.periods import DAY, PARTS_OF_DAY, Period
from recollex_engine.dates.relative_dates import RelativeDateParser

_HOUR = timedelta(hours=1)
_MINUTE = timedelta(minutes=1)
_BY_THE_HOUR = 30 * _MINUTE
_BY_THE_MINUTE = 15 * _MINUTE
"""How far "3 pm" and "10:30" reach to either side."""
_BEFORE_A_CLOCK = frozenset({"at", "around", "about", "by", "between", "from"})
_DOTTED = re.compile(r"(?:[01]?[0-9]|2[0-3])\.[0-5][0-9]").fullmatch
_BEFORE_A_PART = frozenset({"in", "at"})

Hours = tuple[timedelta, timedelta]


class ClockTimeParser(RelativeDateParser):
    """Parses any time expression, and narrows a day to the hours that are named with it."""

    def __init__(
        self,
        tokens: Tokens,
        now: datetime,
        looking_at: LookingAt,
        asks: bool,
        month_first: bool = False,
    ) -> None:
        super().__init__(tokens, now, looking_at, asks, month_first)
        self._read: dict[int, tuple[Expression | None, Looking | None]] = {}
        self._clocks = not {"clock", "junk"}.isdisjoint(tokens.numbers.values())

    def expression(self, i: int, depth: int = 0) -> Expression | None:
        """Return the expression that begins at token `i`, or None; see `RelativeDateParser`."""
        if depth:
            return self._expression(i, depth)
        if read := self._read.get(i):
            found, looked = read
            if looked is None or looked == self.looking:
                return found
        self.looked = None
        found = self._expression(i, depth)
        self._read[i] = found, self.looked
        return found

    def _expression(self, i: int, depth: int) -> Expression | None:
        if self._clocks and (ahead := self._hours(i)):
            return self._of_a_day(*ahead, depth)
        found = super().expression(i, depth)
        if found is None or found.after >= len(self.texts):
            return found
        at = found.after + (self.texts[found.after] == ",")
        word = self.words[at]
        hours = None
        if self._clocks:
            hours = self._hours(at + (word in _BEFORE_A_CLOCK))
        if hours is None and word == "at":
            hours = self._hour_of_a_part(at + 1)
        if hours is None and word in _BEFORE_A_PART:
            hours = self._part_of_day(at)
        if hours is None or not self._is_one_day(found):
            return found
        return _narrowed(found, *hours)

    def _of_a_day(self, after: int, hours: Hours, depth: int) -> Expression | None:
        if after < len(self.texts) and self.texts[after] == ",":
            after += 1
        day = super().expression(after + (self.words[after] in ("on", "of")), depth + 1)
        if day is None or not self._is_one_day(day):
            return None
        return _narrowed(day, day.after, hours)

    def _is_one_day(self, found: Expression) -> bool:
        start, end = self.settle(found)
        return end - start == DAY and start.hour == 0

    def _hours(self, i: int) -> tuple[int, Hours] | None:
        """Return (next token, hours from midnight) of "10:30", "3 pm", "9:00 to 11:00"."""
        dotted = self.numbers.get(i) == "junk" and i and self.words[i - 1] == "at"
        if self.numbers.get(i) != "clock" and not (dotted and _DOTTED(self.texts[i])):
            return None
        at, wide = _time_of_day(self.texts[i])
        joined = i + 2 < len(self.texts) and self.numbers.get(i + 2) == "clock"
        if joined and (self.texts[i + 1] in DASHES | {"to", "and", "until"}):
            end = _time_of_day(self.texts[i + 2])[0]
            if self.texts[i + 2].endswith("m") and not self.texts[i].endswith("m"):
                lent = at + timedelta(hours=12)  # "7:00 to 7:30 pm"
                at = lent if at < timedelta(hours=12) and lent < end else at
            return (i + 3, (at, end)) if at < end else None
        return i + 1, (at - wide, at + wide)

    def _hour_of_a_part(self, i: int) -> tuple[int, Hours] | None:
        """Return the same of "5 in the evening"."""
        hour = self.days.get(i, 0)
        part = self._part_of_day(i + 1) if 1 <= hour <= 12 and self.words[i + 1] == "in" else None
        if part is None:
            return None
        after, (first, last) = part
        for at in (hour % 12 * _HOUR, (hour % 12 + 12) * _HOUR):
            if first <= at < last:
                return after, (at - _BY_THE_HOUR, at + _BY_THE_HOUR)
        return None

    def _part_of_day(self, i: int) -> tuple[int, Hours] | None:
        """Return the same of "in the evening", "at night", "at noon"."""
        if self.words[i] == "at":
            i += 1
        elif self.words[i + 1] == "the":
            i += 2
        if self.words[i] not in PARTS_OF_DAY:
            return None
        first, last = PARTS_OF_DAY[self.words[i]]
        return i + 1, (first * _HOUR, last * _HOUR)


def _narrowed(found: Expression, after: int, hours: Hours) -> Expression:
    def of_year(y: int) -> Period:
        start: datetime = found.of_year(y)[0]
        return start + hours[0], start + hours[1]

    return Expression(after, of_year, found.year, None, found.dated, calendar=False)


def _time_of_day(text: str) -> tuple[timedelta, timedelta]:
    """Return the time since midnight, and how far it reaches to either side."""
    digits = text.rstrip("apm. ")
    hour, _, rest = digits.replace("h", ":").replace(".", ":").partition(":")
    h = int(hour)
    if text.endswith("m"):
        h = h % 12 + (12 if "p" in text else 0)
    minutes = int(rest[:2]) if rest else 0
    return h * _HOUR + minutes * _MINUTE, _BY_THE_MINUTE if rest else _BY_THE_HOUR

"""Days of a month, and the names of months: "May", "Sept.", "3rd to 5th", "twenty-first"."""

from recollex_engine.dates.english_words import DASHES, MONTHS, SHORT_MONTHS, SPELLED_DAYS
from recollex_engine.dates.expression_parser import COUNTING, ExpressionParser

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

"""What every parser of time expressions needs: tokens, the local time, the choice of a year."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from recollex_engine.dates.english_words import Tokens
from recollex_engine.dates.numeric_dates import full_year
from recollex_engine.dates.periods import OfYear, Period

Looking = Literal["past", "nearest", "coming", "future"]
AHEAD = ("coming", "future")
"""Where a weekday and a day of the month are the coming ones."""
LookingAt = Callable[[int | None], Looking]
"""How the sentence of a token looks at its times; None before there is a token to look from."""

COUNTING = ("number", "ordinal")
"""The kinds of tokens that may be a day of a month."""
_AFTER_END = ("",) * 16
_NEAR = timedelta(days=30)
"""A day that lies as near is meant, whatever the tense: one a year away is told with its year. So
is a month that ended as lately."""
_DAY = timedelta(days=1)
_MONTH = timedelta(days=31)
_YEARS = 8
"""How far from this year an occurrence is looked for: 29 February needs eight."""

_BEFORE_CHRIST = frozenset({"bc", "bce", "b"})
_UNCOUNTED_WORDS = """
was is has does this as his its us always perhaps vs sometimes afterwards towards besides across
plus thus unless it's that's whereas onwards afterwards
"""
_UNCOUNTED = frozenset(_UNCOUNTED_WORDS.split())
_COUNTED_WORDS = """
people men women children feet percent km kg m ms mg mb gb ft lb usd eur dollar euro mile rpm hp am
pm
"""
_COUNTED = frozenset(_COUNTED_WORDS.split())


@dataclass(slots=True)  # several a text: a frozen class costs three times as long
class Expression:
    """A time expression that was read.

    after: the index of the next token.
    of_year: `of_year(y)` is its period if it is in year `y`.
    year: the year that it names, 0 if no year matters ("yesterday"), None if it must be chosen.
    only_after: the prepositions that make it a time (one must stand before it); None if it needs
    no preposition.
    dated: a year was written out.
    calendar: it is a date of the calendar, without hours and not counted from another day.
    """

    after: int
    of_year: OfYear
    year: int | None = None
    only_after: frozenset[str] | None = None
    dated: bool = False
    calendar: bool = True

    def part(self, of_year: OfYear) -> "Expression":
        """Return a part of this expression, or a step from it, which needs no preposition."""
        return Expression(self.after, of_year, self.year, None, self.dated, self.calendar)


class ExpressionParser:
    """The base of the parsers: the `tokens` of a text that was said at the local time `now`.

    words: the texts of the words, "" for other tokens and some places after the end. numbers: see
    `Tokens`. days: place -> number, of the tokens that may be a day of a month.
    looking_at: how the sentence of a token looks; asked only where it matters. place: the token
    from which a time is being read.
    asks: whether it is a question: "last spring" is then the previous calendar year's, as in the
    papers, otherwise the latest one that is over.
    month_first: if true, 5/7/2023 is 7 May, otherwise 5 July.
    """

    def __init__(
        self,
        tokens: Tokens,
        now: datetime,
        looking_at: LookingAt,
        asks: bool,
        month_first: bool = False,
    ) -> None:
        self.tokens = tokens
        self.texts = tokens.texts
        self.words = [*tokens.words, *_AFTER_END]
        self.numbers = numbers = tokens.numbers
        self.days = {
            i: day
            for i, kind in numbers.items()
            if kind in COUNTING and 1 <= (day := int(self.texts[i].rstrip("stndrh"))) <= 31
        }
        self.now = now
        self.today = now.date()
        self.place: int | None = None
        self.looked: Looking | None = None
        self._looking_at = looking_at
        self.asks = asks
        self.month_first = month_first

    @property
    def looking(self) -> Looking:
        """How to choose the year of "in June" and the day of "on Friday"; `looked` keeps it.

        "past": the latest that has begun. "future": the next that is not over. "nearest": the
        nearer of these two, and the latest weekday. "coming": the nearer, and the coming weekday.
        """
        self.looked = looking = self._looking_at(self.place)
        return looking

    def settle(self, expression: Expression) -> Period:
        """Return the period of an expression; if it names no year, the year is chosen."""
        if expression.year is not None:
            return expression.of_year(expression.year)
        return self._chosen(expression.of_year, self.looking)

    def _chosen(self, of_year: OfYear, looking: Looking) -> Period:
        """Return the latest begun, the next unfinished or the nearest occurrence."""
        possible = []
        for y in range(self.today.year - _YEARS, self.today.year + _YEARS + 1):
            try:
                possible.append(of_year(y))
            except (ValueError, OverflowError):
                continue
        begun = [period for period in possible if period[0] <= self.now]
        unfinished = [period for period in possible if period[1] > self.now]
        if not possible:
            raise ValueError("no year from 1 to 9999 has this day")
        if not self.asks and self._is_near(nearest := self._nearest(possible)):
            return nearest
        if begun and (looking == "past" or not unfinished):
            return begun[-1]
        if looking == "future" or not begun:
            return unfinished[0]
        return self._nearest(possible)

    def _nearest(self, possible: list[Period]) -> Period:
        return min(possible, key=lambda p: abs(p[0] + (p[1] - p[0]) / 2 - self.now))

    def _is_near(self, period: Period) -> bool:
        """Return whether a day is `_NEAR` to come, or a day or a month was over so lately."""
        start, end = period
        if end <= self.now:
            return self.now - end <= _NEAR and end - start <= _MONTH
        return start - self.now <= _NEAR and end - start <= _DAY

    def counts(self, i: int) -> bool:
        """Return whether token `i` is a thing that is counted: a number before it is no date."""
        if i >= len(self.texts):
            return False
        word = self.words[i]
        if not word:
            return self.texts[i] in "%\u00b0"
        if word not in _COUNTED and not (word.endswith("s") and len(word) > 2):
            return False
        return word not in _UNCOUNTED and not self.tokens.capital(i)

    def yearless(
        self, after: int, of_year: OfYear, only_after: frozenset[str] | None = None
    ) -> Expression:
        """Return a yearly expression: in the year written after it, without one in any year."""
        if (year := self.year_at(after)) is not None:
            return dated(year[1], of_year, year[0])
        return Expression(after, of_year, only_after=only_after)

    def year_at(self, i: int) -> tuple[int, int] | None:
        """Return (year, next token) if a year stands at token `i`, after a date; otherwise None.

        It reads "2023", ", 2023", "of 2023", "(2023)", "'23", "of last year".
        """
        if i >= len(self.texts):
            return None
        opened = self.texts[i]
        if opened in (",", "(") or (opened in ("of", "in") and self.words[i]):
            i += 1
        if self.words[i] in ("last", "this", "next") and self.words[i + 1] == "year":
            return self.today.year + {"last": -1, "this": 0, "next": 1}[self.words[i]], i + 2
        short = i < len(self.texts) and self.texts[i] == "'"
        i += short
        if self.numbers.get(i) != "number" or self.counts(i + 1):
            return None
        digits = self.texts[i]
        if short:
            return (full_year(digits, self.today.year), i + 1) if len(digits) == 2 else None
        if len(digits) != 4 or not 1000 <= int(digits) < 3000 or self.before_christ(i + 1):
            return None
        closed = opened == "(" and i + 1 < len(self.texts) and self.texts[i + 1] == ")"
        return int(digits), i + 1 + closed

    def before_christ(self, i: int) -> bool:
        """Return whether token `i` says that the year before it is before Christ."""
        return self.words[i] in _BEFORE_CHRIST


def fixed(after: int, period: Period, only_after: frozenset[str] | None = None) -> Expression:
    """Return an expression whose period is known."""
    return Expression(after, lambda _: period, 0, only_after, calendar=False)


def dated(
    after: int, of_year: OfYear, year: int, only_after: frozenset[str] | None = None
) -> Expression:
    """Return an expression whose year was written out."""
    return Expression(after, of_year, year, only_after, dated=True)

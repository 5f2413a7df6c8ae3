"""Which stretch of time a text speaks of: a small English grammar, microseconds a call.

`find_range` reads a question and looks back from now; `resolve` reads a statement at the time it
was made. Both return None rather than a guess: a number in a port, a version, a price, an address
or a count is no year, "may" and "march" are verbs unless they stand where a month does, 5/7/2023 is
two different days, "recently" and "soon" are nothing. A day that its
month lacks leaves the month.

What the words mean (TEMPR 3.1.4 and Memora 3.1.4 where they say):

- a season is three whole months, spring from March, a winter from the December of its year;
- weeks begin on Monday, "weekend" is Saturday and Sunday, a night lasts from 18:00 to 06:00;
- "last week", "last month", "last year" are the calendar unit before this one, "the past week" and
  "the last two weeks" end today; "two weeks ago" is the calendar week two before this one, likewise
  months and years; "a few" is two to five, "several" three to seven, "a couple" two;
- "last Friday" and "next Friday" are strictly before and after today, "this Friday" is this week's;
- "the week before 9 June" is the seven days before it, "two weeks before" the calendar week then;
- early, mid and late are thirds, "the second week of June" its days 8 to 14;
- "since" and "after" reach to now (to the end of time if they begin later), "before" and "until"
  from the beginning of time (`EARLIEST`).
"""

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple

from recollex_engine.calendar_dates import PREPOSITIONS, Expression, Looking
from recollex_engine.periods import HOLIDAYS, PARTS_OF_DAY, SEASON_STARTS, Period
from recollex_engine.time_expressions import Reader
from recollex_engine.time_words import (
    DASHES,
    LAST,
    MONTHS,
    NEXT,
    NUMBERS,
    ORDINALS,
    SHORT_MONTHS,
    SHORT_WEEKDAYS,
    THIRDS,
    THIRDS_OF,
    UNITS,
    WEEKDAYS,
    tokens_of,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

EARLIEST = (datetime(1, 1, 1, tzinfo=UTC) - _EPOCH) // _MICROSECOND
"""The start of a range that has none, such as "before 2020"."""
LATEST = (datetime(9999, 12, 31, tzinfo=UTC) - _EPOCH) // _MICROSECOND
"""The end of a range that begins after now and has none."""

# A text without one of `_NAMED`, a number that may be a year, or one of `_COUNTED` beside one of
# `_COUNTING` is not read at all.
_NAMED = frozenset(
    {*MONTHS, *SHORT_MONTHS, *WEEKDAYS, *SHORT_WEEKDAYS, *SEASON_STARTS, "weekend", "q"}
    | {"yesterday", "today", "tonight", "tomorrow", "century"}
    | {word for name in HOLIDAYS for word in name}
) - {"of", "new", "day", "year", "years"}
_COUNTED = frozenset({*UNITS, *PARTS_OF_DAY})
_COUNTING = frozenset(
    {"ago", "this", "current", "before", "after", "following", "prior", "from", "in"}
    | LAST | NEXT | {*THIRDS, *THIRDS_OF}
)  # fmt: skip
# The words that an expression begins with, behind any of `_LEADING`.
_BEGINNING = frozenset(
    _NAMED | _COUNTED | LAST | NEXT | {*THIRDS, *THIRDS_OF, *ORDINALS, *NUMBERS}
    | {"this", "current", "new", "few", "couple", "several", "year"}
) - {"a", "an"}  # fmt: skip
_NUMERIC = frozenset({"iso", "slash", "ordinal", "decade", "number"})
_LEADING = PREPOSITIONS | {"the", "a", "an", "between", "following", "prior", "up", "to"}
_WORDS = re.compile("[a-z]+").findall
_YEAR = re.compile("(?<![0-9a-z])[0-9]{4}(?![0-9a-z])|(?<![a-z])[0-9]0s(?![0-9a-z])").search
_FUTURE = re.compile(
    r"\b(?:will|shall|gonna|won't|going to|plan to|plans to|planning|hope to|hoping to|upcoming"
    r"|looking forward|can't wait|excited for|scheduled|next)\b|'ll\b",
    re.IGNORECASE,
)
_TO = frozenset({"to", "until", "till", "through", "thru"}) | DASHES
_REACHING_BACK = frozenset({"before", "until", "till", "by"})
_REACHING_ON = frozenset({"since", "after", "following"})


class TimeRange(NamedTuple):
    """A half-open range of int64 microseconds UTC, and the words of the text that say it."""

    start: int
    end: int
    text: str
    span: tuple[int, int]


def find_range(text: str, now_us: int, tz: tzinfo = UTC) -> TimeRange | None:
    """Return the range of time a question asks about, or None.

    It looks back: "in June" is the latest June that has begun, "on Friday" the latest Friday, and
    "last spring" the previous calendar year's, as the papers have it. `tz` is where the asker's
    days begin. Of several times the first that names its year counts, otherwise the first. A range
    that leaves the years 1 to 9999 is None. Never raises on any text.

    Cost: about 4 us without a word of time, 70 us with one in 12 words.

    >>> now = 1_763_000_000_000_000  # 13 November 2025
    >>> find_range("What did Alice do last spring?", now)
    TimeRange(start=1709251200000000, end=1717200000000000, text='last spring', span=(18, 29))
    >>> find_range("Is port 2019 open?", now) is None
    True
    """
    if not _may_hold_a_time(text):
        return None
    now = _local(now_us, tz)
    if now is None:
        return None
    reader = Reader(tokens_of(text), now, "past", last_is_previous_year=True)
    first: TimeRange | None = None
    for found in _Scan(text, reader, now_us, tz):
        if found.dated:
            return found.range
        first = first or found.range
    return first


def resolve(text: str, at_us: int, tz: tzinfo = UTC) -> TimeRange | None:
    """Return when what a statement made at `at_us` speaks of happens, or None.

    The first time in the text counts. Where the text speaks of the future ("will", "going to",
    "next", ...) a bare month or weekday is the coming one and "in two weeks" is read; otherwise a
    weekday is the latest one, a bare month, season or holiday the nearest, and "last summer" the
    latest one that is over. "Since", "before" and the like say no more than a bound, and are
    passed over. Never raises on any text; costs as `find_range`.

    >>> resolve("We met yesterday", 1_763_000_000_000_000)
    TimeRange(start=1762905600000000, end=1762992000000000, text='yesterday', span=(7, 16))
    """
    if not _may_hold_a_time(text):
        return None
    now = _local(at_us, tz)
    if now is None:
        return None
    looking: Looking = "future" if _FUTURE.search(text.replace("\u2019", "'")) else "nearest"
    reader = Reader(tokens_of(text), now, looking, last_is_previous_year=False)
    for found in _Scan(text, reader, at_us, tz):
        if not found.bound:
            return found.range
    return None


class _Found(NamedTuple):
    range: TimeRange
    dated: bool
    bound: bool


class _Match(NamedTuple):
    """A time read from tokens `first` to `after`; None is an end without bound."""

    first: int
    after: int
    start: datetime | None
    end: datetime | None
    dated: bool


class _Scan:
    """The times of a text, from left to right."""

    def __init__(self, text: str, reader: Reader, now_us: int, tz: tzinfo) -> None:
        self._text = text
        self._reader = reader
        self._now_us = now_us
        self._tz = tz
        self._next = 0
        self._begins = [
            token.kind in _NUMERIC or token.text in _BEGINNING or token.text[:1] == "q"
            for token in reader.tokens
        ] + [False] * 3

    def __iter__(self) -> "_Scan":
        return self

    def __next__(self) -> _Found:
        tokens = self._reader.tokens
        while self._next < len(tokens):
            i = self._next
            self._next += 1
            if not self._begins[i]:
                lead = i  # "up to the last week": at most three leading words
                while lead < i + 3 and lead < len(tokens) and tokens[lead].text in _LEADING:
                    lead += 1
                if lead == i or not self._begins[lead]:
                    continue
            try:
                match = self._range(i) or self._bound(i) or self._plain(i)
                found = match and self._in_utc(match)
            except (ValueError, OverflowError):  # 30 February, or beyond the years 1 to 9999
                continue
            if match and found:
                self._next = match.after
                return found
        raise StopIteration

    def _range(self, i: int) -> _Match | None:
        """Read "between A and B", "from A to B", "A to B"."""
        opener = self._reader.word(i)
        first = i + 1 if opener in ("between", "from") or opener in PREPOSITIONS else i
        left = self._reader.expression(first)
        if left is None or left.after >= len(self._reader.tokens):
            return None
        joiner = self._reader.tokens[left.after].text
        if joiner not in _TO and not (opener == "between" and joiner == "and"):
            return None
        right = self._reader.expression(left.after + 1)
        if right is None:
            return None
        if opener not in ("between", "from"):
            if not (left.calendar and right.calendar):
                return None
            led = left.only_after is None or opener in left.only_after
            if not led and (first != i or right.only_after is not None):
                return None
        start, end = self._joined(left, right)
        begins = i if opener in ("between", "from") else first
        return _Match(begins, right.after, start, end, left.dated or right.dated)

    def _joined(self, left: Expression, right: Expression) -> Period:
        """Return the start of `left` and the end of `right`; one may lend the other its year."""
        if left.year is None:
            if right.year:
                start = left.of_year(right.year)[0]
                end = right.of_year(right.year)[1]
                return (left.of_year(right.year - 1)[0] if start >= end else start), end
            start = self._reader.settle(left)[0]
        else:
            start = left.of_year(left.year)[0]
        if right.year is not None:
            return start, right.of_year(right.year)[1]
        end = right.of_year(start.year)[1]
        return start, (right.of_year(start.year + 1)[1] if end <= start else end)

    def _bound(self, i: int) -> _Match | None:
        """Read "since A", "before A", "after A", "until A", "by A", "from A on"."""
        word, first = self._reader.word(i), i + 1
        if word in ("prior", "up") and self._reader.word(i + 1) == "to":
            word, first = "before" if word == "prior" else "until", i + 2
        if word not in _REACHING_BACK and word not in _REACHING_ON and word != "from":
            return None
        expression = self._reader.expression(first)
        if expression is None or not self._may_follow(expression, word):
            return None
        start, end = self._reader.settle(expression)
        after = expression.after
        if word == "from":
            if self._reader.word(after) not in ("on", "onward", "onwards"):
                return None
            after += 1
        if word in _REACHING_BACK:
            return _Match(i, after, None, start if word == "before" else end, expression.dated)
        reached = end if word in ("after", "following") else start
        return _Match(i, after, reached, None, expression.dated)

    def _plain(self, i: int) -> _Match | None:
        first = i
        expression = self._reader.expression(i)
        if expression is None or expression.only_after is not None:
            first = i + 1
            expression = self._reader.expression(first)
            if expression is None or not self._may_follow(expression, self._reader.word(i)):
                return None
        start, end = self._reader.settle(expression)
        return _Match(first, expression.after, start, end, expression.dated)

    def _may_follow(self, expression: Expression, word: str) -> bool:
        """Return whether `expression` is a time behind this preposition."""
        word = "after" if word == "following" else word
        if expression.only_after is None:
            return word in PREPOSITIONS
        tokens, after = self._reader.tokens, expression.after
        if after + 1 < len(tokens) and tokens[after].text in _TO | {"and"}:
            glued = tokens[after].text in DASHES and tokens[after].start == tokens[after - 1].end
            if glued or tokens[after + 1].kind == "number":  # "spring-loaded", "from 2000 to 2500"
                return False
        return word in expression.only_after

    def _in_utc(self, match: _Match) -> _Found | None:
        start = EARLIEST if match.start is None else _utc(match.start, self._tz)
        if match.end is not None:
            end = _utc(match.end, self._tz)
        else:
            end = self._now_us if start < self._now_us else LATEST
        if start >= end:  # reversed, or a day that its zone skipped
            return None
        tokens = self._reader.tokens
        span = tokens[match.first].start, tokens[match.after - 1].end
        found = TimeRange(start, end, self._text[span[0] : span[1]], span)
        return _Found(found, match.dated, match.start is None or match.end is None)


def _may_hold_a_time(text: str) -> bool:
    lower = text.lower()
    words = _WORDS(lower)
    if not _NAMED.isdisjoint(words):
        return True
    if not _COUNTED.isdisjoint(words) and not _COUNTING.isdisjoint(words):
        return True
    return _YEAR(lower) is not None


def _local(at_us: int, tz: tzinfo) -> datetime | None:
    try:
        return (_EPOCH + timedelta(microseconds=at_us)).astimezone(tz).replace(tzinfo=None)
    except OverflowError:
        return None


def _utc(local: datetime, tz: tzinfo) -> int:
    return (local.replace(tzinfo=tz) - _EPOCH) // _MICROSECOND

"""Which range of time does a text speak of? A small English grammar answers in microseconds.

`find_range` reads a question and looks back from now; `find_event_range` reads a statement at the
time it was made. Both return None rather than a guess: a number in a port, a version, a price, an
address or a count is no year; "may" and "march" are verbs unless they stand where a month does; a
version, a fraction or a number at a sentence's end is no date; "recently" and "soon" name no range.
If a month lacks the day that is written, the range is the month.

The entry points are here. `scanner` finds the times of a text at the places that `leads`
names, `tense` its sentences of the future; the parsers of one expression are `calendar_dates`
("7 May 2023"), `numeric_dates` ("19.01.2024"), `relative_dates` ("last Friday") and `clock_times`
("3 pm").

What the words mean (as in TEMPR 3.1.4 and Memora 3.1.4 where these define it):

- a season is three whole months, spring from March, a winter from the December of its year;
- weeks begin on Monday, "weekend" is Saturday and Sunday, a night lasts from 18:00 to 06:00;
- "last week", "last month", "last year" are the calendar unit before this one, "the past week" and
  "the last two weeks" end today; "two weeks ago" is the calendar week two before this one, likewise
  months and years; "a few" is two to five, "several" three to seven, "a couple" two;
- "last Friday" and "next Friday" are strictly before and after today, "this Friday" is this week's;
- "the week before 9 June" is the seven days before it, "two weeks before" the calendar week then;
- early, mid and late are thirds, "the second week of June" its days 8 to 14;
- "since" and "after" reach to now (to the end of time if they begin later), "from June on" to the
  end of time (`LATEST`), "before" and "until" from the beginning of time (`EARLIEST`); in "before
  he joined in 2010" and "since she moved in May" the date's own time belongs to the range;
- "around" and "circa" add half the length on both sides, three days at least;
- "3 pm" with a day is half an hour to either side, "15:30" a quarter of an hour; "early morning" is
  4:00 to 9:00;
- "May and June", "3 June, 6 June and 28 June" last from the first to the last;
- "2018/19" and "2018-19" are the twelve months from July of a season or a school year;
- 5/7/2023, 5.7.2023 and 5.7. are 5 July, with `month_first` 7 May; 25.12. and 12/25 are read either
  way; a year of two digits is at most five years ahead; "the 21st" is the latest 21st;
- a holiday whose day differs between countries ("National Day", "Labor Day") names no range.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

from recollex_engine.clock import EPOCH, MICROSECOND
from recollex_engine.dates.clock_times import ClockTimeParser
from recollex_engine.dates.english_words import Tokens
from recollex_engine.dates.scanner import Scanner, TimeMatch, leads, may_name_a_time
from recollex_engine.dates.tense import Tense

_LOCAL_EPOCH = datetime(1970, 1, 1)

EARLIEST = (datetime(1, 1, 1, tzinfo=UTC) - EPOCH) // MICROSECOND
"""The start of a range without a start, such as "before 2020"."""
LATEST = (datetime(9999, 12, 31, tzinfo=UTC) - EPOCH) // MICROSECOND
"""The end of a range that begins after now and has no end."""
_BEFORE = 64
"""Number of characters before a time that may say when a thing was made."""
READ = 100_000
"""Number of characters of a statement whose times are read."""
_AFTER = 256
"""Number of characters after these that may belong to a time which begins in them."""

_OPENING_CLAUSE = re.compile(
    r"\W*(?:after|once|when|following|before|since|while|having)\b[^,]*$", re.IGNORECASE
)
_FRONTED = re.compile(
    r"\W*+(?:(?:in|on|during|from|between|at|by|since|before|as of)\W*+)?(?:the\b\W*+)?$",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(
    r"\b(?:founded|born|built|established|opened|created|released|published|launched|invented"
    r"|introduced|held|signed|sunk|discovered)\W++(?:(?:in|on|during|from|between)\W*+)?(?:the\b\W*+)?$",
    re.IGNORECASE,
)


class TimeRange(NamedTuple):
    """A half-open range of int64 microseconds UTC, and the words of the text that name it.

    named: the range that a bound counts from, June of "since June"; None if this is no bound.
    """

    start: int
    end: int
    text: str
    span: tuple[int, int]
    named: tuple[int, int] | None = None


def find_range(
    text: str, now_us: int, tz: tzinfo = UTC, month_first: bool = False
) -> TimeRange | None:
    """Return the range of time a question asks about, or None.

    It looks back: "in June" is the latest June that has begun, "on Friday" the latest Friday, and
    "last spring" the previous calendar year's spring, as in the papers. In a sentence that asks of
    what is to come and has no verb of the past, they are the coming ones (see `tense`). `tz` is the
    time zone in which the asker's days begin, `month_first` the order of day and month in numbers.
    A range that leaves the years 1 to 9999 is None. Never raises on any text.

    If the text names several times, those with a year have priority. Among these the one that
    opens the last sentence is chosen, otherwise the last one that does not say when a thing was
    made ("the firm founded in 1990"). If no time has a year, the first one is chosen, or the second
    where the first stands in a clause "After ..., ".

    Cost: linear, 1 us a word, and 10 to 30 us for each time.

    >>> now = 1_763_000_000_000_000  # 13 November 2025
    >>> find_range("What did Alice do last spring?", now)[:3]
    (1709251200000000, 1717200000000000, 'last spring')
    >>> find_range("Is port 2019 open?", now) is None
    True
    """
    if not may_name_a_time(text):
        return None
    now = local_time(now_us, tz)
    tokens = Tokens(text)
    starts = leads(tokens)
    if now is None or not starts:
        return None
    parser = ClockTimeParser(tokens, now, Tense(text, tokens, True), True, month_first)
    found = [
        (match, located)
        for match in Scanner(parser, starts)
        if (located := _in_utc(match, tokens, text, now_us, tz))
    ]
    if len(found) < 2:
        return found[0][1] if found else None
    dated = [located for match, located in found if match.dated]
    return _choose_dated(text, dated) if dated else _choose_undated(text, [r for _, r in found])


def _choose_dated(text: str, dated: list["TimeRange"]) -> "TimeRange":
    """Return the one of several dated times that the question is about.

    It is the one that opens the last sentence, else the last that does not say when a thing was
    made.
    """
    sentence = max(text.rfind(mark, 0, len(text) - 1) for mark in (". ", "? ", "! ")) + 1
    for found in dated:
        if found.span[0] >= sentence and _FRONTED.match(text, sentence, found.span[0]):
            return found
    for found in reversed(dated):
        at = found.span[0]
        if not _ATTRIBUTE.search(text, max(0, at - _BEFORE), at):
            return found
    return dated[-1]


def _choose_undated(text: str, found: list["TimeRange"]) -> "TimeRange":
    """Return the first time; the second if the first is in a clause "After ..., " before it."""
    first = found[0]
    second = found[1]
    opening = _OPENING_CLAUSE.match(text[: first.span[0]])
    return second if opening and "," in text[first.span[1] : second.span[0]] else first


def find_event_range(
    text: str, at_us: int, tz: tzinfo = UTC, month_first: bool = False
) -> TimeRange | None:
    """Return when the event happens that a statement made at `at_us` speaks of, or None.

    The first time in the text counts. If its clause looks ahead ("will", "arrives", "is due", see
    `tense`), a month or weekday without a year is the coming one and "in two weeks" is read; after
    a verb of the past they are the latest ones. Otherwise a weekday is the latest one, a month,
    season or holiday without a year the nearest one, and "last summer" the latest that is over.
    "Since", "before" and the like give only a bound and are skipped. Never raises on any text.
    Cost: as `find_range`.

    >>> find_event_range("We met yesterday", 1_763_000_000_000_000)[:3]
    (1762905600000000, 1762992000000000, 'yesterday')
    """
    return next(find_event_ranges(text, at_us, tz, month_first), None)


def find_event_ranges(
    text: str, at_us: int, tz: tzinfo = UTC, month_first: bool = False, bounds: bool = False
) -> Iterator["TimeRange"]:
    """Yield all the times of a statement, as `find_event_range` returns the first.

    Only those are read that begin in the first `READ` characters.

    bounds: also those that give only a bound, such as "since 2016".
    """
    text = text[: READ + _AFTER]
    if not may_name_a_time(text):
        return
    now = local_time(at_us, tz)
    tokens = Tokens(text)
    starts = leads(tokens)
    if now is None or not starts:
        return
    parser = ClockTimeParser(tokens, now, Tense(text, tokens, False), False, month_first)
    for match in Scanner(parser, starts):
        skipped = match.bound and not bounds
        found = None if skipped else _in_utc(match, tokens, text, at_us, tz)
        if found and found.span[0] < READ:
            yield found


def _in_utc(
    match: TimeMatch, tokens: Tokens, text: str, now_us: int, tz: tzinfo
) -> TimeRange | None:
    try:
        start = EARLIEST if match.start is None else utc_micros(match.start, tz)
        if match.end is not None:
            end = utc_micros(match.end, tz)
        else:
            end = LATEST if match.open_end or start >= now_us else now_us
        named = match.named and (utc_micros(match.named[0], tz), utc_micros(match.named[1], tz))
    except (ValueError, OverflowError):  # beyond the years 1 to 9999
        return None
    if start >= end:  # a day that the time zone skipped
        return None
    span = tokens.span(match.first, match.after - 1)
    return TimeRange(start, end, text[span[0] : span[1]], span, named)


def local_time(at_us: int, tz: tzinfo) -> datetime | None:
    """Return a moment as a naive local time, None outside the years 1 to 9999."""
    try:
        if tz is UTC:
            return _LOCAL_EPOCH + at_us * MICROSECOND
        return (EPOCH + at_us * MICROSECOND).astimezone(tz).replace(tzinfo=None)
    except OverflowError:
        return None


def utc_micros(local: datetime, tz: tzinfo) -> int:
    """Return a naive local time in microseconds."""
    if tz is UTC:
        since = local - _LOCAL_EPOCH
        return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    return (local.replace(tzinfo=tz) - EPOCH) // MICROSECOND

"""Ranges of time in other languages: English first, then `dateparser` where it is safe."""

import importlib.util
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from typing import Any, NamedTuple

from recollex_engine.dates import periods
from recollex_engine.dates.foreign_words import (
    JOINED,
    OPENED,
    SINCE,
    UNSPACED,
    UNTIL,
    Vocabulary,
    spoken,
    vocabulary,
)
from recollex_engine.dates.parser_options import check_month_first, check_zone
from recollex_engine.dates.periods import Period
from recollex_engine.dates.time_range import (
    EARLIEST,
    LATEST,
    TimeRange,
    find_range,
    local_time,
    utc_micros,
)
from recollex_engine.errors import InputError

LANGUAGES = ("de", "fr", "es", "zh", "ja")
"""The languages that are tested; any other language code of `dateparser` may be given."""

_KANA = re.compile("[\u3040-\u30ff]")
_HAN = re.compile("[\u4e00-\u9fff]")
_NUMBERS = re.compile(r"\d+")
_FOUR_DIGITS = re.compile(r"(?<!\d)[12]\d{3}(?!\d)")

_BEFORE = 64
"""Number of characters before a time that may say that it is a bound."""


class _Mention(NamedTuple):
    start: int
    end: int
    phrase: str
    period: Period
    dated: bool


@dataclass(frozen=True, slots=True)
class ManyLanguages:
    """Reads English by the grammar and other languages through `dateparser`.

    A text in English, or in none of ``languages``, is read as by `EnglishDates`. In another
    language an explicit expression (see `foreign_words`) is read as the day, week, month or year
    that it names; "von 2019 bis 2021", "seit Mai 2022" and the like are ranges and bounds. Seasons,
    holidays and parts of a day are read in English only.

    month_first: the order of day and month in an English text, as for `EnglishDates`.

    Needs ``pip install 'recollex[languages]'``; raises `InputError` without it.

    Cost: as `EnglishDates` for English, about 1 ms for another language; the first text in a
    language loads `dateparser` (0.4 s).

    >>> asked = 1_700_042_400_000_000  # 15 November 2023
    >>> ManyLanguages().find("Was hat Anna im Mai 2022 gemacht?", asked).text
    'Mai 2022'
    """

    languages: tuple[str, ...] = LANGUAGES
    tz: tzinfo = UTC
    month_first: bool | None = None

    def __post_init__(self) -> None:
        """Refuse to be made without `dateparser`, or without a language."""
        if importlib.util.find_spec("dateparser") is None:
            raise InputError("ManyLanguages needs dateparser: pip install 'recollex[languages]'")
        if not self.languages:
            raise InputError("languages must name one language at least, such as 'de'")
        given: object = self.languages
        if not isinstance(given, tuple | list) or not all(isinstance(n, str) for n in given):
            raise InputError(f"languages must be a list such as ('de', 'fr'), got {given!r}")
        check_zone(self.tz)
        check_month_first(self.month_first)

    @property
    def name(self) -> str:
        """Return "languages"."""
        return "languages"

    def find(self, text: str, now: int) -> TimeRange | None:
        """Return the range of time that ``text`` is about, or None."""
        local = local_time(now, self.tz)
        codes = self._codes(text)
        if local is None or not codes:
            return find_range(text, now, self.tz, self.month_first is True)
        english = (
            find_range(text, now, self.tz, self.month_first is True) if len(codes) > 1 else None
        )
        if english is not None:
            return english
        for code in codes:
            try:
                found = self._read(text, code, local, now)
            except (ValueError, OverflowError):  # beyond the years 1 to 9999
                continue
            if found is not None:
                return found
        return find_range(text, now, self.tz, self.month_first is True)

    def _codes(self, text: str) -> list[str]:
        """Return the language of ``text``; several if it is not clear, none for English."""
        unspaced = [code for code in self.languages if code[:2] in UNSPACED]
        if _KANA.search(text):
            return [code for code in unspaced if code == "ja"]
        if _HAN.search(text):
            return unspaced[:1]
        spaced = [code for code in self.languages if code not in unspaced]
        told = spoken(text, spaced)
        if told == "en":
            return []
        return [told] if told else spaced

    def _read(self, text: str, code: str, local: datetime, now: int) -> TimeRange | None:
        """Return the first range of ``text`` that names a year, else the first."""
        words = vocabulary(code)
        mentions = [
            mention
            for match in words.date.finditer(text)
            if (mention := self._mention(match, words, local)) is not None
        ]
        found = [self._range(text, mentions, n, now) for n in range(len(mentions))]
        ranges = [one for one in found if one is not None]
        return next((one for one, dated in ranges if dated), ranges[0][0] if ranges else None)

    def _mention(self, match: re.Match[str], words: Vocabulary, local: datetime) -> _Mention | None:
        groups = match.groupdict()
        group = next((key for key in ("month", "year") if groups.get(key)), 0)
        start, end = match.span(group)
        phrase = match[group]
        written = _FOUR_DIGITS.findall(phrase)
        if group == "year":
            period = periods.year(int(phrase))
        elif not words.spaced and phrase[0].isdigit() and "前" not in phrase and "后" not in phrase:
            period = _in_digits(phrase, local)
        else:
            parser = self._parser(words.code, local)
            data = parser.get_date_data(phrase)
            if data.date_obj is None:
                data = parser.get_date_data(words.in_digits(phrase))
            if data.date_obj is None or (written and str(data.date_obj.year) not in written):
                return None
            unit = data.period if data.period in ("week", "month", "year") else "day"
            period = periods.unit(unit, data.date_obj.date())
        return _Mention(start, end, phrase, period, bool(written))

    def _parser(self, code: str, local: datetime) -> Any:
        from dateparser.date import DateDataParser

        settings = {
            "RELATIVE_BASE": local,
            "PREFER_DATES_FROM": "past",
            "PREFER_DAY_OF_MONTH": "first",
            "PREFER_MONTH_OF_YEAR": "first",
        }
        return DateDataParser(languages=[code], settings=settings)

    def _range(
        self, text: str, mentions: list[_Mention], n: int, now: int
    ) -> tuple[TimeRange, bool] | None:
        """Return the range that begins at mention ``n``, and whether it names a year."""
        one = mentions[n]
        start: datetime | None = one.period[0]
        end: datetime | None = one.period[1]
        first = one.start
        last = one.end
        dated = one.dated
        if n + 1 < len(mentions):
            other = mentions[n + 1]
            between = text[one.end : other.start]
            if JOINED.fullmatch(between) and (_led(OPENED, text, first) or other.dated):
                if other.dated and not one.dated:
                    start = _in_year(one.period[0], other.period[0])
                end = other.period[1]
                last = other.end
                dated = one.dated or other.dated
        if last == one.end and (led := _led(SINCE, text, first)):
            first = led.start()
            end = None
        elif last == one.end and (led := _led(UNTIL, text, first)):
            first = led.start()
            start = None
        start_us = EARLIEST if start is None else utc_micros(start, self.tz)
        end_us = utc_micros(end, self.tz) if end else (now if start_us < now else LATEST)
        if start_us >= end_us:
            return None
        return TimeRange(start_us, end_us, text[first:last], (first, last)), dated


def _led(words: re.Pattern[str], text: str, at: int) -> re.Match[str] | None:
    """Return where such words stand just before a time."""
    return words.search(text, max(0, at - _BEFORE), at)


def _in_year(start: datetime, other: datetime) -> datetime:
    """Return ``start`` in the year of the range's end, or in the year before."""
    lent = start.replace(year=other.year)
    return lent if lent <= other else start.replace(year=other.year - 1)


def _in_digits(phrase: str, local: datetime) -> Period:
    """Return the period of "2023年5月7日", "2023年5月", "2023年", "5月7日"."""
    numbers = [int(number) for number in _NUMBERS.findall(phrase)]
    if not phrase.replace(" ", "")[4:].startswith("年"):
        month, day = numbers
        this = periods.days(date(local.year, month, day))
        return this if this[0] <= local else periods.days(date(local.year - 1, month, day))
    if len(numbers) == 1:
        return periods.year(numbers[0])
    if len(numbers) == 2:
        return periods.month(numbers[0], numbers[1])
    return periods.days(date(*numbers))

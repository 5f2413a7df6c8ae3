"""Ranges of time in other languages: English first, then `dateparser` where it is safe.

The words that name times in other languages, from the vocabulary of `dateparser`.
`dateparser` finds a date in nearly any text ("die", "2000", "5 m"). So a regular expression, made
of its own vocabulary, first finds what it may read: a month with a day or a year, a month after a
preposition, a full weekday, "vor zwei Wochen", "上周", "2023年5月7日". A number alone, an
abbreviation alone and a count of hours are never read.
"""

import importlib.util
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from functools import cache
from typing import Any, NamedTuple

from recollex_engine.dates import periods
from recollex_engine.dates.english_words import MONTHS
from recollex_engine.dates.locales import check_month_first, check_zone
from recollex_engine.dates.periods import WEEKDAY_NAMES, Period
from recollex_engine.dates.time_range import (
    EARLIEST,
    LATEST,
    TimeRange,
    find_range,
    local_time,
    utc_micros,
)
from recollex_engine.errors import InputError

# Words that tell a language from English; a word of both languages is in neither list.
_FUNCTION_WORDS = {
    "de": "der das und ist hat ich wir sie er es im am wann wer wo wie mit von vom zum nicht ein"
    " eine einen haben wurde vor über seit zwischen dem den des auf für mir mein",
    "fr": "le la les des du est était une un il elle je nous vous qui que quoi où quand avec pour"
    " dans sur en et au aux fait été ce cette ma qu depuis entre",
    "es": "el la los las del es fue una un que qué quién quiénes cuándo dónde cómo con por para en"
    " y se hizo ha han mi su desde entre hace lo al",
    "it": "il lo gli del della è era una un che chi quando dove come con per nel nella di hanno mio"
    " sua dal tra",
    "pt": "o os as do da dos é foi uma um que quem quando onde como com para na em de meu sua desde"
    " entre há fez",
    "nl": "het een en heeft ik wij zij hij wanneer wie waar hoe met van niet dat op voor sinds"
    " tussen",
    "en": "the what did is are were who whom when where how of and with from had her his she they"
    " it this that to for by my you which about there",
}
_FUNCTIONS = {code: frozenset(words.split()) for code, words in _FUNCTION_WORDS.items()}
UNSPACED = frozenset({"zh", "ja"})
"""Languages that put no spaces between words."""

_LETTERS = re.compile(r"[^\W\d_]+")

_NUMERALS = {
    "de": "einem zwei drei vier fünf sechs sieben acht neun zehn",
    "fr": "un deux trois quatre cinq six sept huit neuf dix",
    "es": "un dos tres cuatro cinco seis siete ocho nueve diez",
    "it": "un due tre quattro cinque sei sette otto nove dieci",
    "pt": "um dois três quatro cinco seis sete oito nove dez",
    "nl": "een twee drie vier vijf zes zeven acht negen tien",
    "zh": "一 二 三 四 五 六 七 八 九 十",
    "ja": "一 二 三 四 五 六 七 八 九 十",
}
_MORE_NUMERALS = {
    "de": {"einer": "1", "ein": "1"},
    "fr": {"une": "1"},
    "es": {"una": "1"},
    "zh": {"两": "2"},
}

_BEFORE_A_MONTH = (
    "im in en em nel di du de del di seit depuis desde dal da bis hasta zwischen entre"
)
_BEFORE_A_YEAR = (
    r"im jahre?|jahr|seit|von|bis|und|zwischen|en l'an|en l'année|en|depuis|de|à|et|entre|desde"
    r"|hasta|del? año|el año|año|em|nel|dal|al|a|tra|sinds|van|tussen|in|y|e|tot"
)
_DIGITS = (
    r"\d{4}\s*年(?:\s*\d{1,2}\s*月(?:\s*\d{1,2}\s*[日号])?)?(?![前後后代間间])"
    r"|\d{1,2}\s*月\s*\d{1,2}\s*[日号]"
)
_PRONOUN = re.compile(r"^(?:el|la|l'|il|lo|o|a)\s*")

JOINED = re.compile(
    r"\s*+(?:bis|und|à|au|et|al?|hasta|y|e|até|tot|en|至|到|から|[〜~-]|\u2013|\u2014)\s*+"
    r"(?:(?:le|la|el|il|den|dem|zum)\b\s*+)?",
    re.IGNORECASE,
)
"""The words between the two ends of a range."""
OPENED = re.compile(
    r"(?:\b(?:zwischen|entre|tra|tussen|von|vom|de|du|dal?|van|desde)(?:\s+(?:dem|le|el))?|从)\s*$",
    re.IGNORECASE,
)
"""The words before a range."""
SINCE = re.compile(
    r"(?:\b(?:seit|depuis|desde|dal|sinds)(?:\s+(?:dem|le|el))?|自从?)\s*$", re.IGNORECASE
)
UNTIL = re.compile(
    r"(?:\b(?:bis|jusqu'(?:en|au|à)|hasta|até|fino al?|tot)(?:\s+(?:zum|le|el))?|直到)\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words that name times in one language.

    date: matches what may be read. If the match begins with a preposition, the date alone is its
    group "month" or "year".
    spaced: whether there are spaces between words.
    numerals: number words and their digits.
    """

    code: str
    spaced: bool
    date: re.Pattern[str]
    numerals: Mapping[str, str]

    def in_digits(self, phrase: str) -> str:
        """Return ``phrase`` with its number words as digits."""
        if not self.spaced:
            return "".join(self.numerals.get(mark, mark) for mark in phrase)
        return " ".join(self.numerals.get(word.lower(), word) for word in phrase.split())


def spoken(text: str, codes: Iterable[str]) -> str:
    """Return the language of a text in Latin letters: one of ``codes``, "en" for English, or "".

    Function words are counted; a language without a list of them is never recognised.
    """
    words = _LETTERS.findall(text.lower())
    counts = {code: sum(word in _FUNCTIONS.get(code, ()) for word in words) for code in codes}
    english = sum(word in _FUNCTIONS["en"] for word in words)
    best = max(counts, key=lambda code: counts[code], default="")
    if best and counts[best] > english:
        return best
    return "en" if english else ""


@cache
def vocabulary(code: str) -> Vocabulary:
    """Return the vocabulary of a language. Cost: about 10 ms, once.

    Raises ValueError for a language that `dateparser` does not know.
    """
    from dateparser.languages.loader import default_loader

    info = default_loader.get_locale(code).info
    spaced = not info.get("no_word_spacing")
    names = _NUMERALS.get(code, "").split()
    numerals = {name: str(n) for n, name in enumerate(names, 1)} | _MORE_NUMERALS.get(code, {})
    months = [name for key in MONTHS for name in info[key]]
    weekdays = [name for key in WEEKDAY_NAMES for name in info[key]]
    phrases = [
        phrase
        for meaning, several in info["relative-type"].items()
        if re.search("day|week|month|year", meaning)
        for phrase in several
    ]
    relative = [
        *map(re.escape, phrases),
        *(re.escape(_PRONOUN.sub("", phrase)) for phrase in phrases if spaced),
        *_counted(info["relative-type-regex"], numerals, spaced),
    ]
    if not spaced:
        named = [re.escape(name) for name in weekdays if len(name) > 1]
        return Vocabulary(
            code, spaced, re.compile("|".join([_DIGITS, *_long(relative + named)])), numerals
        )
    month = f"(?:{'|'.join(_long(map(re.escape, months)))})"
    whole = f"(?:{'|'.join(_long(re.escape(name) for name in months if len(name) > 2))})"
    named = [re.escape(name) for name in weekdays if len(name) > 4]
    of = r"(?:\s+(?:de|del|di|do))?"
    year = r"[12]\d{3}"
    pattern = (
        rf"(?<!\w)(?:\d{{1,2}}(?:\.|er|º|°)?{of}\s+{month}\.?(?:{of}\s+{year})?"
        rf"|{month}\.?{of}\s+{year}"
        rf"|{'|'.join(_long(relative + named))}"
        rf"|\d{{1,2}}\.\d{{1,2}}\.{year}"
        rf"|(?:{'|'.join(_BEFORE_A_MONTH.split())})\s+(?P<month>{whole}(?:\.?{of}\s+{year})?)"
        rf"|(?:{_BEFORE_A_YEAR})\s+(?P<year>{year})(?=\s*(?:$|[.,;:?!)-]|(?:{_AFTER_A_YEAR})\b))"
        rf")(?!\w|-\w)"
    )
    return Vocabulary(code, spaced, re.compile(pattern, re.IGNORECASE), numerals)


_AFTER_A_YEAR = "bis|und|à|et|a|hasta|y|e|al|até|tot|en"


def _counted(info: Mapping[str, list[str]], numerals: Mapping[str, str], spaced: bool) -> list[str]:
    """Return what matches "vor zwei Wochen": the locale's patterns, extended by number words."""
    number = rf"(?:{'|'.join([r'[0-9]{1,3}', *map(re.escape, numerals)])})"
    found = []
    for meaning, several in info.items():
        if not re.search("(?:day|week|month|year)s? ago", meaning):
            continue  # hours, and "in zwei Wochen", which may be a duration
        for one in several:
            unit = re.split(r"\([^()]*\)", one)[-1].strip()
            if spaced and len(unit) < 3 and unit != "an":
                continue  # "vor 5 m"
            found.append(re.sub(r"\(\\d[^()]*\)", lambda _: number, one))
    return found


def _long(words: Iterable[str]) -> list[str]:
    """Return distinct words, the longest first, so that the longest alternative matches."""
    return sorted(set(words), key=lambda word: (-len(word), word))


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
    language an explicit expression is read as the day, week, month or year
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
    tz: tzinfo | None = None
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
        local = local_time(now, self.tz or UTC)
        codes = self._codes(text)
        if local is None or not codes:
            return find_range(text, now, self.tz or UTC, self.month_first is True)
        english = (
            find_range(text, now, self.tz or UTC, self.month_first is True)
            if len(codes) > 1
            else None
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
        return find_range(text, now, self.tz or UTC, self.month_first is True)

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
        start_us = EARLIEST if start is None else utc_micros(start, self.tz or UTC)
        end_us = utc_micros(end, self.tz or UTC) if end else (now if start_us < now else LATEST)
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

"""What do the words of a question say? Its cues, its terms and its quotes.

They depend on the words alone, so the readings of recent questions are kept: an agent asks again
when a caller pages, retries or asks several agents. The time that a question names depends on when
it is asked, and is read each time (see `time_range`).
"""

import re
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import or_

from recollex_engine.dates.time_parser import EnglishDates, in_locale
from recollex_engine.dates.time_range import forget_questions
from recollex_engine.dates.time_words import may_hold_a_time, may_name_time
from recollex_engine.recall.question_words import CUES, ROLE, SEVERAL, TIMES, each, words_in
from recollex_engine.text.analyzer import Analyzer, ParsedQuery
from recollex_engine.text.naming_words import naming
from recollex_engine.text.question_cues import Cues, cues_of, read_cues

KEPT = 512
"""Number of recent questions whose readings are kept."""
LONGEST = 1_000
"""Number of characters of the longest question that is kept: all of them take 4 MB at most."""
_MANY = 64
"""Number of words from which on a question repeats so many that each is looked up once."""
_WORD_CHARACTERS = b"abcdefghijklmnopqrstuvwxyz0123456789'-"
_WORDS = bytes(code if code in _WORD_CHARACTERS or code > 127 else 32 for code in range(256))
# ASCII, letters with accents, and marks that part words: what such a text says, its words say.
_IS_LATIN = re.compile(
    "[\x00-\x7f\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017e"
    "\u00a1\u00a3\u00ab\u00b0\u00bb\u00bf\u2013\u2014\u20ac]*"
).fullmatch
# Quotation marks within what is one word without them: `well"-known"`, `3."5"`.
_JOINS = re.compile(
    r'"(?:(?<=[a-z0-9\'\x80-\U0010ffff-].)|(?<=[0-9][.,].))"*'
    r'(?:[a-z0-9\'\x80-\U0010ffff-]|[.,]"*[0-9])'
).search
_POINT = re.compile(r"\.[0-9]").search
_COMMA = re.compile(",[0-9]").search
_NUMBERS = bytes.maketrans(b"123456789,", b"000000000.")
_JOINED = b"0.0"  # by `_NUMBERS`: "3.5", "10,000"


@dataclass(slots=True)  # a frozen class costs three times as long; recalls share it unchanged
class Reading:
    """What the words of a question say.

    searched: the terms of ``parsed`` that are searched. A word that only asks for the present
    ("now") is no word of the answer, and is left out. timeless: `find_range` finds no time.
    """

    cues: Cues
    parsed: ParsedQuery
    searched: tuple[str, ...]
    timeless: bool


def read_question(analyzer: Analyzer, text: str) -> Reading:
    """Return what the words of a question say.

    Cost: 6 us for a new question of 50 characters, twice that within a recall, where caches are
    cold; 0.2 us for a recent one.

    >>> read_question(Analyzer(), "Where does Ann live now?").searched
    ('ann', 'live')
    """
    return _recent(analyzer, text) if len(text) <= LONGEST else _read(analyzer, text)


def _read(analyzer: Analyzer, text: str) -> Reading:
    straight = text.replace("\u2019", "'")
    if straight.isascii() or _IS_LATIN(straight):
        cues, parsed, timeless = _read_words(analyzer, text, straight)
    else:
        cues = read_cues(text)
        parsed = analyzer.query(text)
        timeless = not may_hold_a_time(text)
    searched = parsed.terms
    if cues.present not in ("", "current"):
        said = analyzer.query(cues.present).terms
        searched = tuple(term for term in searched if term not in said)
    return Reading(cues, parsed, searched, timeless)


def _read_words(analyzer: Analyzer, text: str, straight: str) -> tuple[Cues, ParsedQuery, bool]:
    """Read a question in Latin letters by what each of its words says.

    straight: the text with straight apostrophes.
    """
    lower = straight.lower()
    words = _words_of(lower)
    if not words:
        return cues_of(lower, 0, frozenset()), analyzer.query(text), True
    look_up = words_in(analyzer).__getitem__
    said = dict.fromkeys(words) if len(words) > _MANY else words
    terms, names, all_signs = zip(*map(look_up, said), strict=True)
    signs = reduce(or_, all_signs)
    phrases, bare = analyzer.quotes(text) if '"' in text else ((), text)
    if bare is not text and _JOINS(lower):
        again = _words_of(bare.replace("\u2019", "'").lower())
        if again != words:
            terms, _, all_signs = zip(*map(look_up, again), strict=True)
            signs |= reduce(or_, all_signs) & SEVERAL
    if signs & SEVERAL:
        terms = tuple(each(terms))
        names = tuple(each(names))
    found = {*names}
    found.discard(None)
    named = naming(text, found, signs & ROLE != 0)
    parsed = ParsedQuery(tuple(filter(None, dict.fromkeys(terms))), phrases, bare)
    return cues_of(lower, signs >> CUES, named), parsed, not may_name_time(lower, signs & TIMES)


def _words_of(lower: str) -> list[str]:
    """Return the words of a text in Latin letters, in lower case. "3.5" and "10,000" are one."""
    data = lower.encode()
    words = data.translate(_WORDS)
    if ("." in lower and _POINT(lower)) or ("," in lower and _COMMA(lower)):
        numbers = data.translate(_NUMBERS)
        held = bytearray(words)
        at = -1
        while (at := numbers.find(_JOINED, at + 1)) >= 0:
            held[at + 1] = data[at + 1]
        words = bytes(held)
    return words.decode().split()


_recent = lru_cache(maxsize=KEPT)(_read)


def forget_readings() -> None:
    """Forget what was read of recent questions, so that a benchmark asks each as a new one."""
    _recent.cache_clear()
    forget_questions()


def named_time(text: str, now: int, locale: str) -> tuple[int, int] | None:
    """Return the time [start, end) that a question asked at ``now`` names; None for none.

    >>> from recollex_engine.clock import from_micros
    >>> start, end = named_time("Who came in May 2023?", 1_763_000_000_000_000, "en-GB")
    >>> from_micros(start).date().isoformat(), from_micros(end).date().isoformat()
    ('2023-05-01', '2023-06-01')
    """
    found = in_locale(EnglishDates(), locale).find(text, now)
    return None if found is None else (found.start, found.end)

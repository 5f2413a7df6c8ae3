"""Which texts may name a time? Only these are parsed.

A text may name one if it has

- a word that may be a time by itself ("yesterday", "May"), or
- a word that is counted ("week") and one that counts ("last", "in") or makes a holiday of a day
  ("mother's"), or
- a number that may be a year or a date, or "the 21st".
"""

import re

from recollex_engine.dates.english_words import LAST, NEXT, THIRDS, THIRDS_OF
from recollex_engine.dates.holidays import OF_A_DAY
from recollex_engine.dates.time_places import COUNTED, NAMED

_NAMED_BIT = 1
_COUNTED_BIT = 2
_COUNTING_BIT = 4
_NUMBER_BIT = 8
_BOTH = _COUNTED_BIT | _COUNTING_BIT
BITS = 4
"""Number of bits of `time_signs`."""
_COUNTING = frozenset(
    {"ago", "this", "current", "before", "after", "following", "prior", "from", "in"}
    | LAST | NEXT | {*THIRDS, *THIRDS_OF} | OF_A_DAY
)  # fmt: skip
_NAMED, _COUNTED_HERE, _COUNTING_HERE = (
    frozenset(word.encode() for word in words) for words in (NAMED, COUNTED, _COUNTING)
)
_SIGNS = {
    word: _NAMED_BIT * (word in NAMED)
    | _COUNTED_BIT * (word in COUNTED)
    | _COUNTING_BIT * (word in _COUNTING)
    for word in NAMED | COUNTED | _COUNTING
}
_LETTERS = bytes(code if code in b"abcdefghijklmnopqrstuvwxyz" else 32 for code in range(256))
_NO_DIGITS = bytes(code for code in range(256) if code not in b"0123456789")
_YEAR = re.compile(
    "(?<![0-9a-z])[0-9]{4}(?![0-9a-z])|(?<![a-z])[0-9]0s(?![0-9a-z])|the [0-9]{1,2}(?:st|nd|rd|th)"
    "|(?<![0-9a-z_./-])[0-9]{1,2}[./][0-9]{1,2}(?:[./]|(?![0-9a-z]))"
).search

# Each match of `_YEAR` has one of these within one word.
_NUMBER = re.compile(
    "(?<![0-9a-z])(?:[0-9]{4}(?![0-9a-z])|[0-9]{1,2}(?:st|nd|rd|th|(?![0-9a-z])))"
    "|(?<![a-z])[0-9]0s(?![0-9a-z])"
).search


def may_hold_a_time(text: str) -> bool:
    """Return False only for a text that names no time. Cost: 1 us.

    >>> may_hold_a_time("Who came in May?"), may_hold_a_time("Who came?")
    (True, False)
    """
    lower = text.lower()
    data = lower.encode("ascii", "replace")  # bytes.translate is faster than str.translate
    words = data.translate(_LETTERS).split()
    if not _NAMED.isdisjoint(words):
        return True
    if not _COUNTED_HERE.isdisjoint(words) and not _COUNTING_HERE.isdisjoint(words):
        return True
    return data.translate(None, _NO_DIGITS) != b"" and _YEAR(lower) is not None


def time_signs(lower: str) -> int:
    """Return the bits by which a text, in lower case, may name a time.

    Those of a text are those of its words together.
    """
    data = lower.encode("ascii", "replace")
    words = data.translate(_LETTERS).split()
    signs = 0 if _NAMED.isdisjoint(words) else _NAMED_BIT
    if not _COUNTED_HERE.isdisjoint(words):
        signs |= _COUNTED_BIT
    if not _COUNTING_HERE.isdisjoint(words):
        signs |= _COUNTING_BIT
    numbered = data.translate(None, _NO_DIGITS) and _NUMBER(lower)
    return signs | _NUMBER_BIT if numbered else signs


def time_signs_of_word(word: str) -> int:
    """Return `time_signs` of a word of a-z."""
    return _SIGNS.get(word, 0)


def may_name_time(lower: str, signs: int) -> bool:
    """Return False only for a text, in lower case with these `time_signs`, that names no time."""
    if signs & _NAMED_BIT or signs & _BOTH == _BOTH:
        return True
    return bool(signs & _NUMBER_BIT) and _YEAR(lower) is not None

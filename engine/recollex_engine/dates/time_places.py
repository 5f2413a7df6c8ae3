"""Where may a time stand in a text? Only there it is read.

Each time has a word that names it ("May", "week") or a number that may be a date. What stands
before and after it in the expression are words and marks of a closed list.
"""

import re

from recollex_engine.dates.calendar_dates import PREPOSITIONS
from recollex_engine.dates.english_words import (
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
    Tokens,
)
from recollex_engine.dates.holidays import BEGINNINGS, HOLIDAYS, TELLING
from recollex_engine.dates.month_days import SPELLED
from recollex_engine.dates.periods import PARTS_OF_DAY, SEASON_STARTS

# Words that may be a time, or that are counted from one or are a part of one.
_NAMING = frozenset(
    {*MONTHS, *SHORT_MONTHS, *WEEKDAYS, *SHORT_WEEKDAYS, *SEASON_STARTS, "weekend", "q"}
    | {"yesterday", "today", "tonight", "tomorrow", "century", *UNITS, *PARTS_OF_DAY}
    | TELLING
)
_DATING = frozenset({"iso", "numeric", "span", "ordinal", "decade", "quarter"})
# The words that an expression begins with; words of `_LEADING` may stand before them.
_BEGINNING = frozenset(
    _NAMING | LAST | NEXT | {*THIRDS, *THIRDS_OF, *ORDINALS, *NUMBERS} | BEGINNINGS | SPELLED
    | {"this", "current", "few", "couple", "several", "season"}
) - {"a", "an"}  # fmt: skip
_NUMERIC = _DATING | {"number", "clock"}
_LEADING = PREPOSITIONS | {"the", "a", "an", "between", "following", "prior", "up", "to"}
# What else may stand before the word that names a time.
_CONNECTING = DASHES | {"and", "half", ",", ".", "'"} | {word for name in HOLIDAYS for word in name}

_DIGIT = re.compile("[0-9]")
_LETTERS = re.compile("[a-z]+")


def may_name_a_time(text: str) -> bool:
    """Return False only for a text without a digit and without a word that names a time.

    >>> may_name_a_time("Who came in May?"), may_name_a_time("Who came?")
    (True, False)
    """
    words = _LETTERS.findall(text.lower())
    return not _NAMING.isdisjoint(words) or _DIGIT.search(text) is not None


def leads(tokens: Tokens) -> set[int]:
    """Return the places of the tokens that a time may begin with.

    They are found from each word that names a time, back over what may stand before it in an
    expression: the beginnings of an expression, and up to three leading words right before one.
    """
    texts = tokens.texts
    numbers = tokens.numbers
    named = [i for i, text in enumerate(texts) if text in _NAMING]
    for i, kind in numbers.items():
        if kind in _DATING or (kind == "number" and len(texts[i]) == 4):
            named.append(i)
    found: set[int] = set()
    for i in named:
        leading = 0
        while i >= 0:
            if texts[i] in _BEGINNING or numbers.get(i) in _NUMERIC:
                if i in found:  # what stands before it was found from another word
                    break
                leading = 0
            elif texts[i] in _LEADING:
                leading += 1
            elif texts[i] in _CONNECTING:
                leading = 4
            else:
                break
            if leading <= 3:
                found.add(i)
            i -= 1
    return found

"""Dates written in numbers: "2023-05-07", "19.01.2024", "19.1.24", "12/25", "2024.01.19".

Day and month stand in the order of a locale. If only one order gives a date ("25.12.", "12/25"),
the date is read in that order, whatever the locale says.
"""

from recollex_engine.dates.english_words import WEEKDAYS, Tokens

DateNumbers = tuple[int | None, int, int]
"""Year, month and day; the year is None if none was written."""

_FULL_YEAR = 4  # digits
_MONTHS = 12
_SEPTEMBER_11 = "9/11"
_LEADING_WORDS = """
in of from after by during around about for to and or the at was is date dated day
"""
_SURELY_LEADING = frozenset(("on", "since", "until", "till", "before", "between", "am"))
_LEADING = frozenset(_LEADING_WORDS.split()) | _SURELY_LEADING | frozenset(WEEKDAYS)
_JOINING = frozenset(("to", "and", "or", "until", "till", "through", "-", "\u2013"))
_VERSIONED_WORDS = """
version versions release releases upgrade upgraded python section sections chapter firmware build
driver kernel ip v
"""
_VERSIONED = frozenset(_VERSIONED_WORDS.split())
_LOOKED_BACK = 6  # tokens

_CLOSING_WORDS = """
at in with to and or about for when because but so did was were is do does i we you he she they it
my our until till that
"""
CLOSING = frozenset(_CLOSING_WORDS.split())
"""Words that may follow "12/25" or "on the 21st": before other words they are no dates."""


def read_numbers(tokens: Tokens, i: int, month_first: bool, this_year: int) -> DateNumbers | None:
    """Return the date in numbers at token ``i``, None if it is none.

    A year of two digits is at most five years after ``this_year``. A version ("2.10.24"), a
    fraction ("3/4 of it") or a number at the end of a sentence ("by 2.5.") is no date: without a
    full year, the words around must be those of a date.
    """
    text = tokens.texts[i].replace(" ", "")
    separator = "." if "." in text else "/" if "/" in text else "-"
    parts = [part for part in text.split(separator) if part]
    if len(parts[0]) == _FULL_YEAR:
        return int(parts[0]), int(parts[1]), int(parts[2])
    year = None
    if len(parts) == 2:
        if text == _SEPTEMBER_11 or not _is_yearless(tokens, i):
            return None
    elif len(parts[2]) == _FULL_YEAR:
        year = int(parts[2])
    elif _is_led(tokens, i):
        year = full_year(parts[2], this_year)
    else:
        return None
    first = int(parts[0])
    second = int(parts[1])
    month, day = (first, second) if month_first else (second, first)
    if month > _MONTHS:
        month, day = day, month
    return year, month, day


def full_year(digits: str, this_year: int) -> int:
    """Return the year of two digits: of this century, if it is at most five years ahead."""
    year = this_year // 100 * 100 + int(digits)
    return year - 100 if year > this_year + 5 else year


def _is_led(tokens: Tokens, i: int) -> bool:
    """Return whether what stands before "19.1.24" may stand before a date, and no version."""
    before = tokens.texts[max(0, i - _LOOKED_BACK) : i]
    if not before or before[-1] in _SURELY_LEADING:
        return True
    if not _VERSIONED.isdisjoint(before):
        return False
    return not tokens.words[i - 1] or before[-1] in _LEADING


def _is_yearless(tokens: Tokens, i: int) -> bool:
    """Return whether "25.12." or "12/25" stands where only a date does, and no other number."""
    texts = tokens.texts
    numbers = tokens.numbers
    joined = "." in texts[i] and i + 2 < len(texts) and texts[i + 1] in _JOINING
    if joined and numbers.get(i + 2) == "numeric" and texts[i + 2][-4:].isdigit():
        return True
    if i + 1 < len(texts) and tokens.words[i + 1] and texts[i + 1] not in CLOSING:
        return False
    lead = texts[i - 1] if i else ""
    if lead in _SURELY_LEADING:
        return True
    if lead == "from":
        return numbers.get(i + 2) == "numeric" and texts[i + 1] in _JOINING
    return i > 1 and lead in _JOINING and numbers.get(i - 2) == "numeric"

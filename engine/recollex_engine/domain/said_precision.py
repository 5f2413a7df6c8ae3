"""How precisely was a time said? A note on a fact's uncertainty tells it: "parsed: in May 2022".

A note is "to the month", "start to the year, end to the month", or the words that were parsed.
"""

import re
from functools import lru_cache
from typing import Literal, cast

from recollex_engine.dates.english_words import MONTHS, SHORT_MONTHS

Unit = Literal["year", "month", "week", "day", "moment"]

_PRECISION = re.compile(r"(?:(start|end) )?to the (year|month|day)")
_DIVIDED = re.compile(r"\b(?:to|until|till|through|and)\b|[\u2013\u2014]|\s-\s|/", re.I)
_DAY_NUMBER = re.compile(r"\b\d{1,2}(?:st|nd|rd|th)?\b")
_MONTH = re.compile(rf"\b(?:{'|'.join([*MONTHS, *SHORT_MONTHS])})\b", re.I)
_ISO = re.compile(r"\b\d{4}(-\d\d)?(-\d\d)?\b")
_CLOCK = re.compile(r"\d:\d\d|\d ?[ap]m\b", re.I)


@lru_cache(maxsize=4096)
def said_units(uncertainty: str | None) -> tuple[Unit, Unit]:
    """Return how precise the start and the end of a valid time are, by the words that gave it.

    >>> said_units("parsed: from May 1983 to 1986"), said_units(None)
    (('month', 'year'), ('moment', 'moment'))
    >>> said_units("start to the day, end to the year"), said_units("to the month")
    (('day', 'year'), ('month', 'month'))
    """
    units = cast(dict[str, Unit], dict(_PRECISION.findall(uncertainty or "")))
    if units and ": " not in (uncertainty or ""):
        both: Unit = units.get("", "moment")
        return units.get("start", both), units.get("end", both)
    tag, _, words = (uncertainty or "").partition(": ")
    if tag not in ("parsed", "approximate") or not words:
        return "moment", "moment"
    pieces = _DIVIDED.split(words)
    named = [unit for piece in pieces if (unit := _unit(piece)) is not None]
    return (named[0], named[-1]) if named else ("moment", "moment")


def _unit(words: str) -> Unit | None:
    if _CLOCK.search(words):
        return "moment"
    if (iso := _ISO.search(words)) is not None and (iso[1] or not _MONTH.search(words)):
        return "day" if iso[2] else "month" if iso[1] else "year"
    if _MONTH.search(words):
        return "day" if _DAY_NUMBER.search(_ISO.sub("", words)) else "month"
    return None

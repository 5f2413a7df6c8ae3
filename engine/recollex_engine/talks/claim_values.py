"""What kind of value does a claim name? A day, a time of day, an amount, a place, a name, a thing.

A correction such as "no, it is Tuesday" names no subject. What it corrects is found by the kind of
its value: a day replaces a day, and "fine" replaces nothing.
"""

import re

from recollex_engine.clock import MONTH_NAMES

_MONTH = rf"(?:{'|'.join(MONTH_NAMES)}|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)"
_WEEKDAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
_ORDINAL = r"(?:\d{1,2}(?:st|nd|rd|th)|first|second|third|fourth|fifth|ground|top)"
_AMOUNT = r"\d(?:[\d.,]*\d)?k?"
_CAPITAL = r"[A-Z\u00c0-\u00d6\u00d8-\u00de]"
NAME = rf"{_CAPITAL}[\w&'-]*\.?(?: (?:(?:of|de|da|van|von|the|and the) )?{_CAPITAL}[\w&'-]*)*"
"""A capitalised sequence, such as "University of Oslo"."""

_KINDS = {
    "day": re.compile(
        rf"(?:(?:next|this|the following) )?{_WEEKDAY}"
        rf"|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? \d{{4}})?"
        rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?|\d{{4}}-\d\d-\d\d"
        rf"|{_MONTH}(?: \d{{4}})?|tomorrow|(?:next|this) (?:week|month|year)"
    ),
    "clock": re.compile(
        r"\d{1,2}(?:[:.]\d\d)?(?: ?(?:am|pm|a\.m\.|p\.m\.|o'clock))?|noon|midnight"
        r"|half past \w+|quarter (?:past|to) \w+"
    ),
    "money": re.compile(
        rf"[$\u20ac\u00a3] ?{_AMOUNT}"
        rf"|{_AMOUNT} ?(?:dollars?|euros?|pounds?|bucks|yen|francs|USD|EUR|GBP)"
    ),
    "number": re.compile(rf"{_AMOUNT}(?: (?:percent|kg|km|people|guests|years old|%))?"),
    "room": re.compile(rf"[Rr]oom \w+|(?:the )?{_ORDINAL} floor|[Gg]ate \w+|[Pp]latform \w+"),
    "code": re.compile(r"(?=[\w -]*\d)(?=[\w -]*[A-Z])[A-Z0-9]+(?:[ -][A-Z0-9]+)?"),
    "name": re.compile(NAME),
    "place": re.compile(
        r"(?:in|on|under|behind|beside|next to|inside|above|below) (?:the|my) [\w ]+"
    ),
}
VALUE = r"[^,;:.!?()\"]+(?:[.:,](?=\d)[^,;:.!?()\"]+)*"
"""What may stand as a value: up to the next mark that is not within a number."""

_TAIL = re.compile(
    r",? (?:now|nowadays|these days|today|from now on|as of \w+|any ?more|anymore|at the moment"
    r"|since \w+|again|already|though|then|by the way|actually|instead|please|yesterday|tomorrow"
    r"|(?:since )?(?:last|this|next) (?:week|month|year|spring|summer|autumn|fall|winter|term|night"
    r"|weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
    rf"|(?:in|since) (?:(?:early|late|mid) )?(?:{_MONTH}(?: \d{{4}})?|spring|summer|autumn|fall"
    r"|winter|(?:19|20)\d\d)"
    rf"|on (?:{_WEEKDAY[:-2]}|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}(?: \d{{4}})?"
    rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?)"
    r"|(?:\w+|a few|a couple of) (?:days|weeks|months|years) ago|recently|a while ago"
    r"|with (?:my|our|his|her|their) [\w ]+|with \w+(?: and \w+)?"
    r"|and (?:i|we|it|he|she|they) .*|because .*|so .*|but .*)$",
    re.IGNORECASE,
)


def kinds_of(value: str) -> frozenset[str]:
    """Return the kinds that a value may be of: "word" if it is of none.

    >>> sorted(kinds_of("9")), sorted(kinds_of("next Sunday")), sorted(kinds_of("fine"))
    (['clock', 'number'], ['day'], ['word'])
    """
    found = frozenset(kind for kind, form in _KINDS.items() if form.fullmatch(value))
    if "day" in found:
        found -= {"name", "code"}
    return found or frozenset({"word"})


def trimmed(value: str) -> tuple[str, str]:
    """Return a value without articles and what follows it, and what followed.

    >>> trimmed("a Skoda these days"), trimmed("Turku with my parents")
    (('Skoda', 'these days'), ('Turku', 'with my parents'))
    """
    value, after = value.strip(), []
    while (tail := _TAIL.search(value)) is not None and tail.start() > 0:
        after.append(value[tail.start() :].strip(" ,"))
        value = value[: tail.start()].rstrip(" ,")
    if kinds_of(value) != {"place"}:
        value = re.sub(r"^(?:a|an|the)\s+(?=\S)", "", value, flags=re.IGNORECASE)
    return value, " ".join(reversed(after))


def folded(value: str) -> str:
    """Return a value for comparison: lower case, without articles.

    >>> folded("The  Gym")
    'gym'
    """
    return re.sub(r"^(?:a|an|the) ", "", " ".join(value.casefold().split()))

"""The English words that name times, and the tokens of a text."""

import re
from datetime import timedelta
from functools import lru_cache

from recollex_engine.clock import MONTH_NAMES
from recollex_engine.dates.periods import WEEKDAY_NAMES

MONTHS = {name.lower(): m for m, name in enumerate(MONTH_NAMES, 1)}
SHORT_MONTHS = {name[:3]: m for name, m in MONTHS.items() if name != "may"} | {"sept": 9}
WEEKDAYS = {name: d for d, name in enumerate(WEEKDAY_NAMES)}
SHORT_WEEKDAYS = {name[:n]: d for name, d in WEEKDAYS.items() for n in (3, 4, 5)}
_UNIT_NAMES = "minute hour day week weekend month quarter year decade"
UNITS = {name + s: name for name in _UNIT_NAMES.split() for s in ("", "s")} | {"century": "century"}
CLOCK = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
_NUMBER_NAMES = "zero one two three four five six seven eight nine ten eleven twelve"
NUMBERS = {name: n for n, name in enumerate(_NUMBER_NAMES.split()) if n}
NUMBERS |= {"a": 1, "an": 1, "fifteen": 15, "twenty": 20, "thirty": 30}
_DAY_NAMES = """
first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth
"""
SPELLED_DAYS = {name: n for n, name in enumerate(_DAY_NAMES.split(), 1)} | {"thirtieth": 30}
ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": -1, "latter": -1}
LAST = frozenset({"last", "past", "previous"})
NEXT = frozenset({"next", "coming", "upcoming"})
STEPPING = frozenset({"before", "after", "following", "prior", "ago", "from"})
CLAUSES = frozenset({"before", "since", "until", "till"})
THIRDS = {"early": 0, "mid": 1, "late": 2}
THIRDS_OF = {"beginning": 0, "start": 0, "middle": 1, "end": 2}
DASHES = frozenset("-\u2013\u2014")

_TOKEN = re.compile(
    r"""
    (?=\S)(?:
    (?P<word>(?<![\w@\#])[A-Za-z]+(?:'s)?(?!\w))
  | (?P<iso>(?<![\w./-])[0-9]{4}-[0-9]{2}(?:-[0-9]{2}(?:T[0-9:.]+(?:Z|[+-][0-9:]+)?)?)?(?![\w/-]))
  | (?P<numeric>(?<![\w./-])(?: [0-9]{4}(?:/[0-9]{1,2}/|\.[0-9]{1,2}\.)[0-9]{1,2}
         | [0-9]{1,2}(?:/[0-9]{1,2}/|-[0-9]{1,2}-|\.\ ?[0-9]{1,2}\.\ ?)[0-9]{4}
         | [0-9]{1,2}(?:/[0-9]{1,2}/|\.[0-9]{1,2}\.)[0-9]{2} | [0-9]{1,2}\.[0-9]{1,2}\.(?!\d)
         | [0-9]{1,2}/[0-9]{1,2} )(?![\w/-]|\.[0-9]))
  | (?P<span>(?<![\w./-])[12][0-9]{3}/(?:[0-9]{2}|[12][0-9]{3})(?![\w/-]))
  | (?P<clock>(?<![\w.:/-])(?:(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?
         (?:\ ?[aApP]\.?[mM]\b)?        |(?:1[0-2]|[1-9])\ ?[aApP]\.?[mM]\b)(?![:\w]))
  | (?P<junk>[0-9]{1,3}(?:,[0-9]{3})+(?![0-9]) | [0-9]+(?:[.:][0-9]+)+\w* )
  | (?P<ordinal>[0-9]{1,2}(?:st|nd|rd|th)(?!\w))
  | (?P<decade>[0-9]{3}0'?s(?!\w) | '?[0-9]0s(?!\w))
  | (?P<number>(?<![\w.])[0-9]{1,4}(?!\w))
  | (?P<quarter>(?<!\w)[qQ][1-4](?!\w))
  | (?P<other>\w+ | [^\w\s]))
    """,
    re.VERBOSE,
)


# Most of a text is simple: words, numbers that stand alone, and marks. Spaces around the marks and
# a split find them. What `_ODD` finds is left to the grammar, from space to space.
_ODD = re.compile(
    r"[0-9'.@\#](?:(?<=[0-9])(?:[.:/,-][0-9]|\.\ [0-9]|'|[A-Z]|\ ?[aApP]\.?[mM])"
    r"|(?<=['.])[0-9]|(?<=')S|(?<=[@\#]))"
).search
_STRETCH = re.compile(r"[^ ]*(?: (?:[0-9]|[aApP]\.?[mM])[^ ]*)*").match  # "7. 5. 2023", "3 pm"
_POSSESSIVE = re.compile(r"(?<!\w)([A-Za-z]+)'s(?!\w)").sub
_POSSESSIVE_OF_LETTERS = re.compile(r"'s(?<=[A-Za-z]..)(?!\w)")
_OWNS = "\u00b4"  # in a simple text: an 's
# In lower case they are two letters, ASCII, or depend on the next letters; or they are `_OWNS`.
_ODD_LETTERS = re.compile("[\u0130\u212a\u03a3\u00b4]").search
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f\w\s]").findall
_NO_MARKS = bytes(
    c for c in range(256) if c > 127 or chr(c).isalnum() or chr(c).isspace() or c == 95
)
_NO_DIGITS = bytes(code for code in range(256) if code not in b"0123456789")
# The kinds of a number that stands alone; other runs of letters and digits are of kind "other".
_ALONE = re.compile(
    "(?P<ordinal>[0-9]{1,2}(?:st|nd|rd|th))|(?P<decade>(?:[0-9]{3}|[0-9])0s)|(?P<number>[0-9]{1,4})"
    "|(?P<quarter>q[1-4])"
).fullmatch


_NEAR = 64
"""Number of tokens from an end of the text up to which a token is looked for without a list."""
_STRETCHES = 2_048
"""Number of recent odd stretches whose tokens are kept: "8.04", "3 pm" and "10,000" come again."""
_LONGEST = 32
"""Number of characters of the longest stretch that is kept."""
_OPENING = frozenset("0123456789q")
"""What a number that stands alone begins with."""


class Tokens:
    """The tokens of a text, in order: its words, numbers and marks.

    texts: of each token, in lower case and without 's. words: the texts of the words, "" for other
    tokens. numbers: place -> kind, of the tokens that are neither "word" nor "other".

    Cost: linear, about 0.2 us a token, 0.5 us where marks join numbers.
    """

    __slots__ = ("_lower", "_said", "_starts", "_text", "numbers", "texts", "words")

    def __init__(self, text: str) -> None:
        self._text = text = text.replace("\u2019", "'")
        kinds: dict[int, str] = {}
        owned = "'s" in text and _POSSESSIVE_OF_LETTERS.search(text) is not None
        plain = text.isascii()
        if plain or not _ODD_LETTERS(text):  # a letter in lower case stands where the letter does
            self._lower = lower = text.lower()
            numbered = _has_digits(lower)
            if numbered or "@" in text or "#" in text or "'S" in text:
                said = _said(text, lower, owned, kinds)
            else:
                said = _simple(lower, False, owned)
            self.texts: list[str] = said
        else:
            self._lower = text
            said, read = _read(text)
            kinds.update(enumerate(read))
            self.texts = list(map(str.lower, said))
        self._said = said
        self._starts: list[int] = []
        if owned:
            self.texts = [each.removesuffix("'s") for each in self.texts]
        if plain:
            self.words: list[str] = [word if word.isalpha() else "" for word in self.texts]
        else:
            self.words = [word if word.isalpha() and word.isascii() else "" for word in self.texts]
        self.numbers: dict[int, str] = {}
        for i, kind in kinds.items():
            if kind != "word":
                self.texts[i] = said[i].lower()
                self.words[i] = ""
                if kind != "other":
                    self.numbers[i] = kind

    def kind(self, i: int) -> str:
        """Return the kind of token `i`."""
        return "word" if self.words[i] else self.numbers.get(i, "other")

    def capital(self, i: int) -> bool:
        """Return whether token `i` begins with a capital of A to Z."""
        return "A" <= self._text[self._start(i)] < "["

    def joined(self, i: int) -> bool:
        """Return whether token `i` starts where the token before it ends."""
        return self._start(i) == self.span(i - 1, i - 1)[1]

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return where token `first` starts and token `last` ends."""
        text = self._lower
        said = self._said
        start = self._start(first)
        end = start + len(said[first])
        for each in said[first + 1 : last + 1]:
            end = text.index(each, end) + len(each)
        return start, end

    def _start(self, i: int) -> int:
        """Return where token `i` starts."""
        text = self._lower
        said = self._said
        after = len(said) - i
        end = 0
        if after < i and after < _NEAR:  # nearer to the end: most times close a question
            start = len(text)
            for each in said[: i - 1 : -1]:
                start = text.rindex(each, 0, start)
            return start
        if i < _NEAR:
            for each in said[:i]:
                end = text.index(each, end) + len(each)
            return text.index(said[i], end)
        if not self._starts:
            for each in said:
                self._starts.append(text.index(each, end))
                end = self._starts[-1] + len(each)
        return self._starts[i]

    def __len__(self) -> int:
        return len(self.texts)


def _read(text: str) -> tuple[list[str], list[str]]:
    """Return the tokens that the grammar reads, as they are written, and their kinds."""
    matches = list(_TOKEN.finditer(text))
    return [match[0] for match in matches], [match.lastgroup or "" for match in matches]


_recent = lru_cache(maxsize=_STRETCHES)(_read)


def _said(text: str, lower: str, owned: bool, kinds: dict[int, str]) -> list[str]:
    """Return the tokens of a text without `_ODD_LETTERS` in lower case, with each 's.

    owned: whether a word may have an 's. Set the kinds of numbers, and of all that the grammar
    reads.
    """
    said: list[str] = []
    after = 0
    found = _ODD(text)
    while found:
        start = text.rfind(" ", 0, found.start()) + 1
        stretch = _STRETCH(text, start)
        end = stretch.end() if stretch else len(text)
        said += _with_numbers(lower[after:start], owned, len(said), kinds)
        read = _recent if end - start <= _LONGEST else _read
        tokens, found_kinds = read(text[start:end])
        kinds.update(enumerate(found_kinds, len(said)))
        said += map(str.lower, tokens)
        after = end
        found = _ODD(text, end)
    return said + _with_numbers(lower[after:], owned, len(said), kinds)


def _with_numbers(text: str, owned: bool, place: int, kinds: dict[int, str]) -> list[str]:
    """Return the tokens of a simple text, and set the kinds of its numbers, from ``place`` on."""
    numbered = _has_digits(text)
    said = _simple(text, numbered, owned)
    if numbered:
        for i, each in enumerate(said, place):
            if each[0] in _OPENING and (match := _ALONE(each)):
                kinds[i] = match.lastgroup or ""
    return said


def _has_digits(text: str) -> bool:
    return text.encode("utf-8", "surrogatepass").translate(None, _NO_DIGITS) != b""


def _simple(text: str, numbered: bool, owned: bool) -> list[str]:
    """Return the tokens of a simple text in lower case, with each 's.

    numbered: whether it may have digits. owned: whether a word may have an 's.
    """
    plain = text.isascii()
    marks = set(text.encode("ascii", "ignore").translate(None, _NO_MARKS).decode())
    if not plain:
        marks.update(_BEYOND_ASCII(text))
    if owned:
        if numbered or not plain or "_" in text or "'s's" in text:
            text = _POSSESSIVE(rf"\1{_OWNS}", text)
        else:  # every word is of letters; a replacement without a group is quicker
            text = _POSSESSIVE_OF_LETTERS.sub(_OWNS, text)
    for mark in marks:
        text = text.replace(mark, f" {mark} ")
    return (text.replace(_OWNS, "'s") if owned else text).split()

"""The English words that name times, and the tokens of a text."""

import re
from datetime import timedelta
from itertools import islice
from typing import NamedTuple, overload

from recollex_engine.dates.periods import WEEKDAY_NAMES

_MONTH_NAMES = (
    "january february march april may june july august september october november december"
)
MONTHS = {name: m for m, name in enumerate(_MONTH_NAMES.split(), 1)}
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


# A simple text is words, numbers that stand alone, and marks: one scan by `_SIMPLE` finds them, or
# spaces around the marks and a split. It is ASCII without "@", "#", "'S" and `_JOINED`.
_SIMPLE = re.compile(r"[A-Za-z]+(?:'s)?(?!\w)|\w+|[^\w\s]")
_JOINED = re.compile(
    r"[0-9'.](?:(?<=[0-9])(?:[.:/,-][0-9]|\.\ [0-9]|'|[A-Z]|\ ?[aApP]\.?[mM])|(?<=['.])[0-9])"
).search
_POSSESSIVE = re.compile(r"(?<!\w)([A-Za-z]+)'s(?!\w)").sub
_POSSESSIVE_OF_LETTERS = re.compile(r"(?<=[A-Za-z])'s(?!\w)").sub
_OWNS = re.compile(r"'s(?!\w)").match
_NO_MARKS = bytes(c for c in range(128) if chr(c).isalnum() or chr(c).isspace() or chr(c) == "_")
_DIGIT = re.compile("[0-9]").search
# The kinds of a number that stands alone; other runs of letters and digits are of kind "other".
_ALONE = re.compile(
    "(?P<ordinal>[0-9]{1,2}(?:st|nd|rd|th))|(?P<decade>(?:[0-9]{3}|[0-9])0s)|(?P<number>[0-9]{1,4})"
    "|(?P<quarter>q[1-4])"
).fullmatch
_OF_POSSESSIVE = frozenset("'s")
_OPENING = frozenset("0123456789q")
"""What a number that stands alone begins with."""


class Token(NamedTuple):
    """A word, number or mark of the text: `text` is in lower case and without 's."""

    kind: str
    text: str
    start: int
    end: int
    capital: bool


class Tokens:
    """The tokens of a text, in order.

    texts: of each token. words: the texts of the words, "" for other tokens. numbers: place ->
    kind, of the tokens that are neither "word" nor "other".
    """

    __slots__ = ("_matches", "_said", "_text", "numbers", "texts", "words")

    def __init__(self, text: str) -> None:
        self._text = text = text.replace("\u2019", "'")
        self._matches: list[re.Match[str]] | None = None
        self.numbers: dict[int, str] = {}
        numbered = _DIGIT(text) is not None
        said = _simple_texts(text, numbered)
        if said is None:
            self._read_all(text)
            return
        self._said: list[str] = said
        self.texts: list[str] = list(map(str.lower, said))
        self.words: list[str] = [word if word.isalpha() else "" for word in self.texts]
        if numbered:
            for i, each in enumerate(self.texts):
                if each[0] in _OPENING and (match := _ALONE(each)):
                    self.numbers[i] = match.lastgroup or ""

    def _read_all(self, text: str) -> None:
        """Read a text that may not be simple."""
        self._matches = matches = list(_TOKEN.finditer(text))
        self._said = [match[0] for match in matches]
        self.texts = [said.lower() for said in self._said]
        self.words = [""] * len(matches)
        for i, match in enumerate(matches):
            kind = match.lastgroup
            if kind == "word":
                self.texts[i] = self.words[i] = self.texts[i].removesuffix("'s")
            elif kind != "other":
                self.numbers[i] = kind or ""

    def kind(self, i: int) -> str:
        """Return the kind of token `i`."""
        return "word" if self.words[i] else self.numbers.get(i, "other")

    def capital(self, i: int) -> bool:
        """Return whether token `i` begins with a capital of A to Z."""
        return "A" <= self._said[i] < "["

    def joined(self, i: int) -> bool:
        """Return whether token `i` starts where the token before it ends."""
        return self.span(i, i)[0] == self.span(i - 1, i - 1)[1]

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return where token `first` starts and token `last` ends."""
        if self._matches is not None:
            return self._matches[first].start(), self._matches[last].end()
        text, said = self._text, self._said
        if "'s" in text and not _OF_POSSESSIVE.isdisjoint(said):
            # one of these may be a part of an 's that was left out
            spans = list(islice(_SIMPLE.finditer(text), last + 1))
            return spans[first].start(), spans[last].end()
        if first + last > len(said):  # nearer to the end: most times close a question
            start = len(text)
            for each in said[:last:-1]:
                start = text.rindex(each, 0, start)
            end = start = text.rindex(said[last], 0, start) + len(said[last])
            for each in said[first : last + 1][::-1]:
                start = text.rindex(each, 0, start)
        else:
            end = 0
            for each in said[:first]:
                end = text.index(each, end) + len(each)
            start = end = text.index(said[first], end)
            for each in said[first : last + 1]:
                end = text.index(each, end) + len(each)
        return start, end + len("'s") if _OWNS(text, end) and said[last].isalpha() else end

    def __len__(self) -> int:
        return len(self.texts)

    @overload
    def __getitem__(self, at: int) -> Token: ...
    @overload
    def __getitem__(self, at: slice) -> list[Token]: ...
    def __getitem__(self, at: int | slice) -> Token | list[Token]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        return Token(self.kind(at), self.texts[at], *self.span(at, at), self.capital(at))


def tokens_of(text: str) -> Tokens:
    """Return the tokens of `text`.

    Cost: linear, about 0.2 us a token, 0.5 us where marks join numbers or a character is not ASCII.
    """
    return Tokens(text)


def _simple_texts(text: str, numbered: bool) -> list[str] | None:
    """Return the tokens of a simple text as they are written, without 's; None for another text.

    numbered: whether it has a digit.
    """
    if not text.isascii() or "@" in text or "#" in text or "'S" in text:
        return None
    if "'s" in text:
        if numbered or "_" in text or "'s's" in text:
            text = _POSSESSIVE(r"\1", text)
        else:  # every word is of letters; a replacement without a group is quicker
            text = _POSSESSIVE_OF_LETTERS("", text)
    if numbered and _JOINED(text):
        return None
    for mark in set(text.encode().translate(None, _NO_MARKS)):
        text = text.replace(chr(mark), f" {chr(mark)} ")
    return text.split()

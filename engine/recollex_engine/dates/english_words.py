"""The English words that name times, and the tokens of a text."""

import re
from datetime import timedelta
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
STEPPING = frozenset({"before", "after", "following", "prior", "ago", "from"})
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


# Most of an ASCII text is simple: words, numbers that stand alone, and marks. Spaces around the
# marks and a split find them. What `_ODD` finds is left to the grammar, from space to space.
_ODD = re.compile(
    r"[0-9'.@\#](?:(?<=[0-9])(?:[.:/,-][0-9]|\.\ [0-9]|'|[A-Z]|\ ?[aApP]\.?[mM])"
    r"|(?<=['.])[0-9]|(?<=[@\#]))"
).search
_STRETCH = re.compile(r"[^ ]*(?: (?:[0-9]|[aApP]\.?[mM])[^ ]*)*").match  # "7. 5. 2023", "3 pm"
_POSSESSIVE = re.compile(r"(?<!\w)([A-Za-z]+)'s(?!\w)").sub
_POSSESSIVE_OF_LETTERS = re.compile(r"'s(?<=[A-Za-z]..)(?!\w)")
_OWNS, _STANDS_FOR_ODD = "\u2019", "\u2018"  # in ASCII: an 's, an odd stretch
_NO_MARKS = bytes(
    c for c in range(256) if c > 127 or chr(c).isalnum() or chr(c).isspace() or c == 95
)
_DIGIT = re.compile("[0-9]").search
# The kinds of a number that stands alone; other runs of letters and digits are of kind "other".
_ALONE = re.compile(
    "(?P<ordinal>[0-9]{1,2}(?:st|nd|rd|th))|(?P<decade>(?:[0-9]{3}|[0-9])0s)|(?P<number>[0-9]{1,4})"
    "|(?P<quarter>q[1-4])"
).fullmatch
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

    Cost: linear, about 0.2 us a token, 0.5 us where marks join numbers or a character is not ASCII.
    """

    __slots__ = ("_said", "_text", "numbers", "texts", "words")

    def __init__(self, text: str) -> None:
        self._text = text = text.replace("\u2019", "'")
        numbered = _DIGIT(text) is not None
        kinds: dict[int, str] = {}
        if numbered or "@" in text or "#" in text or not text.isascii():
            self._said = _said(text, kinds)
        else:
            self._said = _simple(text, numbered)
        self.texts: list[str] = list(map(str.lower, self._said))
        if "'s" in text:
            self.texts = [each.removesuffix("'s") for each in self.texts]
        self.words: list[str] = [word if word.isalpha() else "" for word in self.texts]
        self.numbers: dict[int, str] = {}
        if numbered:
            for i, each in enumerate(self.texts):
                if each[0] in _OPENING and i not in kinds and (match := _ALONE(each)):
                    self.numbers[i] = match.lastgroup or ""
        for i, kind in kinds.items():
            if kind != "word":
                self.texts[i], self.words[i] = self._said[i].lower(), ""
                if kind != "other":
                    self.numbers[i] = kind

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
        text, said = self._text, self._said
        if first + last > len(said):  # nearer to the end: most times close a question
            start = len(text)
            for each in said[:last:-1]:
                start = text.rindex(each, 0, start)
            end = start = text.rindex(said[last], 0, start) + len(said[last])
            for each in said[first : last + 1][::-1]:
                start = text.rindex(each, 0, start)
            return start, end
        end = 0
        for each in said[:first]:
            end = text.index(each, end) + len(each)
        start = end = text.index(said[first], end)
        for each in said[first : last + 1]:
            end = text.index(each, end) + len(each)
        return start, end

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


def _said(text: str, kinds: dict[int, str]) -> list[str]:
    """Return the tokens of a text as they are written; set the kinds of those the grammar reads."""
    said: list[str] = []

    def read(first: int, end: int) -> None:
        matches = list(_TOKEN.finditer(text, first, end))
        kinds.update(enumerate([match.lastgroup or "" for match in matches], len(said)))
        said.extend([match[0] for match in matches])

    if not text.isascii():
        read(0, len(text))
        return said
    simple, odd, after, found = "", [], 0, _ODD(text)
    while found:
        start = text.rfind(" ", 0, found.start()) + 1
        stretch = _STRETCH(text, start)
        end = stretch.end() if stretch else len(text)
        simple += f"{text[after:start]} {_STANDS_FOR_ODD} "
        odd.append((start, end))
        after, found = end, _ODD(text, end)
    tokens, after = _simple(simple + text[after:], True), 0
    for start, end in odd:
        at = tokens.index(_STANDS_FOR_ODD, after)
        said += tokens[after:at]
        read(start, end)
        after = at + 1
    return said + tokens[after:]


def _simple(text: str, numbered: bool) -> list[str]:
    """Return the tokens of a simple text as they are written; ``numbered``: it may have digits."""
    owned = "'s" in text and _POSSESSIVE_OF_LETTERS.search(text) is not None
    if owned:
        if numbered or "_" in text or "'s's" in text:
            text = _POSSESSIVE(rf"\1{_OWNS}", text)
        else:  # every word is of letters; a replacement without a group is quicker
            text = _POSSESSIVE_OF_LETTERS.sub(_OWNS, text)
    for mark in set(text.encode().translate(None, _NO_MARKS)):
        text = text.replace(chr(mark), f" {chr(mark)} ")
    return [each.replace(_OWNS, "'s") for each in text.split()] if owned else text.split()

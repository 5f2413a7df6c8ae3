"""The English words that name times, and the tokens of a text."""

import re
from datetime import timedelta

from recollex_engine.clock import MONTH_NAMES
from recollex_engine.dates.periods import WEEKDAY_NAMES

MONTHS = {name.lower(): m for m, name in enumerate(MONTH_NAMES, 1)}
SHORT_MONTHS = {name[:3]: m for name, m in MONTHS.items() if name != "may"} | {"sept": 9}
WEEKDAYS = {name: d for d, name in enumerate(WEEKDAY_NAMES)}
SHORT_WEEKDAYS = {name[:n]: d for name, d in WEEKDAYS.items() for n in (3, 4, 5)}
_UNIT_NAMES = "minute hour day week weekend month quarter year decade"
UNITS = {name + s: name for name in _UNIT_NAMES.split() for s in ("", "s")} | {"century": "century"}
HALVES = {
    "decade": ("year", 10),
    "year": ("month", 12),
    "month": ("day", 30),
    "fortnight": ("day", 14),
    "week": ("day", 7),
    "day": ("hour", 24),
    "hour": ("minute", 60),
}
"""Unit -> the unit in which its half is counted, and how many of these it has."""
SHORT_UNITS = {
    **{"y": "year", "yr": "year", "mo": "month", "w": "week", "wk": "week", "d": "day"},
    **{"h": "hour", "hr": "hour", "m": "minute", "min": "minute"},
}
"""What stands for a unit right after its number: "3d ago"."""
CLOCK = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
_NUMBER_NAMES = "zero one two three four five six seven eight nine ten eleven twelve"
NUMBERS = {name: n for n, name in enumerate(_NUMBER_NAMES.split()) if n}
NUMBERS |= {"a": 1, "an": 1, "dozen": 12, "fifteen": 15, "twenty": 20, "thirty": 30}
_DAY_NAMES = """
first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth
"""
SPELLED_DAYS = {name: n for n, name in enumerate(_DAY_NAMES.split(), 1)} | {"thirtieth": 30}
ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": -1, "latter": -1}
LAST = frozenset({"last", "past", "previous", "trailing"})
NEXT = frozenset({"next", "coming", "upcoming"})
CLAUSES = frozenset({"before", "since", "until", "till"})
THIRDS = {"early": 0, "mid": 1, "late": 2}
THIRDS_OF = {"beginning": 0, "start": 0, "middle": 1, "end": 2}
DASHES = frozenset("-\u2013\u2014")

_TOKEN = re.compile(
    r"""
    (?=\S)(?:
    (?P<word>(?<![\w@\#])[A-Za-z]+(?:'s)?(?!\w))
  | (?P<iso>(?<![\w.-])(?:(?<!/)|(?<=[0-9]/))[0-9]{4}-[0-9]{2}
         (?:-[0-9]{2}(?:T[0-9:.]+(?:Z|[+-][0-9:]+)?)?)?(?![\w-]|/(?![0-9])))
  | (?P<numeric>(?<![\w./])(?:(?<!-)|(?<=\.-))(?: [0-9]{4}(?:/[0-9]{1,2}/|\.[0-9]{1,2}\.)[0-9]{1,2}
         | [0-9]{1,2}(?:/[0-9]{1,2}/|-[0-9]{1,2}-|\.\ ?[0-9]{1,2}\.\ ?)[0-9]{4}
         | [0-9]{1,2}(?:/[0-9]{1,2}/|\.[0-9]{1,2}\.)[0-9]{2} | [0-9]{1,2}\.[0-9]{1,2}\.(?!\d)
         | [0-9]{1,2}/[0-9]{1,2} )(?![\w/]|-(?![0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4})|\.[0-9]))
  | (?P<span>(?<![\w./-])[12][0-9]{3}/(?:[0-9]{2}|[12][0-9]{3})(?![\w/-]))
  | (?P<clock>(?<![\w.:/])(?:(?<!-)|(?<=[:h][0-9]{2}-)|(?<=[aApP][mM]-))
         (?:(?:[01]?[0-9]|2[0-3])[:h][0-5][0-9](?::[0-5][0-9])?
         (?:\ ?[aApP]\.?[mM]\b)?        |(?:1[0-2]|[1-9])\ ?[aApP]\.?[mM]\b)(?![:\w]))
  | (?P<junk>[0-9]{1,3}(?:,[0-9]{3})+(?![0-9]) | [0-9]+(?:[.:][0-9]+)+\w* )
  | (?P<short>(?<![\w.])[0-9]{1,3}\ ?(?:y|yr|mo|w|wk|d|h|hr|m|min)s?(?=\ ago\b))
  | (?P<ordinal>[0-9]{1,2}(?:st|nd|rd|th)(?!\w))
  | (?P<decade>[0-9]{3}0'?s(?!\w) | '?[0-9]0s(?!\w))
  | (?P<number>(?:(?<![\w.])|(?<=\.\.))[0-9]{1,4}(?!\w))
  | (?P<quarter>(?<!\w)[qQ][1-4](?!\w))
  | (?P<other>\w+ | [^\w\s]))
    """,
    re.VERBOSE,
)


class Tokens:
    """The tokens of a text, in order: its words, numbers and marks.

    texts: of each token, in lower case; of a word without 's. words: the texts of the words, "" for
    other tokens. numbers: place -> kind, of the tokens that are neither "word" nor "other".

    Cost: linear, about 0.7 us a token.
    """

    __slots__ = ("_spans", "_text", "numbers", "texts", "words")

    def __init__(self, text: str) -> None:
        self._text = text.replace("\u2019", "'")
        self._spans: list[tuple[int, int]] = []
        self.texts: list[str] = []
        self.words: list[str] = []
        self.numbers: dict[int, str] = {}
        for i, match in enumerate(_TOKEN.finditer(self._text)):
            said = match[0].lower()
            word = ""
            if match.lastgroup == "word":
                said = word = said.removesuffix("'s")
            elif match.lastgroup and match.lastgroup != "other":
                self.numbers[i] = match.lastgroup
            self._spans.append(match.span())
            self.texts.append(said)
            self.words.append(word)

    def kind(self, i: int) -> str:
        """Return the kind of token `i`."""
        return "word" if self.words[i] else self.numbers.get(i, "other")

    def capital(self, i: int) -> bool:
        """Return whether token `i` begins with a capital of A to Z."""
        return "A" <= self._text[self._spans[i][0]] < "["

    def joined(self, i: int) -> bool:
        """Return whether token `i` starts where the token before it ends."""
        return self._spans[i][0] == self._spans[i - 1][1]

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return where token `first` starts and token `last` ends."""
        return self._spans[first][0], self._spans[last][1]

    def __len__(self) -> int:
        return len(self.texts)

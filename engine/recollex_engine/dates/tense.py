"""Which sentences of a text speak of the future? In these a date without a year is the coming one.

Each `_Sign` is a regular expression over the text. Most texts are decided by their words alone: a
word that the expression matches by itself, or no word that any of its matches has.
"""

import re
from bisect import bisect_right
from operator import itemgetter
from typing import NamedTuple

from recollex_engine.dates.english_words import Tokens
from recollex_engine.dates.expression_parser import Looking

_WORD_CHARACTERS = b"abcdefghijklmnopqrstuvwxyz0123456789_"
_WORDS = bytes(code if code in _WORD_CHARACTERS else 32 for code in range(256))
_SENTENCE = re.compile(r"[^.?!\n]*(?:[.?!](?=\s|$)|\n|$|[.?!])")
_SEVERAL_SENTENCES = re.compile(r"[.?!\n](?!\Z)").search


class _Sign(NamedTuple):
    """A regular expression, and what decides it without a search.

    alone: words that match by themselves. others: each other match has one of these words, or one
    of the stems. Words are those of an ASCII text in lower case.
    """

    expression: re.Pattern[str]
    alone: frozenset[bytes]
    others: frozenset[bytes]
    stems: tuple[str, ...] = ()

    def found_in(self, text: str, words: list[bytes] | None) -> bool:
        """Return whether the expression matches somewhere in ``text`` of these ``words``."""
        if words is None:
            return self.expression.search(text) is not None
        if not self.alone.isdisjoint(words):
            return True
        if self.others.isdisjoint(words) and not _has_one(text, self.stems):
            return False
        return self.expression.search(text) is not None


def _has_one(text: str, stems: tuple[str, ...]) -> bool:
    return any(map(text.lower().__contains__, stems))


def _sign(expression: str, alone: bytes, others: bytes, *stems: str) -> _Sign:
    pattern = re.compile(expression, re.IGNORECASE)
    return _Sign(pattern, frozenset(alone.split()), frozenset(others.split()), stems)


_FUTURE = _sign(
    r"\b(?:will|shall|gonna|won't|going to|plan to|plans to|planning|hope to|hoping to|upcoming"
    r"|looking forward|can't wait|excited for|scheduled|next)\b|'ll\b",
    b"will shall gonna planning upcoming scheduled next",
    b"won going plan plans hope hoping looking can excited ll",
)
_ARRANGING = _sign(
    r"\b(?:trip|itinerary|let's|schedul\w*|remind\w*|deadline|book(?:ed|ing)?|reserv\w*|due"
    r"|availab\w*|cancel|postpone"
    # up to the next of these words, which may match itself
    r"|(?:delete|move|remove)\s(?:(?!\b(?:delete|move|remove)\s)[^.?!])*"
    r"\b(?:meeting|appointment)s?)\b",
    b"trip itinerary deadline book booked booking due cancel postpone",
    b"let delete move remove",
    "schedul",
    "remind",
    "reserv",
    "availab",
)
_AHEAD = _FUTURE.alone | _FUTURE.others | _ARRANGING.alone | _ARRANGING.others
_ASKED_AHEAD = _sign(r"\b(?:will|shall|going to|gonna)\b|'ll\b", b"will shall gonna", b"going ll")
_PAST = re.compile(
    r"\b(?:did|was|were|had|didn't|wasn't|weren't|hadn't|made|went|said|told|came|got|took|saw|met"
    r"|bought|ate|gave|found|left|kept|led|began|ran|wrote|held|thought|knew|became|spoke|chose"
    r"|sent|spent|paid|heard|felt|won|lost|(?!(?:need|schedul|book|plann)ed\b)\w{2,}ed)\b",
    re.IGNORECASE,
)
_PAST_VERBS = frozenset(
    b"did was were had made went said told came got took saw met bought ate gave found left kept"
    b" led began ran wrote held thought knew became spoke chose sent spent paid heard felt won"
    b" lost".split()
)
_PAST_NEGATED = frozenset(b"didn wasn weren hadn".split())
_NO_PAST = frozenset(b"needed scheduled booked planned".split())


def speaks_of_future(text: str) -> bool:
    """Return whether a text with straight apostrophes says "will", "going to", "next" or the like.

    >>> speaks_of_future("I'll be there"), speaks_of_future("I was there")
    (True, False)
    """
    return _FUTURE.found_in(text, _words(text))


def future_sentences(text: str) -> list[tuple[int, int]]:
    """Return the spans of the sentences in which a date without a year is the coming one.

    They hold no verb of the past. A question must say "will"; for a statement it is enough that the
    text plans or arranges something. Cost: 2 us for a text that does neither.

    >>> future_sentences("We met in May. I plan to come in June.")
    [(14, 38)]
    """
    text = text.replace("\u2019", "'")
    words = _words(text)
    if words is not None and _AHEAD.isdisjoint(words) and not _has_one(text, _ARRANGING.stems):
        return []
    if not (_FUTURE.found_in(text, words) or _ARRANGING.found_in(text, words)):
        return []
    return [span for span in _sentences(text) if _is_ahead(text[span[0] : span[1]])]


class QuestionTense:
    """Says whether a token of a question is in a sentence of the future.

    The sentences are read when the first token is asked for: most times, such as "last week", are
    the same in any sentence.
    """

    __slots__ = ("_ahead", "_text", "_tokens")

    def __init__(self, text: str, tokens: Tokens) -> None:
        self._text = text
        self._tokens = tokens
        self._ahead: list[tuple[int, int]] | None = None

    def __call__(self, place: int | None) -> Looking:
        """Return how the sentence of a token looks; without a token, back."""
        if self._ahead is None:
            self._ahead = future_sentences(self._text)
        if not self._ahead or place is None:
            return "past"
        at = self._tokens.span(place, place)[0]
        last = bisect_right(self._ahead, at, key=itemgetter(0)) - 1
        return "future" if last >= 0 and at < self._ahead[last][1] else "past"


def _sentences(text: str) -> list[tuple[int, int]]:
    if not _SEVERAL_SENTENCES(text):
        return [(0, len(text))]
    return [match.span() for match in _SENTENCE.finditer(text) if match[0]]


def _is_ahead(said: str) -> bool:
    words = _words(said)
    if _is_past(said, words):
        return False
    return not said.rstrip().endswith("?") or _ASKED_AHEAD.found_in(said, words)


def _is_past(said: str, words: list[bytes] | None) -> bool:
    """Return whether `_PAST` matches somewhere."""
    if words is not None:
        if not _PAST_VERBS.isdisjoint(words):
            return True
        if any(word.endswith(b"ed") and len(word) > 3 and word not in _NO_PAST for word in words):
            return True
        if _PAST_NEGATED.isdisjoint(words):
            return False
    return _PAST.search(said) is not None


def _words(text: str) -> list[bytes] | None:
    """Return the words of a text in lower case; None if it is not ASCII.

    A long s is a letter of "shall" to a regular expression, so only this tells the words.
    """
    return text.lower().encode().translate(_WORDS).split() if text.isascii() else None

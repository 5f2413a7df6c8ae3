"""Which sentences speak of the future? In these a date without a year is the coming one."""

import re
from bisect import bisect_right
from operator import itemgetter

from recollex_engine.dates.english_words import Tokens
from recollex_engine.dates.expression_parser import Looking

_SENTENCE = re.compile(r"[^.?!\n]*(?:[.?!](?=\s|$)|\n|$|[.?!])")
_FUTURE = re.compile(
    r"\b(?:will|shall|gonna|won't|going to|plan to|plans to|planning|hope to|hoping to|upcoming"
    r"|looking forward|can't wait|excited for|scheduled|next)\b|'ll\b",
    re.IGNORECASE,
)
_ARRANGING = re.compile(
    r"\b(?:trip|itinerary|let's|schedul\w*|remind\w*|deadline|book(?:ed|ing)?|reserv\w*|due"
    r"|availab\w*|cancel|postpone"
    # up to the next of these words, which may match itself
    r"|(?:delete|move|remove)\s(?:(?!\b(?:delete|move|remove)\s)[^.?!])*"
    r"\b(?:meeting|appointment)s?)\b",
    re.IGNORECASE,
)
_ASKED_AHEAD = re.compile(r"\b(?:will|shall|going to|gonna)\b|'ll\b", re.IGNORECASE)
_PAST = re.compile(
    r"\b(?:did|was|were|had|didn't|wasn't|weren't|hadn't|made|went|said|told|came|got|took|saw|met"
    r"|bought|ate|gave|found|left|kept|led|began|ran|wrote|held|thought|knew|became|spoke|chose"
    r"|sent|spent|paid|heard|felt|won|lost|(?!(?:need|schedul|book|plann)ed\b)\w{2,}ed)\b",
    re.IGNORECASE,
)


def speaks_of_future(text: str) -> bool:
    """Return whether a text with straight apostrophes says "will", "going to", "next" or the like.

    >>> speaks_of_future("I'll be there"), speaks_of_future("I was there")
    (True, False)
    """
    return _FUTURE.search(text) is not None


def future_sentences(text: str) -> list[tuple[int, int]]:
    """Return the spans of the sentences in which a date without a year is the coming one.

    They hold no verb of the past. A question must say "will"; for a statement it is enough that the
    text plans or arranges something.

    >>> future_sentences("We met in May. I plan to come in June.")
    [(14, 38)]
    """
    text = text.replace("\u2019", "'")
    if not (_FUTURE.search(text) or _ARRANGING.search(text)):
        return []
    return [match.span() for match in _SENTENCE.finditer(text) if match[0] and _is_ahead(match[0])]


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


def _is_ahead(said: str) -> bool:
    if _PAST.search(said):
        return False
    return not said.rstrip().endswith("?") or _ASKED_AHEAD.search(said) is not None

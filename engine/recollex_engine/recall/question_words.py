"""What each word of a question says: its term, whether it may name a person, and its signs.

All that is read of a question is asked of its words, so they are looked up once, together, in a
memo of one language. A sign is a bit: a cue or a time may be read only in a question that has it.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from recollex_engine.dates import time_words
from recollex_engine.dates.time_words import time_signs, time_signs_of_word
from recollex_engine.text.analyzer import Analyzer
from recollex_engine.text.naming_words import ORDINARY, ROLES
from recollex_engine.text.question_cues import signs_of, signs_of_word, words_of

ROLE = 1 << time_words.BITS
"""Sign of a word for a role, such as "user"."""
SEVERAL = ROLE << 1
"""Sign of a word of several terms or names: "well-known"."""
CUES = time_words.BITS + 2
"""How far the signs of cues are to the left of those of times."""
TIMES = ROLE - 1
"""The signs of times."""

_WORDS = 16_384
_LONGEST = 32
_LANGUAGES = 16


class Word(NamedTuple):
    """What one word says. Terms and names are tuples if there are several, None if there is none.

    terms: as the keyword arm searches them. names: its words that are not `ORDINARY`.
    """

    terms: str | tuple[str, ...] | None
    names: str | tuple[str, ...] | None
    signs: int


class QuestionWords(dict[str, Word]):
    """Memo: word -> what it says. Bounded. In a race of threads a word is read twice.

    A word is a run of a-z, 0-9, apostrophes, hyphens, characters beyond ASCII, and points or commas
    within a number.

    >>> QuestionWords(Analyzer())["caroline's"][:2]
    ('carolin', 'caroline')
    """

    def __init__(self, analyzer: Analyzer) -> None:
        super().__init__()
        self._analyzer = analyzer

    def __missing__(self, word: str) -> Word:
        plain = word.isalpha() and word.isascii() and len(word) <= _LONGEST  # as most are
        found = self._plain(word) if plain else self._read(word)
        if len(word) <= _LONGEST:
            if len(self) >= _WORDS:
                self.clear()
            self[word] = found
        return found

    def _plain(self, word: str) -> Word:
        """Read a word of a-z, as `_read` does."""
        signs = signs_of_word(word) << CUES | time_signs_of_word(word)
        if word in ROLES:
            signs |= ROLE
        term = self._analyzer.term(word)
        return Word(term or None, None if word in ORDINARY else word, signs)

    def _read(self, word: str) -> Word:
        terms = tuple(filter(None, self._analyzer.sequence(word)))
        words = words_of(word)
        names = tuple(words - ORDINARY)
        signs = signs_of(word) << CUES | time_signs(word)
        if not ROLES.isdisjoint(words):
            signs |= ROLE
        if len(terms) > 1 or len(names) > 1:
            return Word(terms, names, signs | SEVERAL)
        return Word(terms[0] if terms else None, names[0] if names else None, signs)


@lru_cache(maxsize=_LANGUAGES)
def words_in(analyzer: Analyzer) -> QuestionWords:
    """Return the memo of an analyzer's language."""
    return QuestionWords(analyzer)


def each(found: Iterable[str | tuple[str, ...] | None]) -> list[str]:
    """Return all terms or names of words, in order, if some have several.

    >>> each(("ann", None, ("well", "known")))
    ['ann', 'well', 'known']
    """
    flat: list[str] = []
    for item in found:
        if isinstance(item, str):
            flat.append(item)
        elif item is not None:
            flat.extend(item)
    return flat

"""The names in a German text, where every noun has a capital.

A capitalised word is a name unless something says that it is a noun, or only begins a sentence:

- it is a common noun, or a compound of one, in any inflection (`german_words.NOUNS`), or has the
  ending of a derived noun ("-ung", "-heit", "-tion");
- somewhere in the text an article, a quantity or an inflected adjective stands before it ("die
  Wartung", "neue Reifen"), or the text also has it in lower case;
- it stands only where a sentence begins.

Several capitalised words in a row are one name ("Angela Merkel"); a noun divides them, so "Stadt
Jena" names Jena, and a title is left out of the name. Names that take an article ("die Schweiz",
"am Rhein") are lost, unless they are part of a longer one.
"""

import re
from functools import cache, lru_cache

import Stemmer

from recollex_engine.text.german_words import (
    CALENDAR,
    DETERMINERS,
    FUNCTION_WORDS,
    NOUNS,
    PLAIN_NOUNS,
    TITLES,
)

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*\.?")
_DERIVED = re.compile(
    r"(?:ung|heit|keit|schaft|tion|sion|tät|ismus|nis|tum|ling|logie|gra(?:f|ph)ie|metrie|nomie"
    r"|sophie|istik|atik|etik|iker|ologe|erei|innen|erin|ment|enz|anz|chen|lein)"
    r"(?:e?n|s|se|sen|e|es|em)?\Z"
).search
_LIKE_DERIVED = frozenset(("aachen", "münchen", "katharina", "konstanz", "koblenz", "florenz"))
_ADJECTIVE = re.compile(r"[a-zäöüß]{2,}(?:e|en|er|es|em)\Z").match
_BEFORE = 6
"""Characters before a word that say whether it starts a sentence."""
_STARTS = re.compile(
    rf"(?:\A|[.!?:;\u2026\n]\s{{,{_BEFORE}}}+[\"'\u201c\u201e\u00bb\u00ab(*-]{{,{_BEFORE}}}+"
    rf"\s{{,{_BEFORE}}}+|[\u201e\u201c\"\u00bb(])\Z"
)
_JOINS = frozenset(("von", "van", "de", "da", "del", "di", "du", "of"))
_SHORTEST_HEAD = 4


def find_german_names(text: str) -> list[str]:
    """Return the names in a German text as written, in order, each once.

    Cost: about 100 us for 100 words.

    >>> find_german_names("Gestern war Frau Krüger mit Jana Weiß in Jena. Die Wartung war teuer.")
    ['Krüger', 'Jana Weiß', 'Jena']
    """
    return _Names(text).found()


class _Names:
    """The words of one text, and where each stands."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words: list[str] = []
        self.spans: list[tuple[int, int]] = []
        for match in _WORD.finditer(text):
            word, (start, end) = match[0], match.span()
            if word[-1] == ".":  # of a title, or of an initial
                if word[:-1].lower() not in TITLES and len(word) != 2:
                    end -= 1
                word = word[:-1]
            self.words.append(word)
            self.spans.append((start, end))
        self.small = {word for word in self.words if word[0].islower()}
        self.inside: set[str] = set()  # words that stand inside a sentence
        self.nouns: set[str] = set()  # with a determiner or an adjective before them
        for place, word in enumerate(self.words):
            if not word[0].isupper() or self._starts(place):
                continue
            self.inside.add(word)
            if self._follows_determiner(place):
                self.nouns.add(word)

    def _starts(self, place: int) -> bool:
        start = self.spans[place][0]
        if place and self.text[self.spans[place - 1][1] - 1] == ".":  # of a title
            return False
        return _STARTS.search(self.text, max(0, start - _BEFORE), start) is not None or start == 0

    def _gap(self, place: int) -> str:
        return self.text[self.spans[place][1] : self.spans[place + 1][0]]

    def _follows_determiner(self, place: int) -> bool:
        """Return whether a determiner stands before a word, or an adjective that says the same.

        Many verbs end like adjectives: "sagte Jana", "wir besuchen Jana", "ich sehe Jana".
        """
        if place == 0 or self._gap(place - 1) != " ":
            return False
        word, small = self.words[place - 1], self.words[place - 1].lower()
        if small in DETERMINERS:
            return True
        if word[0].isupper() or small in FUNCTION_WORDS or not _ADJECTIVE(word):
            return False
        if small.endswith(("er", "es", "em")):
            return True
        if small.endswith("e") and not small.endswith("te"):
            return "ich" not in {each.lower() for each in self.words[max(0, place - 4) : place]}
        return self._follows_determiner(place - 1)

    def found(self) -> list[str]:
        """Return the names."""
        names: dict[str, str] = {}
        part: list[int] = []
        for place, word in enumerate(self.words):
            if part and (self._gap(place - 1) != " " or not self._goes_on(part, place)):
                self._add(part, names)
                part = []
            if part or word[0].isupper():
                if word[0].isupper() and self._is_no_part(word, part):
                    self._add(part, names)
                    part = []
                else:
                    part.append(place)
        self._add(part, names)
        return list(names.values())

    def _goes_on(self, part: list[int], place: int) -> bool:
        """Return whether the word may follow ``part`` of a name as the next part of it."""
        word = self.words[place]
        if word[0].isupper():
            return True
        after = place + 1
        return (
            word in _JOINS
            and self.words[part[0]] in self.inside  # "Nördlich von Weimar" names Weimar
            and after < len(self.words)
            and self._gap(place) == " "
            and self.words[after][0].isupper()
        )

    def _is_no_part(self, word: str, part: list[int]) -> bool:
        small = word.lower()
        if small in FUNCTION_WORDS or small in CALENDAR or (not part and small in TITLES):
            return True
        return not word.isupper() and (small in self.small or is_noun(small))

    def _add(self, part: list[int], names: dict[str, str]) -> None:
        while part and self.words[part[-1]][0].islower():
            part = part[:-1]
        if not part:
            return
        word = self.words[part[0]]
        if len(part) == 1:
            inside = word in self.inside and word not in self.nouns
            if len(word) == 1 or not (inside or word.isupper()):
                return
            name = word
        else:
            name = self.text[self.spans[part[0]][0] : self.spans[part[-1]][1]]
        names.setdefault(name.casefold(), name)


@lru_cache(maxsize=1 << 14)
def is_noun(small: str) -> bool:
    """Return whether a word in lower case is a common noun, or a compound of one.

    >>> is_noun("dorfschulen"), is_noun("wartung"), is_noun("jena"), is_noun("deutschland")
    (True, True, False, False)
    """
    if small in PLAIN_NOUNS or (_DERIVED(small) is not None and small not in _LIKE_DERIVED):
        return True
    stemmer, stems, heads = _lists()
    stem: str = stemmer.stemWord(small)
    if stem in stems or stem.endswith(heads):
        return True
    return small.endswith("in") and len(small) > _SHORTEST_HEAD and is_noun(small[:-2])


@cache
def _lists() -> tuple[Stemmer.Stemmer, frozenset[str], tuple[str, ...]]:
    """Return a stemmer, the stems of the common nouns, and those that also end compounds."""
    stemmer = Stemmer.Stemmer("german", 0)
    stems = frozenset(map(stemmer.stemWord, NOUNS | PLAIN_NOUNS))
    heads = {stem for word in NOUNS if len(stem := stemmer.stemWord(word)) >= _SHORTEST_HEAD}
    return stemmer, stems, tuple(sorted(heads))

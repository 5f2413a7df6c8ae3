"""How does a text become terms? The keyword arm indexes and looks up the terms made here.

A text becomes a sequence of tokens in text order, one per position:

1. NFKC and case folding; curly apostrophes become straight ones. Characters that nobody sees (soft
   hyphens, zero-width characters, marks of direction) and a hyphen at a line's end within a word
   are left out.
2. Words are runs of letters, digits and combining marks of any script. An apostrophe between
   letters and a dot between digits do not end a word (`o'brien`, `3.5`, `192.168.0.1`), nor does a
   comma before three digits (`10,000` -> `10000`). Everything else separates, so a URL, an address,
   a user name or a hashtag is split into its parts: a search for any part finds it, and so does a
   search for the whole in quotes, as a phrase. An emoji is a word; other symbols are no tokens.
3. Scripts written without spaces (Han, kana, Hangul, Thai, Lao, Khmer, Burmese) become overlapping
   bigrams, one per position; a run of one character becomes that character.
4. English stop words become None, which keeps their position for phrases. Other languages have no
   stop list: BM25 gives their common words a low weight by itself.
5. Words are stemmed by Snowball, then accents are dropped. English and "none" drop accents first,
   so that `cafés` and `cafes` become one term; the stemmers of other languages need the accents,
   so there the accents of the stem are dropped.
"""

import re
import threading
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

import Stemmer

from recollex_engine.errors import InputError
from recollex_engine.text.normal_form import normal_form
from recollex_engine.text.word_lists import STOP_WORDS

ENGLISH = "english"
"""The language of new agents, where none is chosen."""
ANALYZER_VERSION = 1
"""The version of the analysis of words and names, kept in an agent's settings."""

LONGEST_TERM = 128
"""Limit of a word in characters; a longer run is cut into terms of this length (a SHA-512 in hex
has 128)."""

_MEMO_WORDS = 65_536
_MEMO_WORD_CHARS = 32

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3031-\u3035\u3041-\u3096"
    "\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3131-\u318e\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U000323af"
)
"""The letters of scripts that are written without spaces, for a regular expression."""
_IS_UNSPACED = re.compile(f"[{UNSPACED}]").match
_INNER = r"(?:'{w}|(?<=[0-9])\.(?=[0-9]){w}|(?<=[0-9]),(?=[0-9]{{3}}(?![0-9])){w}){{0,8}}"
_ASCII_UNIT = f"[a-z0-9]{{1,{LONGEST_TERM}}}"
_ASCII_WORD = re.compile(_ASCII_UNIT + _INNER.format(w=_ASCII_UNIT))
# Before U+0300 there are no combining marks, and no scripts without spaces.
_IS_LATIN = re.compile("[\x00-\u02ff]*").fullmatch
_LATIN_UNIT = rf"[^\W_]{{1,{LONGEST_TERM}}}"
_LATIN_WORD = re.compile(_LATIN_UNIT + _INNER.format(w=_LATIN_UNIT))

# Combining marks of Latin, Greek and Cyrillic, Hebrew points, Arabic vowel signs. Marks of the
# Indic scripts are vowels and stay.
_ACCENTS = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670]+")
_UNDECOMPOSED = str.maketrans(
    {
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "þ": "th",
        "æ": "ae",
        "œ": "oe",
        "\u0131": "i",
        "ħ": "h",
    }
)
_EMOJI = (
    "[\U0001f1e6-\U0001f1ff]{2}"
    "|[\u2600-\u27bf\U0001f300-\U0001f3fa\U0001f400-\U0001f64f\U0001f680-\U0001f6ff\U0001f900-\U0001faff]"
)
"""A flag, or an emoji without its tone of skin, for a regular expression."""
_UNSEEN = "\u00ad\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\ufeff"
_PLAIN = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'"} | dict.fromkeys(_UNSEEN))
_BROKEN = re.compile(r"(?<=[^\W\d_])-\r?\n[ \t]{0,40}(?=[^\W\d_])")
"""A hyphen at the end of a line, within a word."""
_ENDING = re.compile(r"'(?:s|m|re|ll|ve|d)$")
_ELISION = re.compile(
    r"^(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu|un|all|dall|dell|nell|sull|coll|quell|gl)'"
)
_ELIDING = frozenset({"french", "italian", "catalan"})
_QUOTED = re.compile(r'"(?<!\w.)([^"“”]*)"(?!\w)|“([^"“”]*)”')
_ENDS = (".", "?", "!", "\u2026", "\u3002", "\uff1f", "\uff01", "\u061f")


@dataclass(slots=True)  # a frozen class costs three times as long; nothing changes it
class ParsedQuery:
    """A query as the keyword arm uses it.

    terms: each term once, in order of first occurrence, those inside phrases included. Empty if
    every word is a stop word.
    phrases: the quoted parts that hold a term, without stop words at both ends. None inside a
    phrase stands for any single token.
    text: the query without the quotation marks of its phrases, for the arms that read sentences.
    """

    terms: tuple[str, ...]
    phrases: tuple[tuple[str | None, ...], ...]
    text: str

    @property
    def only_phrases(self) -> bool:
        """Whether every term is in a phrase, so that only stop words are outside the quotes."""
        return set(self.terms) <= {word for phrase in self.phrases for word in phrase}


def check_language(language: object) -> None:
    """Raise `InputError` unless there is a stemmer for ``language``, or it is "none"."""
    known = [*Stemmer.algorithms(), "none"]
    if not isinstance(language, str) or language not in known:
        raise InputError(
            f"language must be one of {', '.join(known)}; got {language!r}: "
            "'none' is for all others, also for Chinese, Japanese and Korean"
        )


class Analyzer:
    """Makes the tokens of texts and queries in one language.

    `language` is a Snowball algorithm's name ("english", "german", ...) or "none" for no stemming;
    another name raises `InputError`. Threads: may be shared.

    >>> Analyzer().sequence("Alice's cafés don't close before 10,000 people leave")
    ['alic', 'cafe', None, 'close', 'befor', '10000', 'peopl', 'leav']
    >>> Analyzer().query('who said "the Grand Canyon"?')
    ParsedQuery(terms=('said', 'grand', 'canyon'), phrases=(('grand', 'canyon'),), \
text='who said the Grand Canyon?')
    """

    def __init__(self, language: str = ENGLISH) -> None:
        check_language(language)
        self.language = language
        self._memo = _Memo(language)
        self._lookup = self._memo.__getitem__
        self._joined = _TokenCache(self.sequence)

    def sequence(self, text: str) -> list[str | None]:
        """Return the tokens of `text` in order, None at the position of a stop word.

        A space separates tokens: those of texts joined by spaces are those of each text. Never
        raises on any string. Cost: linear; about 6 us for 25 English words already seen.
        """
        if "-\n" in text or "-\r\n" in text:
            text = _BROKEN.sub("", text)
        if text.isascii():
            return list(map(self._lookup, _ASCII_WORD.findall(text.lower())))
        folded = _folded(text)
        if _IS_LATIN(folded):
            return list(map(self._lookup, _LATIN_WORD.findall(folded)))
        tokens: list[str | None] = []
        for word in _wide_word().findall(folded):
            if len(word) == 1 or not _IS_UNSPACED(word):
                tokens.append(self._lookup(word))
            else:
                tokens.extend(map("".join, pairwise(word)))
        return tokens

    def words(self, texts: Iterable[str]) -> str:
        """Return the tokens of texts in order, without stop words, joined by spaces.

        >>> Analyzer().words(["Ann", "lives in", "Oslo"])
        'ann live oslo'
        """
        return " ".join(filter(None, map(self._joined.__getitem__, texts)))

    def query(self, text: str) -> ParsedQuery:
        """Return the terms, phrases and bare text of a query.

        A phrase stands between straight or curly double quotes that open before a word and close
        after one, so an inch sign is no quote; an unpaired quote is an ordinary character.
        """
        phrases = []
        bare = ""
        after = 0
        for match in _QUOTED.finditer(text):
            quoted = match[match.lastindex or 0]
            bare += text[after : match.start()] + quoted
            after = match.end()
            phrase = self.sequence(quoted)
            while phrase and phrase[0] is None:
                del phrase[0]
            while phrase and phrase[-1] is None:
                del phrase[-1]
            if phrase:
                phrases.append(tuple(phrase))
        bare += text[after:]
        terms = tuple(filter(None, dict.fromkeys(self.sequence(bare))))
        return ParsedQuery(terms, tuple(dict.fromkeys(phrases)), bare)


def without_quotes(text: str) -> str:
    """Return a sentence that is wholly in quotes without them, any other text as it is.

    Whoever passes on a question quotes it. Words in quotes that end as no sentence does are a
    phrase, see `Analyzer.query`.

    >>> without_quotes('"Where does Ann live?"'), without_quotes('"grand canyon"')
    ('Where does Ann live?', '"grand canyon"')
    """
    whole = _QUOTED.fullmatch(text.strip())
    if whole is None:
        return text
    said: str = whole[whole.lastindex or 0].strip()
    return said if said.endswith(_ENDS) else text


@lru_cache(maxsize=4096)
def terms_of_name(analyzer: Analyzer, name: str) -> tuple[str, ...]:
    """Return the terms of a name, each once. The same names are read again and again.

    >>> terms_of_name(Analyzer(), "The Ann of Oslo")
    ('ann', 'oslo')
    """
    return analyzer.query(name).terms


class _Memo(dict[str, str | None]):
    """Cache: folded word -> token. Bounded. In a race of threads a word is computed twice."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._stemmer = None if language == "none" else Stemmer.Stemmer(language, 0)
        self._stops = STOP_WORDS if language == ENGLISH else frozenset()
        self._accents_first = language in (ENGLISH, "none")
        self._eliding = language in _ELIDING
        self._one_at_a_time = threading.Lock()  # a Snowball stemmer keeps state while it works

    def __missing__(self, word: str) -> str | None:
        token = self._token(word)
        if len(word) <= _MEMO_WORD_CHARS:
            if len(self) >= _MEMO_WORDS:
                self.clear()
            self[word] = token
        return token

    def _token(self, word: str) -> str | None:
        if self._accents_first:
            word = _without_accents(word)
        if word in self._stops:
            return None
        if "'" in word:
            if self._eliding:
                word = _ELISION.sub("", word)
            word = _ENDING.sub("", word)
            if word in self._stops:
                return None
            word = word.replace("'", "")
        stem = word = word.replace(",", "")
        if self._stemmer is not None:
            with self._one_at_a_time:
                stem = self._stemmer.stemWord(word) or word
        return stem if self._accents_first else _without_accents(stem)


class _TokenCache(dict[str, str]):
    """Cache: text -> its tokens without stop words, joined by spaces. Bounded, of short texts."""

    def __init__(self, sequence: Callable[[str], list[str | None]]) -> None:
        super().__init__()
        self._sequence = sequence

    def __missing__(self, text: str) -> str:
        words = " ".join(filter(None, self._sequence(text)))
        if len(text) <= _MEMO_WORD_CHARS:
            if len(self) >= _MEMO_WORDS:
                self.clear()
            self[text] = words
        return words


def _folded(text: str) -> str:
    return normal_form(text, "NFKC").casefold().translate(_PLAIN)


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", word))
    return unicodedata.normalize("NFC", bare).translate(_UNDECOMPOSED) or word


@cache
def _wide_word() -> re.Pattern[str]:
    r"""Return the word pattern for any script, with the combining marks of this Python's Unicode.

    Python's `\w` does not match marks, so it would cut a Hindi word at every vowel sign. Variation
    selectors follow only emoji and digits; this pattern leaves them out too.
    """
    runs: list[list[int]] = []  # as ranges: a class tries its characters past U+FFFF one by one
    for c in (*range(0x300, 0xFE00), *range(0xFE20, 0x1F000)):
        if unicodedata.category(chr(c)) in ("Mn", "Mc") and not _IS_UNSPACED(chr(c)):
            if not runs or runs[-1][1] != c - 1:
                runs.append([c, c])
            runs[-1][1] = c
    marks = "".join(f"{chr(first)}-{chr(last)}" for first, last in runs)
    letter = rf"[^\W_{UNSPACED}]"
    unit = rf"{letter}{{1,{LONGEST_TERM}}}(?:[{marks}]{{1,8}}{letter}{{0,{LONGEST_TERM}}}){{0,16}}"
    return re.compile(rf"[{UNSPACED}]+|{_EMOJI}|{unit}{_INNER.format(w=unit)}")

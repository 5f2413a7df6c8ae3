"""The names of people, places and things that a text holds, found by rule.

No model reads the text: a name is a capitalised word or sequence that is not capitalised for
another reason. The rules are English; texts in scripts without capitals name only their speaker,
and in German, which writes every noun with a capital, nouns are taken for names.
"""

import re
import unicodedata

from recollex_engine.text.analyzer import UNSPACED
from recollex_engine.text.word_lists import CALENDAR, COMMON_WORDS, NOT_NAMES

LONGEST_NAME = 100
"""Limit in characters; a longer capitalised run is no name."""

_UP = "A-Z" + "".join(
    chr(c)
    for c in (*range(0xC0, 0x250), *range(0x370, 0x530), *range(0x1E00, 0x1F00))
    if chr(c).isupper()
)
_HONORIFIC = r"\.(?:(?<=\b[DM]r\.)|(?<=\b(?:Ms|St|Mt|Jr|Sr)\.)|(?<=\bMrs\.)|(?<=\bProf\.))(?= )"
_INITIAL = rf"\.(?:(?=[{_UP}])|(?= [{_UP}])(?<!\bI\.))"
_REST = rf"(?:{_INITIAL}|\w*(?:[-'\u2019&][{_UP}]\w*|-\w+)*(?:{_HONORIFIC})?)"
_JOIN = (
    r"(?:(?: (?:of|de|da|del|di|du|la|le|van|von|bin|ibn|&)(?: (?:the|la|las|los|der|den))?)? "
    r"|(?<=\.))"
)
_SEQUENCE = re.compile(
    rf"[{_UP}](?<![\w@#/\\][{_UP}])(?<!\w\.[{_UP}]){_REST}(?:{_JOIN}[{_UP}]{_REST}){{0,7}}"
).finditer
_BESIDE_UNSPACED = re.compile(rf"(?<=[A-Za-z0-9])(?=[{UNSPACED}])|(?<=[{UNSPACED}])(?=[A-Za-z])")
_JOINING_WORDS = "of de da del di du la le van von bin ibn & the las los der den"
_JOINING = frozenset(_JOINING_WORDS.split())
_ARTICLES_AND_GREETINGS = """
i the a an my our your his her their this that hey hi hello bye thanks thank oh wow yo
"""
_NEVER_LEADING = CALENDAR | _JOINING | frozenset(_ARTICLES_AND_GREETINGS.split())
_LEADING = frozenset({"new"})
_FIRST_NAMES_TOO = frozenset({"may", "june", "april", "august"})
_INFLECTED = re.compile(r".{2,}(?:ing|ly|ed|tion|ment|ments|ness|ings|ful|able|ive|ous)\Z").match
_INFLECTED_NAMES = """
emily kelly sally molly billy holly italy lilly lily beverly kimberly polly wally dolly carly shelly
nelly milly july sterling irving beijing boeing fielding ahmed mohamed mohammed alfred wilfred jared
mildred clement olive clive steve
"""
_NAMES_LIKE_INFLECTIONS = frozenset(_INFLECTED_NAMES.split())
_WORD = re.compile(r"\w+(?:['\u2019&-]\w+)*")
_LONG_TEXT = 2000  # characters; words of a longer text are collected once, not searched per name
_BEFORE_SENTENCE_START = " \t\"'\u201c\u2018(*_"
_WITHIN_SENTENCE = ",;&'\u2019-)/%"
_WITHIN_WORD = re.compile("['\u2019-]")
_MEMO_NAMES = 16_384


def find_names(text: str, speaker: str | None = None) -> list[str]:
    """Return the names in `text` as written, in order, each once, the speaker's name first.

    A name is a capitalised sequence ("Mountain View", "University of Oslo", "Dr. Bob Chen", without
    a possessive 's), an acronym, or one capitalised word. A single word is no name if it is a
    function word, an interjection, a greeting, a month or a weekday; if the text also has it in
    lower case; or if it is an ordinary word at the start of a sentence. Words that are written in
    capitals for emphasis are no names.

    Cost: about 8 us for 25 words.

    >>> find_names("Wow, thanks Mel! Bob Chen's at the University of Oslo since May.", "Alice")
    ['Alice', 'Mel', 'Bob Chen', 'University of Oslo']
    """
    found: dict[str, str] = {}
    if speaker and (name := " ".join(speaker.split())[:LONGEST_NAME]):
        found[name.casefold()] = name
    if not text.isascii():
        text = _BESIDE_UNSPACED.sub(" ", text)  # "Bart去" names Bart
    words: frozenset[str] | None = None
    for match in _SEQUENCE(text):
        sequence = match[0]
        if sequence.casefold() in found:
            continue
        if words is None and len(text) > _LONG_TEXT:
            words = frozenset(_WORD.findall(text))
        if " " in sequence or "." in sequence:
            names = _names_of(sequence, text, match.start(), words)
        elif _is_name(sequence, text, match.start(), words):
            names = [sequence]
        else:
            continue
        for name in names:
            if len(name) <= LONGEST_NAME:
                found.setdefault(name.casefold(), name)
    return list(found.values())


def _is_name(word: str, text: str, start: int, words: frozenset[str] | None) -> bool:
    """Return whether one capitalised word, standing alone at `start`, is a name."""
    small = word.lower()
    if len(word) == 1 or small in NOT_NAMES or small in CALENDAR:
        return False
    shouted = word.isupper()
    if shouted and (len(word) > 6 or _is_ordinary(small)):
        return False
    if (small.endswith("s") and small[:-1] in CALENDAR) or _head(small) in NOT_NAMES:
        return False
    if not shouted and starts_sentence(text, start) and _is_ordinary(_head(small)):
        return False
    if words is not None:
        return small not in words
    return small not in text or re.search(rf"\b{re.escape(small)}\b", text) is None


def _names_of(sequence: str, text: str, start: int, words: frozenset[str] | None) -> list[str]:
    """Return the names in a run of several capitalised words at `start`.

    Words that are never part of a name divide the run ("Hey Mel", "Bob I"). A gerund or an adverb
    is dropped where it starts a sentence ("Seeing Melanie").
    """
    names = []
    part: list[str] = []
    run = sequence.split(" ")
    position = part_start = start
    for number, word in enumerate(run):
        small = word.lower()
        if part:
            last = number == len(run) - 1 and not _digit_at(text, position + len(word) + 1)
            divides = (
                small == "i"
                or (small in CALENDAR and not (last and small in _FIRST_NAMES_TOO))
                or (len(part[-1]) == 2 and part[-1][1] == "." and small in NOT_NAMES)
            )
        else:
            divides = small in _NEVER_LEADING or (
                small not in _LEADING
                and starts_sentence(text, position)
                and (_head(small) in NOT_NAMES or _INFLECTED(small) is not None)
            )
        if divides:
            names.extend(_joined(part, text, part_start, words))
            part = []
        else:
            if not part:
                part_start = position
            part.append(word)
        position += len(word) + 1
    names.extend(_joined(part, text, part_start, words))
    return names


def _joined(part: list[str], text: str, start: int, words: frozenset[str] | None) -> list[str]:
    while part and part[-1] in _JOINING:
        part.pop()
    if not part:
        return []
    if len(part) == 1 and "." not in part[0][:-1]:
        word = part[0].rstrip(".")
        return [word] if _is_name(word, text, start, words) else []
    if all(word.isupper() for word in part) and (
        len(part) > 2 or any(_is_ordinary(word.lower()) for word in part)
    ):
        return []
    return [" ".join(part)]


def _is_ordinary(small: str) -> bool:
    return (
        small in COMMON_WORDS
        or small in NOT_NAMES
        or (_INFLECTED(small) is not None and small not in _NAMES_LIKE_INFLECTIONS)
    )


def _digit_at(text: str, at: int) -> bool:
    return at < len(text) and text[at].isdigit()


def _head(small: str) -> str:
    """Return the word before its first apostrophe or hyphen."""
    return _WITHIN_WORD.split(small, maxsplit=1)[0]


def starts_sentence(text: str, start: int) -> bool:
    """Return whether the word at `start` begins a sentence."""
    at = start - 1
    while at >= 0 and text[at] in _BEFORE_SENTENCE_START:
        at -= 1
    return at < 0 or not (text[at].isalnum() or text[at] in _WITHIN_SENTENCE)


def fold_name(surface: str) -> str:
    """Return the normal form of a name: two names are the same if their normal forms are equal.

    The normal form ignores case, accents, dots, the kind of spaces and apostrophes, a leading
    "the", and a possessive 's at the end.

    >>> fold_name("The  Café Réal's"), fold_name("Dr. O'Neil")
    ('cafe real', "dr o'neil")
    """
    return _folded[surface]


def fold_text(text: str) -> str:
    """Return a text in which a name of any case, accents and dots stands as `fold_name` has it.

    >>> fold_text("I met  Dr. O\u2019Neil")
    "i met dr o'neil"
    """
    if text.isascii():  # as most names are: nothing to decompose
        return " ".join(text.lower().replace(".", " ").split())
    folded = unicodedata.normalize("NFKD", text).casefold()
    if not folded.isascii():
        folded = "".join(c for c in folded if not unicodedata.combining(c))
    return " ".join(folded.replace("\u2019", "'").replace(".", " ").split())


class _Folded(dict[str, str]):
    """Cache: name -> its normal form. Bounded: a transaction folds each of its names often."""

    def __missing__(self, surface: str) -> str:
        name = fold_text(surface[:LONGEST_NAME]).removesuffix("'s").removeprefix("the ") or surface
        if len(surface) <= LONGEST_NAME:
            if len(self) >= _MEMO_NAMES:
                self.clear()
            self[surface] = name
        return name


_folded = _Folded()

"""Who and what a memory names: names read off the text by rule, and one identity per name.

No model reads the text: a name is a capitalised word or sequence that is not capitalised for
another reason. The rules are English; texts in scripts without capitals name only their speaker.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Sequence

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from recollex_engine.text.word_lists import CALENDAR, COMMON_WORDS, NOT_NAMES

# Memora 2.3.2
NAME_WEIGHT = 0.5
COMPANY_WEIGHT = 0.3
RECENCY_WEIGHT = 0.2
MATCH_THRESHOLD = 0.75
FULL_COMPANY = 10
"""Shared memories from which the company signal is at its full 1.0."""
RECENCY_US = 7 * 86_400_000_000
"""The gap after which the recency signal has fallen to 1/e: 7 days."""

CANDIDATES = 32
"""Known names of one word that a new one is scored against, at most: the most similar of them."""
_ROUNDING = 1e-9  # sums of the same parts in another order differ by less

LONGEST_NAME = 100
"""Characters of a surface; a longer capitalised run is no name."""

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
_LONG_TEXT = 2000  # characters from which its words are collected once, not searched per name
_BEFORE_SENTENCE_START = " \t\"'\u201c\u2018(*_"
_WITHIN_SENTENCE = ",;&'\u2019-)/%"


def mentions(text: str, speaker: str | None = None) -> list[str]:
    """Return the names in `text` as written, in order, each once, the speaker's first.

    A name is a capitalised sequence ("Mountain View", "University of Oslo", "Dr. Bob Chen", without
    a possessive 's), an acronym, or one capitalised word. One word is no name if it is a function
    word, an interjection, a greeting, a month or a weekday; if it is also written small in this
    text; or, at the start of a sentence, if it is an ordinary word. Shouted words are no names.

    Cost: about 8 us for 25 words.

    >>> mentions("Wow, thanks Mel! Bob Chen's at the University of Oslo since May.", "Alice")
    ['Alice', 'Mel', 'Bob Chen', 'University of Oslo']
    """
    found: dict[str, str] = {}
    if speaker and (name := " ".join(speaker.split())[:LONGEST_NAME]):
        found[name.casefold()] = name
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
    if not shouted and _starts_sentence(text, start) and _is_ordinary(_head(small)):
        return False
    if words is not None:
        return small not in words
    return small not in text or re.search(rf"\b{re.escape(small)}\b", text) is None


def _names_of(sequence: str, text: str, start: int, words: frozenset[str] | None) -> list[str]:
    """Return the names in a run of several capitalised words at `start`.

    Words that are never part of a name divide the run ("Hey Mel", "Bob I"); a gerund or adverb goes
    when it starts a sentence ("Seeing Melanie").
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
                and _starts_sentence(text, position)
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
    return re.split("['\u2019-]", small, maxsplit=1)[0]


def _starts_sentence(text: str, start: int) -> bool:
    at = start - 1
    while at >= 0 and text[at] in _BEFORE_SENTENCE_START:
        at -= 1
    return at < 0 or not (text[at].isalnum() or text[at] in _WITHIN_SENTENCE)


class EntityTable:
    """The names of one agent's entities, in memory, rebuilt from the log by `add`.

    One writer at a time; callers of `resolve` hold its lock too. Resolution depends on what was
    added before, so its outcome is recorded and never recomputed on replay.

    >>> table = EntityTable()
    >>> table.add("Bob Chen", 7)
    >>> table.resolve("bob chen", 0, [], lambda entity, others: 0, lambda entity: 0)
    7
    """

    def __init__(self) -> None:
        self._entity_of: dict[str, int] = {}
        self._as_written: dict[str, int] = {}  # spares folding a surface that was met before
        self._first: set[int] = set()  # entities whose first name is known
        self._block: dict[str, list[str]] = {}  # three letters that start a word -> first names

    def __len__(self) -> int:
        """Return the number of different names."""
        return len(self._entity_of)

    def add(self, surface: str, entity_id: int) -> None:
        """Record that `surface` names the entity. A name already known keeps its entity."""
        name = fold(surface)
        if name in self._entity_of:
            return
        self._entity_of[name] = entity_id
        if entity_id in self._first:
            return
        self._first.add(entity_id)
        for key in {word[:3] for word in name.split()}:
            self._block.setdefault(key, []).append(name)

    def get(self, surface: str) -> int | None:
        """Return the entity of a name that is known, whatever its case and accents."""
        entity = self._as_written.get(surface)
        if entity is None:
            entity = self._entity_of.get(fold(surface))
            if entity is not None:
                self._as_written[surface] = entity
        return entity

    def resolve(
        self,
        surface: str,
        at_us: int,
        others: Sequence[int],
        shared: Callable[[int, Sequence[int]], int],
        last_seen: Callable[[int], int],
    ) -> int | None:
        """Return the entity that `surface` names at `at_us`, or None: the caller makes a new one.

        A folded name that is known is its entity. Otherwise the best candidate with a score of at
        least `MATCH_THRESHOLD` (Memora 2.3.2; ties: the lower id):

            score = 0.5 * (1 - levenshtein / longer length)
                  + 0.3 * min(1, shared(candidate, others) / 10)
                  + 0.2 * exp(-|at_us - last_seen(candidate)| / 7 days)

        `others` are the entities already resolved in this memory. None of them is a candidate: two
        names in one memory are distinct, as the paper's prose wants ("entities mentioned together
        frequently are likely distinct"). Its formula, though, *adds* the co-occurrence, so
        `shared` cannot count memories of the candidate with this name, which would then speak for
        the opposite of the prose. Read as the candidate's memories together with another entity of
        this memory it does what a sum should: the same company speaks for the same person. Under
        this formula the paper's example, "Alice" on Monday and "Alice Chen" on Tuesday, scores at
        most .25 + .3 + .17 and stays below its own threshold.

        Candidates share the first three letters of some word with the name (so also any whole
        word). The first name of each is compared, not those that were taken for it since: a guess
        that rests on a guess drifts away. A name similarity below the threshold is not scored,
        however good the company and recent the time: the printed sum alone makes "Greek" of a
        "Greta" and one place of "Wuhan Plaza" and "Wuhan City". Of names that are all alike ("Name
        123", "Name 124") the `CANDIDATES` most similar of a word are.
        Cost: 0.1 us for each candidate, and the callbacks for those that may still be the best.
        """
        name = fold(surface)
        known = self._entity_of.get(name)
        if known is not None:
            return known
        closest: dict[int, float] = {}
        for key in {word[:3] for word in name.split()}:
            alike = process.extract(
                name,
                self._block.get(key, ()),
                scorer=Levenshtein.normalized_similarity,
                limit=CANDIDATES,
                score_cutoff=MATCH_THRESHOLD,
            )
            for candidate, likeness, _ in alike:
                entity = self._entity_of[candidate]
                if entity not in others and likeness > closest.get(entity, 0.0):
                    closest[entity] = likeness
        best: int | None = None
        best_score = MATCH_THRESHOLD
        for entity, likeness in sorted(closest.items(), key=lambda item: (-item[1], item[0])):
            named = NAME_WEIGHT * likeness
            if named + COMPANY_WEIGHT + RECENCY_WEIGHT < best_score:
                break
            recent = RECENCY_WEIGHT * math.exp(-abs(at_us - last_seen(entity)) / RECENCY_US)
            if named + COMPANY_WEIGHT + recent < best_score - _ROUNDING:
                continue
            company = min(1.0, shared(entity, others) / FULL_COMPANY)
            score = named + COMPANY_WEIGHT * company + recent
            if score > best_score or (score == best_score and (best is None or entity < best)):
                best, best_score = entity, score
        return best


def fold(surface: str) -> str:
    """Return the form under which two surfaces are the same name.

    Case, accents, dots, the kind of spaces and apostrophes, a leading "the" and a closing
    possessive do not tell names apart.

    >>> fold("The  Café Réal's"), fold("Dr. O'Neil")
    ('cafe real', "dr o'neil")
    """
    name = unicodedata.normalize("NFKD", surface[:LONGEST_NAME]).casefold()
    name = "".join(c for c in name if not unicodedata.combining(c)) if not name.isascii() else name
    name = " ".join(name.replace("\u2019", "'").replace(".", " ").split())
    name = name.removesuffix("'s")
    return name.removeprefix("the ") or surface

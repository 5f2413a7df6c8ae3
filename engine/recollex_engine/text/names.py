"""Names of people, places and things: found in a text by rule, and resolved to entities.

No model reads the text: a name is a capitalised word or sequence that is not capitalised for
another reason. The rules are English; texts in scripts without capitals name only their speaker,
and in German, which writes every noun with a capital, nouns are taken for names.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias, get_args

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from recollex_engine.errors import InputError
from recollex_engine.text.analyzer import UNSPACED
from recollex_engine.text.name_variants import plain_name
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


# The table of an agent's entity names, and the rule that resolves a new name to one of them.
EntityRule: TypeAlias = Literal["alike", "memora"]
"""When are two names one entity? "alike": Memora's sum, and the names are alike by themselves.
"memora": the sum as printed; names that the papers resolve are equal, see `name_variants`."""

# Memora 2.3.2
NAME_WEIGHT = 0.5
COMPANY_WEIGHT = 0.3
RECENCY_WEIGHT = 0.2
MATCH_THRESHOLD = 0.75
FULL_COMPANY = 10
"""Number of shared memories at which the company signal reaches its maximum, 1.0."""
RECENCY_US = 7 * 86_400_000_000
"""The time gap at which the recency signal has fallen to 1/e: 7 days."""

CANDIDATES = 32
"""Limit of the known names, per word of a new name, that it is scored against: the most similar."""
_LEAST_LIKENESS = 0.5
"""The name similarity below which the printed sum cannot reach `MATCH_THRESHOLD`."""
_ROUNDING = 1e-9  # bound of the difference between sums of the same terms in another order


class EntityTable:
    """The names of one agent's entities, in memory. A replay of the log rebuilds it by `add`.

    Threads: one writer at a time; callers of `resolve` hold the writer's lock too.
    Resolution depends on the names that were added before. So its outcome is recorded in the log
    and never computed again on replay.

    >>> table = EntityTable()
    >>> table.add("Bob Chen", 7)
    >>> table.resolve("bob chen", 0, [], lambda entity, others: 0, lambda entity: 0)
    7
    """

    def __init__(self, rule: EntityRule = "alike") -> None:
        self.rule: EntityRule = rule
        self._entity_of: dict[str, int] = {}
        self._as_written: dict[str, int] = {}  # cache by unfolded name: saves folding it again
        self._first: set[int] = set()  # entities whose first name is known
        self._block: dict[str, list[str]] = {}  # first three letters of a word -> first names
        self._variants: dict[str, list[int]] = {}  # plain form of a first name -> its entities
        self._names: list[str] = []  # all first names, for the printed rule

    def __len__(self) -> int:
        """Return the number of different names."""
        return len(self._entity_of)

    def add(self, surface: str, entity_id: int) -> None:
        """Record that `surface` names the entity. A name that is known already keeps its entity."""
        name = fold_name(surface)
        if name in self._entity_of:
            return
        self._entity_of[name] = entity_id
        if entity_id in self._first:
            return
        self._first.add(entity_id)
        if self.rule == "memora":
            self._variants.setdefault(plain_name(name), []).append(entity_id)
            self._names.append(name)
            return
        for key in {word[:3] for word in name.split()}:
            self._block.setdefault(key, []).append(name)

    def part(self, surface: str, entity_id: int) -> None:
        """Record that a known name is the first of a new entity from now on."""
        name = fold_name(surface)
        self._entity_of.pop(name, None)
        self._as_written = {}
        self.add(surface, entity_id)

    def get(self, surface: str) -> int | None:
        """Return the entity of a known name, whatever its case and accents; None if unknown."""
        entity = self._as_written.get(surface)
        if entity is None:
            entity = self._entity_of.get(fold_name(surface))
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
        """Return the entity that `surface` names at `at_us`; None if the caller must make one.

        If the folded name is known, its entity is returned. Otherwise the best candidate with a
        score of at least `MATCH_THRESHOLD` is returned (Memora 2.3.2; ties: the lower id):

            score = 0.5 * (1 - levenshtein / longer length)
                  + 0.3 * min(1, shared(candidate, others) / 10)
                  + 0.2 * exp(-|at_us - last_seen(candidate)| / 7 days)

        `others` are the entities already resolved in this memory. None of them is a candidate: two
        names in one memory are distinct, as the paper's prose demands ("entities mentioned together
        frequently are likely distinct"). But the paper's formula *adds* the co-occurrence. If
        `shared` counted the memories of the candidate together with this name, the formula would
        say the opposite of the prose. So `shared` counts the candidate's memories together with
        another entity of this memory: the same company is evidence for the same person. With this
        formula the paper's own example, "Alice" on Monday and "Alice Chen" on Tuesday, scores at
        most 0.25 + 0.3 + 0.17 and stays below the paper's threshold.

        Candidates share the first three letters of some word with the name (so also any whole
        word). Only the first name of each candidate is compared, not the names that were resolved
        to it since: a guess that rests on another guess drifts away. A candidate whose name
        similarity is below the threshold is not scored, however good the company and however
        recent the time: the printed sum alone would merge "Greek" with "Greta" and "Wuhan Plaza"
        with "Wuhan City". Where many names are alike ("Name 123", "Name 124"), only the
        `CANDIDATES` most similar names of each word are scored. No candidate is sought without
        `others`: the sum of another name is below 0.7 then.

        With the rule "memora" the sum is the printed one: every known name is a candidate, without
        a threshold of its own. Names with the same plain form ("Google Inc" and "Google", "Bob" and
        "Robert") are equal, as both papers say of them, though their distance is far too great for
        the sum; of several such entities the one named last is returned.

        Cost: 0.1 us for each candidate, and the callbacks for those that may still be the best.
        """
        name = fold_name(surface)
        known = self._entity_of.get(name)
        if known is not None:
            return known
        if self.rule == "memora":
            same = [e for e in self._variants.get(plain_name(name), ()) if e not in others]
            if same:
                return max(same, key=lambda entity: (last_seen(entity), -entity))
        if not others:
            return None
        closest: dict[int, float] = {}
        for candidate, likeness in self._candidates(name):
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
                best = entity
                best_score = score
        return best

    def _candidates(self, name: str) -> list[tuple[str, float]]:
        """Return the first names that a new name is scored against, with their likeness."""
        if self.rule == "memora":
            lists = [self._names]
            least = _LEAST_LIKENESS
        else:
            lists = [self._block.get(key, []) for key in {word[:3] for word in name.split()}]
            least = MATCH_THRESHOLD
        return [
            (candidate, likeness)
            for names in lists
            for candidate, likeness, _ in process.extract(
                name,
                names,
                scorer=Levenshtein.normalized_similarity,
                limit=CANDIDATES,
                score_cutoff=least,
            )
        ]


def check_entity_rule(rule: object) -> None:
    """Raise `InputError` unless this is the name of a rule."""
    if rule not in get_args(EntityRule):
        raise InputError(
            f"entity_rule must be one of {', '.join(get_args(EntityRule))}, got {rule!r}"
        )

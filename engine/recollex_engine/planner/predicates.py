"""How does an English question name a predicate of the agent's facts?

"lives_in", "was the director of" and "editorOf" are names that callers gave. Each is taken apart
into its core words, in a form that inflection does not change, and the preposition after them::

    lives_in             live    in    a verb: Ann lives in Oslo
    deputy_director_of   deputy director   of    a noun: Ann is the deputy director of Acme
    has_pet              pet     -     a noun of the subject: Rex is Ann's pet
    owned_by             own     by    a passive verb: the house is owned by Ann
    took_a_trip_to       trip    to    an event that is told by a noun, see `event_nouns`

A question names a predicate only if it has all of its core words, next to each other, and its
preposition where one follows. A few verbs are other words for a state (`_OTHER_WORDS`); they count
only where no predicate has the word itself, and where one predicate alone fits.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from recollex_engine.planner.event_nouns import NOUNS_OF_VERBS, event_of, is_noun_at

Kind = Literal["noun", "owned", "verb", "event"]

_PARTS = re.compile(r"[A-Z]{2,}(?=[A-Z][a-z]|\b|_|\d)|[A-Z]?[a-z]+\d*|[A-Z]\d*|\d+|[^\W\d_a-zA-Z]+")
_LEADING_WORDS = """
is was are were be been being has had have the a an did does do
"""
_LEADING = frozenset(_LEADING_WORDS.split())
_PREPOSITIONS = """
of in at for to with from on by into under over about as against near through towards
"""
PREPOSITIONS = frozenset(_PREPOSITIONS.split())
_IRREGULAR_FORMS = """
taught teach|bought buy|wrote write|written write|led lead|ran run|won win|met meet|left leave
held hold|sold sell|built build|went go|gone go|came come|saw see|seen see|ate eat|eaten eat
drove drive|driven drive|gave give|given give|took take|taken take|made make|spoke speak
spoken speak|sang sing|sung sing|swam swim|wore wear|worn wear|told tell|said say|paid pay
knew know|known know|grew grow|flew fly|flown fly|fell fall|felt feel|kept keep|slept sleep
lost lose|sent send|spent spend|stood stand|thought think|brought bring|caught catch|fought fight
began begin|begun begin|chose choose|chosen choose|broke break|broken break|rode ride|ridden ride
drew draw|drawn draw|became become|found find|people person|wives wife|children child
"""
IRREGULAR = dict(
    pair.split() for line in _IRREGULAR_FORMS.split("\n") for pair in line.split("|") if pair
)
_OTHER_WORDS: dict[tuple[str, ...], tuple[tuple[str, str, str], ...]] = {
    ("reside", "in"): (("live", "in", ""),),
    ("dwell", "in"): (("live", "in", ""),),
    ("move", "to"): (("live", "in", "start"), ("reside", "in", "start")),
    ("relocate", "to"): (("live", "in", "start"), ("reside", "in", "start")),
    ("join", ""): (
        ("work", "for", "start"),
        ("work", "at", "start"),
        ("play", "for", "start"),
        ("belong", "to", "start"),
    ),
    ("employ", "by"): (("work", "for", ""), ("work", "at", "")),
    ("employ", "at"): (("work", "for", ""), ("work", "at", "")),
    ("attend", ""): (("study", "at", ""), ("educate", "at", "")),
    ("wed", ""): (("marry", "", ""), ("marry", "to", "")),
}
"""A verb and its preposition -> what it may stand for, and whether it is the start of that."""
_ALIKE = frozenset({("work", "at", "for"), ("work", "for", "at")})
"""A verb, the preposition of a predicate, and one that says the same in a question."""
LOOSE = frozenset({("marri", "to")})
"""A verb of predicates, and their preposition, which a question may leave out."""


@dataclass(frozen=True, slots=True)
class Wording:
    """A predicate taken apart. core: its words, see `stem`. passive: the subject undergoes it.

    verb, noun: "take" and "trip" of the event "took_a_trip_to"; "" of other predicates.
    """

    predicate: str
    core: tuple[str, ...]
    preposition: str
    kind: Kind
    passive: bool = False
    verb: str = ""
    noun: str = ""

    @property
    def names_a_place(self) -> bool:
        """Whether its object is where something is or is done: "lives in", "visited"."""
        is_at = self.preposition in _OF_PLACES or self.core[-1] in _INTO_PLACES
        return is_at or self.kind == "noun"

    @property
    def is_of_places(self) -> bool:
        """Whether its object is hardly a person: "lives in", "visited"; not "married to"."""
        return self.core[-1] in _INTO_PLACES or self.preposition in ("in", "into", "at")

    def is_said_by(self, word: str) -> bool:
        """Return whether a word of a question may be its first one: "meetings", not "meet"."""
        return self.kind != "event" or word in (self.noun, f"{self.noun}s", f"{self.noun}es")

    def is_noun_itself(self, words: str) -> bool:
        """Return whether a question's words are those of a predicate such as "spouse"."""
        itself = " ".join(_PARTS.findall(self.predicate)).lower()
        return self.kind == "verb" and not self.preposition and words in (itself, f"{itself}s")


@dataclass(frozen=True, slots=True)
class Mention:
    """A place of a question that names a predicate, or several that share their words.

    first, after: tokens. begins: the word means the start of the state, such as "moved to".
    preposition: what stands after the words in the question, "" if none does.
    """

    first: int
    after: int
    wordings: tuple[Wording, ...]
    preposition: str = ""
    begins: bool = False
    note: str = field(default="", compare=False)


_OF_PLACES = frozenset({"in", "at", "on", "to", "for", "from", "near", "into", "under", "over"})


@lru_cache(maxsize=4096)
def wording(predicate: str) -> Wording:
    """Return a predicate taken apart.

    >>> wording("was_the_deputy_director_of").core, wording("worksAt").preposition
    (('deputi', 'director'), 'at')
    """
    words = [each.lower() for each in _PARTS.findall(predicate)]
    had = bool(words) and words[0] in ("has", "had", "have")
    verb, words = event_of(words) or ("", words)
    noun = words[0] if verb else ""
    while len(words) > 1 and words[0] in _LEADING:
        words.pop(0)
    preposition = words.pop() if len(words) > 1 and words[-1] in PREPOSITIONS else ""
    core = tuple(map(stem, words))
    if verb:
        return Wording(predicate, core, preposition, "event", verb=verb, noun=noun)
    if preposition == "of":
        return Wording(predicate, core, preposition, "noun")
    kind: Kind = "owned" if had and not preposition else "verb"
    return Wording(predicate, core, preposition, kind, preposition == "by")


@lru_cache(maxsize=4096)
def event_wording(predicate: str) -> Wording | None:
    """Return how a predicate that is a verb is said by its noun: "visited" as "a visit to".

    >>> event_wording("visited").noun, event_wording("lives_in")
    ('visit', None)
    """
    read = wording(predicate)
    verb = read.core[0] if len(read.core) == 1 and not read.preposition else ""
    if read.kind != "verb" or verb not in NOUNS_OF_VERBS:
        return None
    noun, preposition, light = NOUNS_OF_VERBS[verb]
    return Wording(predicate, (stem(noun),), preposition, "event", verb=light, noun=noun)


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return what the forms of a word have in common.

    >>> {stem(word) for word in ("study", "studies", "studied", "studying")}
    {'studi'}
    >>> {stem(word) for word in ("live", "lives", "lived", "living")}, stem("taught")
    ({'liv'}, 'teach')
    """
    word = IRREGULAR.get(word.lower(), word.lower())
    if word.endswith("ings"):
        word = word.removesuffix("s")  # "meetings" as "meeting"
    if any(letter.isdigit() for letter in word):
        return word.removesuffix("s")
    for suffix in ("ies", "ied"):
        if word.endswith(suffix) and len(word) > len(suffix) + 1:
            return word[: -len(suffix)] + "i"
    for suffix in ("ing", "ed", "es", "s"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3 and not word.endswith("ss"):
            word = word[: -len(suffix)]
            if suffix in ("ing", "ed") and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    if word.endswith("ll"):
        return word[:-1]  # travelled, traveled
    if word.endswith("y") and len(word) > 3 and word[-2] not in "aeiou":
        return word[:-1] + "i"
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


_INTO_PLACES = frozenset(map(stem, ("visit", "enter", "tour", "reach", "attend", "inhabit")))
"""Verbs without a preposition whose object is a place."""


def find_mentions(words: Sequence[str], predicates: Iterable[str]) -> list[Mention]:
    """Return where words of a question name predicates, longest first, without overlaps.

    words: lower case; an empty string where a name or a time stands.
    """
    stems = [stem(word) if word else "" for word in words]
    by_core: dict[tuple[str, ...], list[Wording]] = {}
    for predicate in predicates:
        read = wording(predicate)
        for each in (read, event_wording(predicate)):
            if each is not None and each.core:
                by_core.setdefault(each.core, []).append(each)
    found: list[Mention] = []
    taken: set[int] = set()
    longest = max(map(len, by_core), default=0)
    for size in range(longest, 0, -1):
        for first in range(len(stems) - size + 1):
            place = range(first, first + size)
            alike = by_core.get(tuple(stems[first : first + size]), ())
            known = _fitting(alike, words, first)
            if known and taken.isdisjoint(place):
                taken.update(place)
                found.append(_mention(words, first, first + size, known))
    left = ["" if place in taken else each for place, each in enumerate(stems)]
    found += _other_words(words, left, by_core)
    return sorted(found, key=lambda each: each.first)


def _fitting(alike: Sequence[Wording], words: Sequence[str], first: int) -> list[Wording]:
    """Return those wordings, with the same core, that a question's words at ``first`` may be."""
    known = [each for each in alike if each.is_said_by(words[first])]
    events = [each for each in known if each.kind == "event"]
    if events and is_noun_at(words, first):
        return events
    return [each for each in known if each.kind != "event" or event_wording(each.predicate) is None]


def _mention(words: Sequence[str], first: int, after: int, known: list[Wording]) -> Mention:
    """Return a mention of those predicates whose preposition fits to the next word."""
    next_word = words[after] if after < len(words) else ""
    if next_word not in PREPOSITIONS:
        return Mention(first, after, tuple(known))
    said = " ".join(words[first:after])
    fitting = tuple(
        each
        for each in known
        if each.preposition == next_word or (next_word == "of" and each.is_noun_itself(said))
    )
    if fitting:
        return Mention(first, after + (next_word not in ("of", "by")), fitting, next_word)
    alike = tuple(each for each in known if (each.core[-1], each.preposition, next_word) in _ALIKE)
    if alike:
        return Mention(first, after + 1, alike, alike[0].preposition)
    return Mention(first, after, tuple(known), next_word)


def _other_words(
    words: Sequence[str],
    stems: Sequence[str],
    by_core: dict[tuple[str, ...], list[Wording]],
) -> list[Mention]:
    found = []
    for (verb, preposition), meanings in (
        ((stem(words[0]), words[1]), meanings) for words, meanings in _OTHER_WORDS.items()
    ):
        for place, each in enumerate(stems):
            follows = words[place + 1] if place + 1 < len(words) else ""
            if not each or each != verb or (preposition and follows != preposition):
                continue
            meant = [
                (known, mode == "start")
                for core, kept, mode in meanings
                for known in by_core.get((stem(core),), [])
                if known.preposition == kept
            ]
            if len(meant) == 1:
                known, begins = meant[0]
                after = place + 1 + bool(preposition)
                note = f"I read {' '.join(words[place:after])!r} as {known.predicate}"
                found.append(Mention(place, after, (known,), known.preposition, begins, note))
    return found

"""Predicates that say an event by a noun: "took a trip to", "had a meeting with", "gave a talk at".

A question names such an event by its noun, with or without the verb::

    Where did Ann take a trip to?       What was Ann's second trip?
    How many trips did Ann take?        the last trip to Oslo that Ann took

So the noun is the predicate's core. Its verb says nothing more where it governs the noun, before it
("took her second trip") or after it ("the trip that Ann took"); anywhere else it is a verb of its
own: "What did Ann take on her second trip?". Of a few verbs the noun is known too: a predicate
"visited" says what "the second visit" is.
"""

from collections.abc import Sequence

from recollex_engine.planner.cue_words import ORDINALS
from recollex_engine.text.word_lists import EVENT_NOUNS

_VERBS = {
    form: verb
    for verb, forms in {
        "take": "take takes took taken taking",
        "make": "make makes made making",
        "give": "give gives gave given giving",
        "pay": "pay pays paid paying",
        "hold": "hold holds held holding",
        "go": "go goes went gone going",
        "have": "have has had having",
    }.items()
    for form in forms.split()
}
"""Form -> verb that may say no more than that an event happened."""
_ARTICLES = frozenset({"a", "an"})
_CHOOSING = frozenset({*ORDINALS, "last", "latest", "earliest", "newest", "most", "recent", "very"})
_BEFORE_NOUN = _ARTICLES | _CHOOSING | {"the", "her", "his", "their", "its"}
_DETERMINERS = (_BEFORE_NOUN - _CHOOSING) | {"'s", "'", "many", "which", "what"}
NOUNS_OF_VERBS = {
    "visit": ("visit", "to", "make"),
    "meet": ("meeting", "with", "have"),
    "tour": ("tour", "of", "take"),
}
"""A verb without a preposition -> its noun, and the preposition and the verb that stand with it."""
_AFTER_NOUN = frozenset({"that", "which", "did", "has", "have", "had", "was", "were", "ever"})


def event_of(words: Sequence[str]) -> tuple[str, list[str]] | None:
    """Return the verb of a predicate's words, and the rest, from its noun on; None without one.

    >>> event_of(["went", "on", "a", "trip", "to"])
    ('go', ['trip', 'to'])
    >>> event_of(["took", "over"]) is None
    True
    """
    verb = _VERBS.get(words[0]) if words else None
    if verb is None:
        return None
    first = 1 + (verb == "go" and words[1:2] == ["on"])
    first += words[first : first + 1] != [] and words[first] in _ARTICLES
    rest = list(words[first:])
    return (verb, rest) if rest and rest[0] in EVENT_NOUNS else None


def is_form(word: str) -> bool:
    """Return whether a word is a form of a verb that stands with the noun of an event."""
    return word.lower() in _VERBS


def is_noun_at(words: Sequence[str], place: int) -> bool:
    """Return whether a word that may be a verb is a noun, as in "the first visit".

    words: as for `places_of_verb`.
    """
    before = place - 1
    while before > 0 and words[before] in _CHOOSING:
        before -= 1
    return before >= 0 and words[before] in _DETERMINERS


def places_of_verb(words: Sequence[str], verb: str, first: int, after: int) -> list[int]:
    """Return where a question has the verb of the noun at [first, after), and what belongs to it.

    words: lower case; an empty string where a name or a time stands.
    """
    place = first - 1
    while place >= 0 and words[place] in _BEFORE_NOUN:
        place -= 1
    place -= verb == "go" and place > 0 and words[place] == "on"
    if place < 0 or _VERBS.get(words[place]) != verb:
        place = after
        while place < len(words) and (not words[place] or words[place] in _AFTER_NOUN):
            place += 1
    if place >= len(words) or _VERBS.get(words[place]) != verb:
        return []
    has_on = verb == "go" and words[place + 1 : place + 2] == ["on"]
    return [place, place + 1] if has_on else [place]

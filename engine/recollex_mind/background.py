"""How does an agent's background grow? What is new is merged into it (Memora 4.4).

By a language model if there is one. By rule otherwise: the text is put in the first person; a
sentence that the background holds already is left out; one that says anew what can be so only once
("I was born in", "I live in", "my name is") takes the old one's place; the others are appended.

How does an agent say of itself what was said to it? "You were born" becomes "I was born".
English, by rule: the pronouns of the second person become those of the first, and the verbs beside
them follow. "you" is "I" before a verb and "me" after a preposition or at the end of a clause.
"""

import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from recollex_engine.errors import LanguageModelError
from recollex_mind.llm.language_model import LanguageModel
from recollex_mind.llm.prompts import find_prompt
from recollex_mind.profile import MAX_BACKGROUND
from recollex_mind.prompt_data import as_data

if TYPE_CHECKING:
    from pydantic import BaseModel

_PAIRS = (
    ("you are not", "I am not"),
    ("you aren't", "I'm not"),
    ("you were not", "I was not"),
    ("you weren't", "I wasn't"),
    ("you are", "I am"),
    ("you were", "I was"),
    ("are you", "am I"),
    ("were you", "was I"),
    ("you're", "I'm"),
    ("you've", "I've"),
    ("you'll", "I'll"),
    ("you'd", "I'd"),
    ("yourself", "myself"),
    ("yours", "mine"),
    ("your", "my"),
)
_BEFORE = r"to|for|with|at|of|about|from|by|like|than|on|in|against|around|behind|near|without"
_OBJECT = re.compile(rf"\b({_BEFORE}) you\b|\byou(?=\s*(?:[.,;:!?)]|$))", re.I)
_SECOND = re.compile(r"\byou(?:r|rs|rself|'\w+)?\b", re.I)
_SUBJECT = re.compile(r"\byou\b", re.I)
_SENTENCE = re.compile(r"(?:^|(?<=[.!?])\s+)m(?=[ey])")


def in_first_person(text: str) -> str:
    """Return a text about "you" as one about "I"; a text without "you" stays as it is.

    >>> in_first_person("You were born in Texas. Your friends like you, and you've two dogs.")
    'I was born in Texas. My friends like me, and I've two dogs.'
    """
    text = text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'") if _SECOND.search(text) else text
    for second, first in _PAIRS:
        text = re.sub(rf"\b{second}\b", first, text, flags=re.I)
    text = _OBJECT.sub(lambda found: f"{found[1]} me" if found[1] else "me", text)
    text = _SUBJECT.sub("I", text)
    return _SENTENCE.sub(lambda found: found[0][:-1] + "M", text)


PROMPT = "background-1"
OPERATION = "background"
_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=[^a-z])")
_ONCE = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"i was born (?:in|at)\b",
        r"i was born on\b",
        r"i grew up in\b",
        r"i(?: am|'m) from\b|i come from\b",
        r"i (?:now )?live in\b|i(?: am|'m) living in\b",
        r"i (?:now )?work (?:at|for)\b|i(?: am|'m) employed (?:at|by)\b",
        r"my name is\b|i(?: am|'m) called\b",
        r"i(?: am|'m) (?:now )?\d+ years old\b",
        r"my (?:mother|first) (?:tongue|language) is\b",
    )
)


def merged_by_rule(current: str, new: str) -> str:
    """Return a background with what is new, in the first person.

    >>> merged_by_rule("I was born in Colorado. I cook.", "You were born in Texas")
    'I was born in Texas. I cook.'
    >>> merged_by_rule("I was born in Texas", "I have 10 years of startup experience.")
    'I was born in Texas. I have 10 years of startup experience.'
    """
    held: list[str] = []
    known: Counter[str] = Counter()
    single: dict[int, frozenset[int]] = {}  # place -> `_kinds`, of those that have some

    def put(sentence: str, place: int) -> None:
        held[place : place + 1] = [sentence]
        known[_same(sentence)] += 1
        if kinds := _kinds(sentence):
            single[place] = kinds

    for sentence in _sentences(current):
        put(sentence, len(held))
    for sentence in _sentences(in_first_person(new)):
        if known[_same(sentence)]:
            continue
        kinds = _kinds(sentence)
        place = next((n for n in sorted(single) if single[n] & kinds), len(held))
        if place < len(held):
            known[_same(held[place])] -= 1
        put(sentence, place)
    return (
        " ".join(_ended(each) for each in held[:-1])
        + (" " if held[1:] else "")
        + (held[-1] if held else "")
    )


def merged_by_model(model: LanguageModel, current: str, new: str) -> str:
    """Return a background with what is new, as a model merges it. Raises `LanguageModelError`."""
    messages = find_prompt(PROMPT).render(
        current=as_data(current) or "(empty)", new=as_data(new), most=str(MAX_BACKGROUND)
    )
    answer = model.ask_for(_answer_type(), messages, operation=OPERATION, most_tokens=400)
    merged = in_first_person(str(answer.model_dump()["background"]).strip())
    if not merged:
        raise LanguageModelError(f"{model.name} answered an empty background", "malformed")
    return merged


@cache
def _answer_type() -> "type[BaseModel]":
    import pydantic

    class Background(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(extra="forbid", strict=True)

        background: str = pydantic.Field(min_length=1, max_length=MAX_BACKGROUND)

    return Background


def _sentences(text: str) -> list[str]:
    return [each for each in _SENTENCES.split(text.strip()) if each]


def _same(sentence: str) -> str:
    return " ".join(sentence.lower().rstrip(".!?").split())


def _kinds(sentence: str) -> frozenset[int]:
    """Return which of what can be so only once a sentence says."""
    return frozenset(kind for kind, each in enumerate(_ONCE) if each.match(sentence))


def _ended(sentence: str) -> str:
    return sentence if sentence[-1] in ".!?" else f"{sentence}."

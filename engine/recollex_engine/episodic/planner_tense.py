"""Does a clause ask about the present? "Who lives in Rome?" does, "Who lived in Rome?" does not."""

from collections.abc import Sequence

from recollex_engine.episodic.planner_predicates import IRREGULAR
from recollex_engine.episodic.planner_tokens import Token

_PRESENT = frozenset(("is", "are", "am", "does", "do"))
_PAST = frozenset(("was", "were", "did", "has", "have", "had", "been"))
_OPENS_CLAUSE = frozenset(("that", "who", "whom", "which", "where", "whose", "the", "a", "an"))
"""After these a verb has a clause of its own: "What is the city that Ann visited?" is past."""
_ALIKE_WORDS = "put read let set hit cut cost hurt quit shut spread beat bet cast burst split"
_ALIKE = frozenset(_ALIKE_WORDS.split())
"""Verbs whose past is as their present."""
_NOUN_AFTER = frozenset(("'s", "the", "a", "an", "to", "of"))
"""After these a verb's form is a noun or an infinitive: "Ann's visit", "the first to visit"."""


def is_present(tokens: Sequence[Token], place: int) -> bool:
    """Return whether the clause of a predicate, which is at ``place``, is about the present.

    The last auxiliary before the predicate decides, or after it if it is a noun; without one the
    form of the verb does.
    """
    predicate = tokens[place]
    before, after = _words(tokens[:place]), _words(tokens[place + 1 :])
    ruling = _last_auxiliary(before)
    if not predicate.is_verb:
        return (ruling or _last_auxiliary(after[::-1])) in _PRESENT
    between = before[len(before) - before[::-1].index(ruling) :] if ruling else before
    if not ruling or (
        ruling not in ("did", "has", "have", "had") and not _OPENS_CLAUSE.isdisjoint(between)
    ):
        return _is_present_form(predicate.text.split()[0].lower(), before)
    return ruling in _PRESENT


def _last_auxiliary(words: Sequence[str]) -> str:
    return next((word for word in reversed(words) if word in _PRESENT | _PAST), "")


def _words(tokens: Sequence[Token]) -> list[str]:
    """Return the words of cues, in lower case; "" for what is none."""
    words: list[str] = []
    for token in tokens:
        if token.kind != "cue":
            words.append("")
        elif token.lower == "'s" and words and words[-1] in ("who", "what", "where"):
            words.append("is")
        else:
            words += token.text.lower().split()
    return words


def _is_present_form(verb: str, before: Sequence[str]) -> bool:
    is_noun = bool(before) and before[-1] in _NOUN_AFTER
    is_past = verb.endswith("ed") or verb in IRREGULAR or verb in _ALIKE
    return not (is_noun or is_past)

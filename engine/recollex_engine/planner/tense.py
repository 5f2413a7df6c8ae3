"""Is a clause about the present? "Who lives in Rome?" is, "Who lived in Rome?" is not."""

from collections.abc import Sequence

from recollex_engine.planner.predicates import IRREGULAR
from recollex_engine.planner.question_tokens import Token

_PRESENT = frozenset(("is", "are", "am", "does", "do"))
_PAST = frozenset(("was", "were", "did", "has", "have", "had", "been"))
_BEING = frozenset(("is", "are", "am", "was", "were", "been"))
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


def is_state(tokens: Sequence[Token], place: int) -> bool:
    """Return whether a clause is about what was done as a state: "was Ann married in 2010?"."""
    predicate = tokens[place]
    before = _words(tokens[:place])
    is_done = predicate.is_verb and not any(each.cue == "by" for each in tokens)
    verb = predicate.text.split()[0].lower()
    return is_done and _last_auxiliary(before) in _BEING and _is_past_form(verb)


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
    return not (is_noun or verb in _ALIKE or _is_past_form(verb))


def _is_past_form(verb: str) -> bool:
    return verb.endswith("ed") or verb in IRREGULAR

"""From which event does a question count? "Who came before Ann?", "when she moved to Rome"."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from recollex_engine.planner.clauses import Clause, unread
from recollex_engine.planner.pattern import OBJECT, SUBJECT, OutsideError, Pattern
from recollex_engine.planner.question_tokens import Token

Edge = Literal["start", "end", ""]
"""Whether a state's start or its end is meant, or all of it."""

NEUTRAL = frozenset({"who", "where", "ask", "all", "stay", "of", "as", "by", "'s", "spell"})
"""Cues that change nothing in any form."""
PICKS = frozenset({"first", "last", "nth"})
"""Cues that choose one of several facts."""
PERSONS = frozenset({"who", "whom", "whose", "whoever", "whomever"})
"""Words that ask for a person."""
_PRONOUNS = frozenset({"he", "she"})


@dataclass(frozen=True, slots=True)
class Anchor:
    """An event that a question counts from. relation: "before", "after" or "while" it.

    edge: whether its start or its end is meant. is_direct: only what is next to it. other: the
    event if a name stands for the subject: "Was Ann the director before Ben?".
    """

    relation: str
    pattern: Pattern
    edge: Edge = ""
    is_direct: bool = True
    pick: str = ""
    number: int = 0
    other: Pattern | None = None


def resolved(tokens: Sequence[Token], main: Clause, of_main: Sequence[Token]) -> Sequence[Token]:
    """Return a subordinate clause in which "she" is the subject of the main clause.

    "Where did Ann live when she met Ben?": the main clause names no other person, at most a place
    or a thing, and asks for none. A pronoun that may be another stays, unknown to every form.
    """
    pattern = main.pattern
    asks_whom = any(each.lower in PERSONS for each in of_main)
    if pattern is None or pattern.subject is None or asks_whom:
        return tokens
    subject, named = pattern.subject, {each.name for each in of_main if each.kind == "name"}
    if pattern.object is not None and _is_no_person(pattern):
        named.discard(pattern.object)
    if named != {subject}:
        return tokens
    return [
        replace(each, kind="name", name=subject) if each.lower in _PRONOUNS else each
        for each in tokens
    ]


def _is_no_person(pattern: Pattern) -> bool:
    """Return whether the object of a pattern is a place, or is named as a thing: "a boat"."""
    return pattern.wordings[0].is_of_places or (pattern.object or "")[:1].islower()


def read_anchor(main: Clause, sub: Clause | None) -> Anchor | None:
    """Return the event that a question counts from."""
    assert main.pattern is not None
    pattern, relation = main.pattern, main.cues.get("neighbour", "")
    if relation:
        if sub is not None or pattern.asked is None or not main.names:
            raise OutsideError("it counts from several events at once")
        return Anchor(relation, _same(pattern, main.names[0].name))
    if sub is None:
        return None
    unread(sub, {*NEUTRAL, *PICKS, "start", "end", "direct", "when"})
    other: Pattern | None = None
    edge: Edge = "start" if "start" in sub.cues else "end" if "end" in sub.cues else ""
    if "start" in sub.cues and "end" in sub.cues:
        raise OutsideError("a clause starts and ends at once")
    relation = {"when": "while", "during": "while"}.get(sub.marker, sub.marker)
    if relation == "once":
        if edge != "end":
            raise OutsideError(f"I cannot read {sub.marker!r} here")
        relation = "after"
    if sub.pattern is None:
        if len(sub.names) != 1:
            raise OutsideError("it counts from something that is no event of the facts")
        name = sub.names[0]
        if main.is_asked and pattern.asked is None:
            event = replace(pattern, object=name.name, literal=name.literal)
            other = replace(pattern, subject=name.name)
        else:
            event = _same(pattern, name.name)
    else:
        event = _completed(sub.pattern, pattern)
        if sub.pattern.begins:
            edge = "start"
    several = main.plural or not main.cues.keys().isdisjoint(("all", "how_many", "how_often"))
    is_direct = "direct" in main.cues.keys() | sub.cues.keys() or not several
    return Anchor(relation, event, edge, is_direct, sub.pick, sub.number, other)


def _same(pattern: Pattern, name: str) -> Pattern:
    """Return the event in which ``name`` stands where the question asks."""
    if pattern.asked is None:
        raise OutsideError("I cannot tell what is asked for")
    return replace(pattern.with_part(pattern.asked, name), asked=None)


def _completed(event: Pattern, main: Pattern) -> Pattern:
    """Return an event with the subject or object that it shares with the main clause."""
    if event.subject is not None and (event.object is not None or event.is_event):
        return event
    for part in (SUBJECT, OBJECT):
        given = main.part(part)
        if event.part(part) is None and given is not None and event.wordings == main.wordings:
            return replace(event.with_part(part, given), asked=None)
    raise OutsideError("a clause that is counted from lacks its subject or its object")

"""Which stated fact does a claim correct? A precise rule over what is known of its subject.

A claim corrects a fact in one of three ways:

- it ends the fact: "I left Bosch", "the call was cancelled";
- it begins what takes the fact's place: "I moved to Rome", "my boss is Tomas now";
- it says that the fact was wrong: "no, it is Tuesday", "in room 5, not in room 3".

A claim with a subject corrects facts of this subject with its predicate. What belongs to no person
("the meeting") is looked for in the same talk only. A claim without a subject corrects the latest
fact of the talk whose value is of the same kind. Another value alone corrects nothing: then both
facts stay, and are shown as a conflict.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from recollex_engine.talks.claim_forms import MANY, WHEN
from recollex_engine.talks.claim_values import folded, kinds_of
from recollex_engine.talks.claims import Claim

How = Literal["ended", "replaced", "wrong"]


@dataclass(frozen=True, slots=True)
class KnownFact:
    """An open fact that a claim may correct.

    recent: whether it was stated in the latest turns of the same talk; in_talk: in the same talk.
    """

    id: str
    subject: str
    predicate: str
    value: str
    in_talk: bool = True
    recent: bool = True


@dataclass(frozen=True, slots=True)
class Correction:
    """One fact that a claim corrects, and how. value: what is claimed instead, None for nothing."""

    fact: KnownFact
    how: How
    value: str | None


def find_corrections(claim: Claim, known: Sequence[KnownFact]) -> list[Correction]:
    """Return what a claim corrects among the open facts ``known``, the latest stated last.

    >>> from recollex_engine.talks.claims import read_claims
    >>> known = [KnownFact("f1", "Ann", "lives in", "Oslo")]
    >>> [claim] = read_claims("I moved to Rome.", "Ann")
    >>> [(c.fact.id, c.how, c.value) for c in find_corrections(claim, known)]
    [('f1', 'replaced', 'Rome')]
    """
    if claim.subject is None:
        return _of_no_subject(claim, known)
    own = [
        fact
        for fact in known
        if folded(fact.subject) == folded(claim.subject) and (fact.in_talk or claim.owned)
    ]
    if claim.effect == "ends":
        return _ended(claim, own)
    return _replaced(claim, own)


def _ended(claim: Claim, own: Sequence[KnownFact]) -> list[Correction]:
    found = [fact for fact in own if fact.predicate in claim.predicates]
    if claim.value is not None:
        found = [fact for fact in found if folded(fact.value) == folded(claim.value)]
    elif claim.predicates[0] not in WHEN and len(found) > 1:
        return []
    return [Correction(fact, "ended", None) for fact in found]


def _replaced(claim: Claim, own: Sequence[KnownFact]) -> list[Correction]:
    assert claim.value is not None
    if claim.predicate in MANY and claim.owned and claim.against is None:
        return []
    found = [fact for fact in own if fact.predicate in claim.predicates]
    if claim.against is not None:
        found = [fact for fact in found if folded(fact.value) == folded(claim.against)]
    if any(folded(fact.value) == folded(claim.value) for fact in found):
        return []
    found = [fact for fact in found if kinds_of(fact.value) & kinds_of(claim.value)]
    if not found:
        return []
    if claim.effect == "begins":
        return [Correction(fact, "replaced", claim.value) for fact in found]
    if claim.marked or claim.against is not None:
        return [Correction(found[-1], "wrong", claim.value)]
    return []


def _of_no_subject(claim: Claim, known: Sequence[KnownFact]) -> list[Correction]:
    """Return what "no, it is Tuesday", "I meant Tuesday" or "not Monday, Tuesday" corrects."""
    if claim.value is None or claim.effect == "ends":
        return []
    if not (claim.marked or claim.against is not None):
        return []
    recent = [fact for fact in known if fact.recent and fact.in_talk]
    if claim.predicates:
        recent = [fact for fact in recent if fact.predicate in claim.predicates]
    if claim.against is not None:
        found = [fact for fact in recent if folded(fact.value) == folded(claim.against)]
    else:
        kinds = kinds_of(claim.value) - {"word"}
        found = [fact for fact in recent if kinds_of(fact.value) & kinds]
    if not found or folded(found[-1].value) == folded(claim.value):
        return []
    return [Correction(found[-1], "wrong", claim.value)]

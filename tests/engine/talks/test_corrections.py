"""The rule for corrections on 200 written turns: half of them correct something, half seem to.

The rule was written on `development.txt`; `held.txt` was written before the rule and only measured.
A line is a talk, turns between bars, and at the end what its last turn corrects: "old > new", "-"
for nothing new, "none" for a turn that corrects nothing.
"""

from pathlib import Path

import pytest

from recollex_engine.talks.claims import read_claims
from recollex_engine.talks.corrections import KnownFact, find_corrections

FOLDER = Path(__file__).parent / "corrections"
Change = tuple[str, str]


def corrected(turns: list[str]) -> list[Change]:
    """Return what the last of ``turns`` corrects, each turn written "speaker: text"."""
    known: list[KnownFact] = []
    changes: list[Change] = []
    for turn in turns:
        changes = []
        speaker, _, text = turn.partition(": ")
        for claim in read_claims(text, speaker):
            found = find_corrections(claim, known)
            changes += [(each.fact.value, each.value or "-") for each in found]
            gone = [each.fact.id for each in found]
            known = [fact for fact in known if fact.id not in gone]
            if claim.subject is not None and claim.value is not None and claim.effect != "ends":
                known.append(
                    KnownFact(f"{turn}{len(known)}", claim.subject, claim.predicate, claim.value)
                )
    return changes


@pytest.mark.parametrize("half", ["development", "held"])
def test_precision_and_recall(half: str) -> None:
    lines = (FOLDER / f"{half}.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 100
    right = made = wanted = 0
    for line in lines:
        *turns, expected = (part.strip() for part in line.split("|"))
        before, _, after = expected.partition(" > ")
        found = corrected(turns)
        made += bool(found)
        wanted += expected != "none"
        right += bool(found) and found == [(before, after)]
    assert wanted == 50
    assert right / made >= 0.98
    assert right / wanted >= 0.8


def test_another_value_alone_corrects_nothing() -> None:
    assert corrected(["Ann: I live in Oslo.", "Ann: I live in Rome."]) == []
    assert corrected(["Ann: I own a boat.", "Ann: Actually, I own a car."]) == []


def test_what_belongs_to_no_person_is_corrected_in_its_talk_only() -> None:
    (claim,) = read_claims("Actually, the meeting is on Friday.", "Ann")
    here = KnownFact("f", "meeting", "is on", "Monday")
    assert [each.fact for each in find_corrections(claim, [here])] == [here]
    elsewhere = KnownFact("f", "meeting", "is on", "Monday", in_talk=False, recent=False)
    assert find_corrections(claim, [elsewhere]) == []


def test_a_pronoun_means_the_latest_fact_of_that_kind() -> None:
    talk = ["Ann: The call is on Monday.", "Ann: The talk is on Friday.", "Ann: I'm 41."]
    assert corrected([*talk, "Ann: Sorry, it's on Sunday."]) == [("Friday", "Sunday")]

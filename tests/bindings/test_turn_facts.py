"""A write policy's facts, corrections and events, as a user of `retain_dialogue` sees them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import recollex

NOON = datetime(2024, 5, 4, 12, tzinfo=UTC)
POLICY = recollex.WritePolicy(
    event_cap=None, periodic_cap=None, cooldown=0, write_tokens=10_000, backfill_tokens=10_000
)


@pytest.fixture
def alice(tmp_path: Path) -> Any:
    with recollex.open(tmp_path / "memory", durability="off") as store:
        yield store.agent("alice")


def say(
    agent: recollex.Agent,
    *texts: str,
    minute: int = 0,
    document: str = "d",
    policy: recollex.WritePolicy = POLICY,
    **more: Any,
) -> list[str | None]:
    """Let speakers say texts, each "speaker: text", a minute apart; return the memories' ids."""
    turns = []
    for place, text in enumerate(texts, minute):
        speaker, _, words = text.partition(": ")
        at = NOON + timedelta(minutes=place)
        turns.append({"speaker": speaker, "text": words, "at": at, "id": f"{document}-t{place}"})
    return agent.retain_dialogue(turns, document_id=document, policy=policy, **more)


def shown(agent: recollex.Agent, **cut: Any) -> set[tuple[str, str, Any]]:
    return {
        (fact.subject, fact.predicate, fact.object)
        for fact in agent.facts.find(**cut)
        if fact.predicate != "has_attr"
    }


def test_a_move_closes_the_old_home_and_opens_the_new(alice: recollex.Agent) -> None:
    say(alice, "Ann: I live in Oslo.", "Ann: I moved to Rome in March 2024.")
    oslo, rome = alice.facts.find(subject="Ann", predicate="lives in")
    march = datetime(2024, 3, 1, tzinfo=UTC)
    assert (oslo.object, oslo.valid) == ("Oslo", (None, march))
    assert (rome.object, rome.valid) == ("Rome", (march, None))
    assert oslo.evidence == ("d-t0", "d-t1")  # the turn that stated it, and the one that closed it
    assert shown(alice, as_world=NOON) == {("Ann", "lives in", "Rome")}
    assert shown(alice, as_world=datetime(2024, 2, 1, tzinfo=UTC)) == {("Ann", "lives in", "Oslo")}
    before = alice.facts.history(oslo.id)[0]
    assert before.closed_by == "write policy"
    assert before.closed_why == "event trigger, d-t1"


def test_a_correction_replaces_what_was_wrong(alice: recollex.Agent) -> None:
    say(alice, "Ann: The meeting is on Monday.", "Ben: No, it is Tuesday.")
    (fact,) = alice.facts.find(subject="meeting")
    assert (fact.predicate, fact.object, fact.evidence) == ("is on", "Tuesday", ("d-t0", "d-t1"))
    assert [each.object for each in alice.facts.history(fact.id)] == ["Monday", "Tuesday"]
    assert alice.get("d-t1").metadata["write_events"] == ["correction"]


def test_a_correction_is_undone_by_one_call(alice: recollex.Agent) -> None:
    say(alice, "Ann: I live in Oslo.")
    before = [fact.to_dict() | {"recorded": 0} for fact in alice.facts.find(subject="Ann")]
    say(alice, "Ann: I moved to Rome.", minute=1)
    op = alice.log(op="retro_correct")[-1].op
    alice.facts.undo(op, by="ann", why="She was joking.")
    (fact,) = alice.facts.find(subject="Ann")
    left_out = {"recorded": 0, "by": fact.by, "why": fact.why}
    assert fact.to_dict() | left_out == before[0] | left_out
    assert [event.summary for event in alice.events.find()] == ["Ann: I live in Oslo."]
    assert alice.get("d-t1").text == "Ann: I moved to Rome."  # what was said stays


def test_an_event_includes_the_facts_of_its_turn(alice: recollex.Agent) -> None:
    say(alice, "Ann: I moved to Rome with Eve in March 2024.", "Ann: I love Thai food.")
    moved, loves = alice.events.find(participant="Ann")
    assert moved.summary == "Ann: I moved to Rome with Eve in March 2024."
    assert [(each.name, each.role) for each in moved.participants][:1] == [("Ann", "speaker")]
    assert {each.name for each in moved.participants} >= {"Rome", "Eve"}
    assert [str(fact.object) for fact in moved.evidence] == ["Rome"]
    assert moved.span[0] == datetime(2024, 3, 1, tzinfo=UTC)
    (said,) = loves.evidence
    assert (said.predicate, said.object, said.evidence) == (
        "has_attr",
        "I love Thai food.",
        ("d-t1",),
    )


def test_the_end_of_a_session_writes_a_summary_event(alice: recollex.Agent) -> None:
    policy = recollex.WritePolicy(event_cap=0, salience_cap=0)
    say(alice, "Ann: I live in Oslo.", "Ben: I work at Shell.", "Ann: Nice.", policy=policy)
    assert list(alice.facts.find()) == [] == alice.events.find()
    (memory,) = alice.sessions.end("d")
    (event,) = alice.events.find()
    assert event.summary == "Ann: I live in Oslo.\nBen: I work at Shell."
    assert [each.name for each in event.participants if each.role] == ["Ann", "Ben"]
    assert shown(alice) == {("Ann", "lives in", "Oslo"), ("Ben", "works at", "Shell")}
    assert {fact.evidence for fact in event.evidence} == {(memory,)}


def test_less_trusted_sources_correct_nothing(alice: recollex.Agent) -> None:
    say(alice, "Ann: I live in Oslo.", source="user")
    say(alice, "Ann: I moved to Rome.", minute=1, source="web")
    assert shown(alice, as_world=NOON + timedelta(days=9)) == {
        ("Ann", "lives in", "Oslo"),
        ("Ann", "lives in", "Rome"),
    }
    assert alice.facts.conflicts()
    say(alice, "Ann: I moved to Bonn.", minute=2, source="user")
    assert shown(alice, as_world=NOON + timedelta(days=9)) == {("Ann", "lives in", "Bonn")}


def test_what_expires_or_an_assistant_said_makes_no_fact(alice: recollex.Agent) -> None:
    say(alice, "Ann: My phone number is +49 171 555 1234 and I moved to Rome.")
    turn = {"role": "assistant", "content": "I moved to Rome.", "at": NOON}
    alice.retain_dialogue([turn], document_id="e", policy=POLICY)
    assert list(alice.facts.find()) == [] == alice.events.find()


def test_without_facts_a_policy_writes_memories_alone(alice: recollex.Agent) -> None:
    policy = recollex.WritePolicy(facts=False)
    assert say(alice, "Ann: I moved to Rome.", policy=policy) == ["d-t0"]
    assert list(alice.facts.find()) == [] == alice.events.find()


def test_facts_that_a_user_recorded_are_corrected_too(alice: recollex.Agent) -> None:
    id = alice.facts.add("Ann", "lives_in", "Oslo")
    say(alice, "Ann: I moved to Rome.")
    assert alice.facts.get(id).valid[1] == NOON
    assert shown(alice, as_world=NOON) == {("Ann", "lives_in", "Rome")}


def test_back_again_is_a_fact_of_its_own(alice: recollex.Agent) -> None:
    say(alice, "Ann: I live in Oslo.", "Ann: I moved to Rome.", "Ann: I live in Oslo now.")
    homes = alice.facts.find(subject="Ann", predicate="lives in")
    minute = [NOON + timedelta(minutes=place) for place in range(3)]
    assert [(home.object, home.valid) for home in homes] == [
        ("Oslo", (None, minute[1])),
        ("Rome", (minute[1], minute[2])),
        ("Oslo", (minute[2], None)),
    ]
    assert alice.verify().ok


def test_another_process_knows_what_the_talk_stated(tmp_path: Path) -> None:
    with recollex.open(tmp_path, durability="off") as store:
        say(store.agent("alice"), "Ann: The meeting is on Monday.")
        say(store.agent("alice"), "Ann: The meeting is on Friday.", document="other")
    with recollex.open(tmp_path, durability="off") as store:
        alice = store.agent("alice")
        say(alice, "Ben: No, it is Tuesday.", minute=1)
        assert {fact.object for fact in alice.facts.find(subject="meeting")} == {
            "Tuesday",
            "Friday",
        }


def test_a_replay_has_the_same_facts(alice: recollex.Agent, tmp_path: Path) -> None:
    say(alice, "Ann: I live in Oslo.", "Ann: I moved to Rome.", "Ann: Sorry, I meant Bonn.")
    alice.snapshot(datetime.now(UTC), tmp_path / "copy")
    with recollex.open(tmp_path / "copy") as store:
        copy = store.agent("alice")
        assert [fact.to_dict() for fact in copy.facts.find()] == [
            fact.to_dict() for fact in alice.facts.find()
        ]
        assert copy.verify().ok

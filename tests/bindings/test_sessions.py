"""A write policy over `retain_dialogue`, against the store: what is kept, masked, found again."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import recollex
import recollex.aio
from recollex_engine.errors import InputError, ReadOnlyError, UnknownIdError
from recollex_mind.talks import sessions

NOON = datetime(2024, 5, 4, 12, tzinfo=UTC)
POLICY = recollex.WritePolicy()
NO_CAPS = recollex.WritePolicy(
    event_cap=None, periodic_cap=None, cooldown=0, write_tokens=10_000, backfill_tokens=10_000
)
TALK = [
    "Hi Ben, how are you?",
    "I moved to Bergen in March 2024.",
    "Nice!",
    "My cousin keeps nine old bicycles in the shed behind her house near the river.",
    "Lovely weather, is it not?",
    "I love Thai food.",
    "The neighbours painted their whole fence green last week.",
    "Haha, yes.",
]


def turns(texts: list[str], first: int = 0, **more: Any) -> list[dict[str, Any]]:
    return [
        {
            "speaker": "Ann",
            "text": text,
            "at": NOON + timedelta(minutes=place),
            "id": f"t{place}",
            **more,
        }
        for place, text in enumerate(texts, start=first)
    ]


class Clock:
    now = datetime(2024, 5, 10, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def alice(tmp_path: Path, clock: Clock) -> Any:
    with recollex.open(tmp_path / "memory", clock=clock, durability="off") as store:
        yield store.agent("alice")


def triggers(alice: recollex.Agent) -> dict[str, str]:
    return {m.id: m.metadata["write_trigger"] for m in alice.list(limit=100)}


def test_without_a_policy_every_turn_is_kept(alice: recollex.Agent) -> None:
    assert alice.retain_dialogue(turns(TALK), document_id="d") == [f"t{n}" for n in range(8)]
    with pytest.raises(UnknownIdError, match="has no session with id 'd'"):
        alice.sessions.working("d")


def test_a_policy_keeps_events_and_what_tells_much(alice: recollex.Agent) -> None:
    ids = alice.retain_dialogue(turns(TALK), document_id="d", policy=NO_CAPS)
    assert ids == [None, "t1", None, "t3", None, "t5", "t6", None]
    assert triggers(alice) == {"t1": "event", "t3": "salience", "t5": "event", "t6": "salience"}
    moved = alice.get("t1")
    assert moved.text == "Ann: I moved to Bergen in March 2024."
    assert moved.metadata["write_events"] == ["update"]
    assert 0 < moved.metadata["write_salience"] <= 1
    assert alice.recall("Bergen", where={"write_trigger": "event"})[0].id == "t1"
    assert len(alice.sessions.short_term("d")) == 8
    assert [turn.written for turn in alice.sessions.short_term("d")] == [
        id is not None for id in ids
    ]


def test_turn_by_turn_or_at_once_is_the_same(alice: recollex.Agent, tmp_path: Path) -> None:
    talk = TALK * 2 + [text.replace("I ", "We ") for text in TALK]
    at_once = alice.retain_dialogue(turns(talk), document_id="d", policy=POLICY)
    at_once_end = alice.sessions.end("d")
    with recollex.open(tmp_path / "other", durability="off") as store:
        other = store.agent("alice")
        one_by_one = []
        for place, text in enumerate(talk):
            one_by_one += other.retain_dialogue(
                turns([text], place), document_id="d", policy=POLICY
            )
        assert one_by_one == at_once
        assert len(other.sessions.end("d")) == len(at_once_end) == 1
        mine, theirs = alice.list(limit=99), other.list(limit=99)
        assert [m.text for m in mine] == [m.text for m in theirs]
        assert [m.metadata for m in mine] == [m.metadata for m in theirs]


def test_turns_are_compared_by_the_search_that_recalls_compile(
    alice: recollex.Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    search, writable = sessions.semantic, set()

    def semantic(view: Any, query: Any, *others: Any, **options: Any) -> Any:
        writable.add(query.flags.writeable)
        return search(view, query, *others, **options)

    monkeypatch.setattr(sessions, "semantic", semantic)
    alice.retain_dialogue(turns(TALK), document_id="d", policy=POLICY)
    alice.retain_dialogue(turns(TALK, len(TALK)), document_id="d", policy=POLICY)
    assert writable == {False}


def test_budgets_and_caps_hold_and_the_end_writes_the_best_that_waits(
    alice: recollex.Agent,
) -> None:
    policy = recollex.WritePolicy(event_cap=1, write_tokens=60, periodic_tokens=40)
    ids = alice.retain_dialogue(turns(TALK), document_id="d", policy=policy)
    assert [id for id in ids if id is not None] == ["t1"]
    waiting = [turn.text for turn in alice.sessions.working("d")]
    assert any("Thai food" in text for text in waiting)
    (summary,) = alice.sessions.end("d")
    written = alice.get(summary)
    assert written.metadata["write_trigger"] == "periodic"
    assert written.metadata["write_turns"] == ["t3", "t5", "t6"]
    assert written.text == "\n".join(f"Ann: {TALK[place]}" for place in (3, 5, 6))
    assert sum(m.tokens for m in alice.list(limit=9)) <= 60
    assert alice.sessions.working("d") == [] == alice.sessions.end("d")


def test_a_silence_ends_the_session(alice: recollex.Agent) -> None:
    policy = recollex.WritePolicy(event_cap=0)
    alice.retain_dialogue(turns(TALK), document_id="d", policy=policy)
    assert "periodic" not in triggers(alice).values()
    later = [{"speaker": "Ann", "text": "Hello again.", "at": NOON + timedelta(hours=9)}]
    assert alice.retain_dialogue(later, document_id="d", policy=policy) == [None]
    assert list(triggers(alice).values()).count("periodic") == 1


def test_a_turn_that_is_stored_or_waits_is_not_heard_again(alice: recollex.Agent) -> None:
    first = alice.retain_dialogue(turns(TALK), document_id="d", policy=POLICY)
    heard = alice.sessions.short_term("d")
    again = alice.retain_dialogue(turns(TALK), document_id="d", policy=POLICY)
    assert again == first
    assert alice.sessions.short_term("d") == heard
    assert alice.stats().memories == len([id for id in first if id is not None])


def test_a_repetition_is_not_written_twice(alice: recollex.Agent) -> None:
    said = [TALK[1], TALK[1].upper(), TALK[1].replace("2024", "2023")]
    ids = alice.retain_dialogue(turns(said), document_id="d", policy=NO_CAPS)
    assert ids == ["t0", None, "t2"]
    again = alice.retain_dialogue(turns(said, 10), document_id="d", policy=NO_CAPS)
    assert again == [None, None, None]
    assert alice.sessions.working("d") == []


def test_sensitive_parts_are_masked_dropped_or_kept_for_a_while(
    alice: recollex.Agent, clock: Clock
) -> None:
    said = [
        "I moved to Rome, and my card is 4111 1111 1111 1111 now.",
        "I moved to 12 Baker Street last week.",
        "I moved, write to ann@example.org please.",
    ]
    policy = recollex.WritePolicy(emails="drop", sensitive_for=timedelta(days=10))
    ids = alice.retain_dialogue(turns(said), document_id="d", policy=policy)
    assert ids == ["t0", "t1", None]
    assert alice.get("t0").text == "Ann: I moved to Rome, and my card is [card] now."
    home = alice.get("t1")
    assert home.valid_until == NOON + timedelta(days=10, minutes=1)
    assert home.metadata["write_sensitive"] == ["address"]
    tiers = [*alice.sessions.short_term("d"), *alice.sessions.working("d")]
    assert not any("example.org" in turn.text or "4111" in turn.text for turn in tiers)
    clock.now = NOON + timedelta(days=11)
    alice.retain_dialogue(turns(["Ok."], 9), document_id="d", policy=policy)
    with pytest.raises(UnknownIdError):
        alice.get("t1")
    assert alice.log(op="forget")[0].why == "a sensitive turn, kept for a short time"
    assert alice.sessions.forget_expired() == []


def test_what_expires_for_another_reason_is_not_forgotten(
    alice: recollex.Agent, clock: Clock
) -> None:
    alice.retain("A sale.", id="sale", event_at=NOON, valid_until=NOON + timedelta(days=1))
    clock.now = NOON + timedelta(days=30)
    assert alice.sessions.forget_expired() == []
    assert alice.get("sale").text == "A sale."


def test_a_question_that_is_missed_is_answered_from_the_tiers(alice: recollex.Agent) -> None:
    policy = recollex.WritePolicy(keep=1.0)
    said = [
        "I adopted a puppy, and my cousin came.",
        TALK[3],
        "The kitchen smells of fresh basil and of thyme today.",
    ]
    alice.retain_dialogue(turns(said), document_id="d", policy=policy)
    assert triggers(alice) == {"t0": "event"}
    asked = "How many bicycles does the cousin keep in the shed?"
    recall = alice.recall(asked)
    assert "t1" not in recall.ids
    found = alice.sessions.recall(asked, document_id="d")
    assert found[0].id == "t1"
    assert found.tokens <= policy.read_tokens
    assert found[0].metadata["write_trigger"] == "backfill"
    assert found[0].metadata["write_reason"] == "low score"
    assert alice.sessions.backfill(alice.recall(asked), document_id="d") == []
    assert [turn.text for turn in alice.sessions.working("d")] == [f"Ann: {said[2]}"]


def test_a_time_of_which_nothing_speaks_and_a_conflict_backfill_too(
    alice: recollex.Agent,
) -> None:
    policy = recollex.WritePolicy(keep=1.0, backfill_score=0.2)
    alice.retain_dialogue(
        turns(["I bought my bicycles in Oslo in 2019.", TALK[3]]), document_id="d", policy=policy
    )
    recall = alice.recall("What of bicycles in the shed in 2011?")
    assert len(recall)
    (id,) = alice.sessions.backfill(recall, document_id="d", cut="as_world")
    assert alice.get(id).metadata["write_reason"] == "temporal conflict"
    assert alice.get(id).metadata["write_cut"] == "as_world"
    alice.retain_dialogue(turns([TALK[6]], 5), document_id="d", policy=policy)
    asked = alice.recall("What colour is the fence of the neighbours?")
    written = alice.sessions.backfill(asked, document_id="d", because="abstention")
    assert written == ["t5"]
    assert alice.get("t5").metadata["write_reason"] == "abstention"


def test_a_miss_backfills_an_empty_agent_and_a_cut_stays_as_it_was(alice: recollex.Agent) -> None:
    policy = recollex.WritePolicy(triggers=("backfill",))
    alice.retain_dialogue(turns(TALK), document_id="d", policy=policy)
    assert alice.stats().memories == 0
    before = datetime(2024, 5, 10, tzinfo=UTC)
    asked = "Where did Ann move to?"
    cut = alice.sessions.recall(asked, document_id="d", as_recorded=before)
    assert len(cut) == 0
    assert alice.recall(asked)[0].id == "t1"
    assert alice.get("t1").metadata["write_cut"] == "as_recorded"


def test_without_its_trigger_nothing_is_backfilled(alice: recollex.Agent) -> None:
    policy = recollex.WritePolicy(triggers=("event",), events=("schedule",))
    alice.retain_dialogue(turns(TALK), document_id="d", policy=policy)
    assert alice.sessions.backfill(alice.recall("Thai food?"), document_id="d") == []
    assert alice.stats().memories == 0


def test_what_is_refused_changes_neither_store_nor_tiers(alice: recollex.Agent) -> None:
    alice.retain_dialogue(turns(TALK[:2]), document_id="d", policy=POLICY)
    before = (alice.sessions.short_term("d"), alice.stats().memories)
    wrong: list[dict[str, Any]] = [
        {"policy": "strict"},
        {"policy": POLICY, "replace": True},
        {"policy": POLICY, "recorded_at": datetime(2020, 1, 1, tzinfo=UTC)},
    ]
    for options in wrong:
        with pytest.raises(InputError):
            alice.retain_dialogue(turns(["I moved to Rome."], 7), document_id="d", **options)
    with pytest.raises(InputError, match=r"turns\[0\]\['metadata'\] has the key 'write_trigger'"):
        alice.retain_dialogue(
            turns(["I moved."], 7, metadata={"write_trigger": 1}), document_id="d", policy=POLICY
        )
    with pytest.raises(InputError, match="because must be"):
        alice.sessions.backfill(alice.recall("x"), document_id="d", because="why")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="cut must be"):
        alice.sessions.backfill(alice.recall("x"), document_id="d", cut="now")  # type: ignore[arg-type]
    assert (alice.sessions.short_term("d"), alice.stats().memories) == before
    with pytest.raises(ReadOnlyError):
        alice.at(datetime(2024, 5, 10, tzinfo=UTC)).retain_dialogue(
            turns(["Ok."], 8), document_id="d", policy=POLICY
        )


def test_a_history_is_imported_at_its_own_times(alice: recollex.Agent) -> None:
    policy = recollex.WritePolicy(event_cap=1)
    for place, text in enumerate(TALK):
        alice.retain_dialogue(
            turns([text], place),
            document_id="d",
            policy=policy,
            recorded_at=NOON + timedelta(minutes=place),
        )
    alice.sessions.end("d", recorded_at=NOON + timedelta(hours=1))
    moments = [m.recorded_at for m in alice.list(limit=9)]
    assert moments == sorted(moments) and moments[-1] == NOON + timedelta(hours=1)


def test_talks_have_tiers_of_their_own(alice: recollex.Agent) -> None:
    alice.retain_dialogue(turns(TALK[:3]), document_id="d", policy=POLICY)
    alice.retain_dialogue(turns(TALK[6:], 10), document_id="e", policy=POLICY)
    assert len(alice.sessions.short_term("d")) == 3
    assert len(alice.sessions.short_term("e")) == 2


def test_over_asyncio(tmp_path: Path) -> None:
    async def main() -> None:
        async with recollex.aio.open(tmp_path / "memory") as store:
            alice = await store.agent("alice")
            ids = await alice.retain_dialogue(turns(TALK), document_id="d", policy=NO_CAPS)
            assert ids[1] == "t1"
            assert len(await alice.sessions.short_term("d")) == 8
            found = await alice.sessions.recall("Who moved?", document_id="d")
            assert "t1" in found.ids
            await alice.sessions.end("d")

    asyncio.run(main())


# -- what is erased or forgotten -------------------------------------------------------------------


def forget_in_a_transaction(alice: recollex.Agent) -> None:
    with alice.transaction() as transaction:
        transaction.forget("t0")


@pytest.mark.parametrize(
    "take",
    [
        lambda alice: alice.erase(everything=True, by="ben", why="asked"),
        lambda alice: alice.erase(document_id="d", by="ben", why="asked"),
        lambda alice: alice.erase("t0", by="ben", why="asked"),
        lambda alice: alice.forget(document_id="d"),
        lambda alice: alice.forget("t0"),
        forget_in_a_transaction,
    ],
)
def test_a_talk_forgets_what_was_erased_or_forgotten(alice: recollex.Agent, take: Any) -> None:
    """No later write brings back a turn that waited, or one that was written."""
    for document, first, home, name in (("d", 0, "Bergen", "Zanzibar"), ("o", 5, "Rome", "Ada")):
        said = [f"I moved to {home} in March.", f"I grew up by the sea near {name} with Eve."]
        found = alice.retain_dialogue(turns(said, first), document_id=document, policy=POLICY)
        assert [id is not None for id in found] == [True, False]
    take(alice)
    assert alice.sessions.short_term("d") == [] == alice.sessions.working("d")
    assert alice.sessions.end("d") == []
    alice.retain_dialogue(turns(["Lovely weather, is it not?"], 9), document_id="d", policy=POLICY)
    alice.sessions.recall("Who grew up by the sea near Zanzibar?", document_id="d")
    alice.sessions.end("d")
    assert not [each for each in alice.list() if "Zanzibar" in each.text]
    others = [turn.text for turn in alice.sessions.working("o")]
    assert others == [] if not alice.list() else len(others) == 1


def test_a_talk_that_has_written_nothing_forgets_too(alice: recollex.Agent) -> None:
    given = turns(["I grew up by the sea in Zanzibar with Eve."])
    alice.retain_dialogue(given, document_id="d", policy=recollex.WritePolicy(keep=0.99))
    assert alice.erase(everything=True, by="ben", why="asked", preview=True).memories == 0
    assert len(alice.sessions.working("d")) == 1
    alice.erase(document_id="d", by="ben", why="asked")
    assert alice.sessions.working("d") == []


def test_a_memory_that_the_policy_forgets_ends_no_talk(alice: recollex.Agent, clock: Clock) -> None:
    policy = recollex.WritePolicy(emails="expire", sensitive_for=timedelta(hours=1))
    said = ["I moved to Bergen, my mail is ann@example.org.", "I grew up by the sea with Eve."]
    alice.retain_dialogue(turns(said), document_id="d", policy=policy)
    clock.now += timedelta(days=1)
    assert len(alice.sessions.forget_expired()) == 1
    assert len(alice.sessions.working("d")) == 1

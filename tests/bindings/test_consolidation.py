"""Consolidating events and facts: what becomes of them, a dry run, and undoing all of it."""

import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import recollex
from recollex_engine.clock import DAY, to_micros
from recollex_engine.errors import InputError
from recollex_mind.talks.consolidation import event_salience
from tests.bindings.command_line import command_line

JUNE = datetime(2024, 6, 20, tzinfo=UTC)


class Clock:
    now = datetime(2024, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(microseconds=1)
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def alice(tmp_path: Path, clock: Clock) -> Any:
    with recollex.open(tmp_path / "memory", clock=clock, durability="off") as store:
        yield store.agent("alice")


def record_winter(alice: recollex.Agent, clock: Clock) -> list[str]:
    """Record two events of January, one of February and two of June; return the ids."""
    ids = []
    for month, day, name in (
        (1, 3, "Ann"),
        (1, 9, "Ann"),
        (2, 5, "Ben"),
        (6, 1, "Eve"),
        (6, 2, "Eve"),
    ):
        clock.now = datetime(2024, month, day, 12, tzinfo=UTC)
        fact = alice.facts.add(name, "saw", recollex.Text(f"snow on day {day}"))
        ids.append(alice.events.add(f"{name} saw snow.", participants=[name], facts=fact,
                                    id=f"e{len(ids)}"))  # fmt: skip
    clock.now = JUNE
    return ids


def found(alice: recollex.Agent) -> list[str]:
    return [event.id for event in alice.events.find()]


def test_old_events_of_little_salience_become_an_episode(
    alice: recollex.Agent, clock: Clock
) -> None:
    ids = record_winter(alice, clock)
    done = alice.events.consolidate(by="ann")
    (episode,) = done.episodes
    assert episode.title == "January 2024: 2 events, with Ann (2)"
    assert (episode.events, done.archived, done.considered) == (("e0", "e1"), 2, 3)
    assert found(alice) == ids[2:]  # February has one event alone, June is too young
    assert alice.events.get_episode(episode.id).events == ("e0", "e1")
    assert alice.events.get("e0").status == "archived"
    assert alice.events.get("e0").facts  # its closure stays
    entry = alice.log(op="upsert_episode")[-1]
    assert entry.by == "ann"
    assert "older than 90 days, salience below 0.25" in str(entry.why)
    assert alice.verify().ok
    assert alice.events.consolidate().episodes == ()


def test_a_preview_changes_nothing(alice: recollex.Agent, clock: Clock) -> None:
    ids = record_winter(alice, clock)
    before = len(alice.log())
    said = alice.events.consolidate(preview=True).to_dict()
    assert said == alice.at(JUNE).events.consolidate(preview=True).to_dict()
    assert len(alice.log()) == before
    assert found(alice) == ids
    assert alice.events.consolidate().to_dict() == said


def test_one_undo_brings_everything_back(alice: recollex.Agent, clock: Clock) -> None:
    ids = record_winter(alice, clock)
    episode = alice.events.consolidate().episodes[0].id
    alice.facts.undo(alice.log()[-1].op)
    assert found(alice) == ids
    assert alice.events.get("e0").status == "happened"
    assert alice.events.episodes() == []
    with pytest.raises(recollex.errors.UnknownIdError):
        alice.events.get_episode(episode)


def test_what_is_central_stays(alice: recollex.Agent, clock: Clock) -> None:
    record_winter(alice, clock)
    for place in range(20):
        alice.facts.add("Ann", "knows", f"Friend {place}")
    assert alice.events.consolidate().episodes == ()


def test_salience_is_as_written(alice: recollex.Agent, clock: Clock) -> None:
    for place in (0, 1, 1):
        alice.retain("I met Eve Chen.", document_id=f"d{place}")
    clock.now = JUNE - timedelta(days=28)
    fact = alice.facts.add("Eve Chen", "knows", "Oslo")
    id = alice.events.add("Eve Chen came.", participants=["Eve Chen", "Nobody"], facts=fact)
    event = alice.events.get(id)
    now = to_micros(event.freshness, "freshness") + 28 * DAY
    of = event_salience(alice.engine.view(), alice.engine.facts(), event, now)
    centrality = math.log(2) / math.log(21)
    assert of == pytest.approx((0.25 + 2 / 5 + centrality) / 3)


def test_facts_that_are_equal_by_a_merge_become_one(alice: recollex.Agent) -> None:
    alice.retain_many(["Bob likes tea.", "Robert likes tea."], id=["m1", "m2"])
    kept = alice.facts.add("Robert", "likes", "tea", evidence="m2")
    closed = alice.facts.add("Bob", "likes", "tea", evidence="m1")
    other = alice.facts.add("Bob", "likes", "tea", valid=("2024-05-01T00:00Z", None))
    event = alice.events.add("Bob had tea.", facts=[closed])
    assert alice.events.consolidate().duplicates == ()
    alice.facts.merge("Bob", "Robert")
    (pair,) = alice.events.consolidate().duplicates
    assert (pair.kept, pair.closed) == (kept, closed)
    assert [fact.id for fact in alice.facts.find(object="tea")] == [other, kept]
    assert alice.facts.get(kept).evidence == ("m2", "m1")
    assert alice.events.get(event).facts == (kept,)
    alice.facts.undo(alice.log()[-1].op)
    assert alice.facts.get(closed).evidence == ("m1",)
    assert alice.events.get(event).facts == (closed,)


def test_wrong_arguments_are_refused(alice: recollex.Agent) -> None:
    with pytest.raises(InputError, match="age must be a timedelta"):
        alice.events.consolidate(age=90)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="threshold"):
        alice.events.consolidate(threshold=2)
    assert alice.events.consolidate() == recollex.Consolidation()


def test_the_command_consolidates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with recollex.open(tmp_path / "memory", durability="off") as store:
        for text in ("It froze.", "It rained."):
            store.agent("default").events.add(text, span="May 2024")
    run = command_line(tmp_path, monkeypatch, capsys)
    words = ("consolidate", "memory", "--age-days", "0", "--threshold", "1")
    said = "2 events of 2 {}archived in 1 episode, 0 facts {}closed as duplicates\n"
    title = "  May 2024: 2 events\n"
    would = said.format("would be ", "would be ") + title
    assert run(*words, "--preview")[:2] == (0, would)
    assert run(*words)[:2] == (0, said.format("", "") + title)
    assert run(*words)[:2] == (
        0,
        "0 events of 0 archived in 0 episodes, 0 facts closed as duplicates\n",
    )

"""`facts.undo` against the state before: facts and events are as they were, and history grows."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollex
from recollex_engine.errors import InputError, OperationError
from tests.bindings.command_line import command_line
from tests.bindings.days_of_may import day
from tests.engine.histories import EVENTS, FACTS, PEOPLE, SPAN, said

OPERATION = st.one_of(
    said("UPSERT_EDGE", subject=PEOPLE, predicate=st.just("likes"), object=PEOPLE, id=FACTS,
         valid=SPAN, evidence=st.lists(st.sampled_from(["m1", "m2"]), max_size=2, unique=True)),
    said("UPSERT_EDGE", subject=PEOPLE, predicate=st.just("likes"), id=FACTS, valid=SPAN,
         object=st.sampled_from([1, 2.5, True, {"text": "tea"}, {"time": "2024-05-01"}])),
    said("RETRO_CORRECT", id=FACTS, object=PEOPLE, confidence=st.sampled_from([0.0, 0.5, 1.0])),
    said("RETRO_CORRECT", id=FACTS, valid_end=st.just("2024-05-04")),
    said("ARCHIVE_EDGE", id=FACTS, valid=SPAN),
    said("UPSERT_EVENT", summary=PEOPLE, id=EVENTS, participants=st.lists(PEOPLE, max_size=2),
         includes_fact=st.lists(FACTS, max_size=1), time_span=SPAN),
    said("UPSERT_EPISODE", title=PEOPLE, id=st.just("p1"), events=st.lists(EVENTS, min_size=1)),
)  # fmt: skip


def state(agent: recollex.Agent) -> dict[str, Any]:
    """Return the facts, events and episodes that an agent shows, without their recorded times."""
    left_out = ("recorded", "by", "why", "freshness", "closed_by", "closed_why", "conflicts")
    shown = [*agent.facts.snapshot(), *agent.events.find(), *agent.events.episodes()]
    return {
        f"{type(each).__name__} {each.id}": {
            name: value for name, value in each.to_dict().items() if name not in left_out
        }
        for each in shown
    }


@given(st.lists(OPERATION, max_size=8), st.lists(OPERATION, min_size=1, max_size=3), st.booleans())
@settings(deadline=None, max_examples=60)
def test_what_was_undone_is_as_before(
    earlier: list[dict[str, Any]], act: list[dict[str, Any]], reopen: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = recollex.open(folder, durability="off")
        agent = store.agent("alice")
        agent.retain_many(["Tea.", "Milk."], id=["m1", "m2"])
        for operation in earlier:
            try:
                agent.apply([operation])
            except OperationError:
                continue
        before = state(agent)
        try:
            made = agent.apply(act, by="ann", why="a test")
        except OperationError:
            made = 0
        if made:
            versions = len(agent.log())
            agent.facts.undo(agent.log()[-1].op)
            assert state(agent) == before
            assert len(agent.log()) >= versions  # nothing was taken out of the log
        store.close()
        if reopen:
            with recollex.open(folder, durability="off") as again:
                assert state(again.agent("alice")) == before
                assert again.agent("alice").verify().ok


@pytest.fixture
def alice(tmp_path: Path) -> Any:
    with recollex.open(tmp_path / "memory", durability="off") as store:
        yield store.agent("alice")


def test_one_act_of_a_transaction_is_undone_alone(alice: recollex.Agent) -> None:
    with alice.transaction(by="rule") as tx:
        first = tx.facts.add("Ann", "lives_in", "Oslo", why="turn 1")
        second = tx.facts.add("Ben", "lives_in", "Rome", why="turn 2")
        tx.events.add("Ben moved.", facts=second, why="turn 2")
    op = next(entry.op for entry in alice.log() if entry.why == "turn 2")
    assert alice.facts.undo(op, by="ann") == 2
    assert alice.facts.find().ids == [first]
    assert alice.events.find() == []
    (gone,) = alice.facts.history(second)
    assert (gone.closed_by, gone.why) == ("ann", "turn 2")


def test_an_undo_can_be_undone(alice: recollex.Agent) -> None:
    id = alice.facts.add("Ann", "lives_in", "Oslo")
    alice.facts.correct(id, object="Rome")
    alice.facts.undo(alice.log()[-1].op)
    alice.facts.undo(alice.log()[-1].op)
    assert [fact.object for fact in alice.facts.history(id)] == ["Oslo", "Rome", "Oslo", "Rome"]


def test_what_was_changed_since_is_not_undone(alice: recollex.Agent) -> None:
    id = alice.facts.add("Ann", "lives_in", "Oslo")
    made = alice.log()[-1].op
    alice.facts.correct(id, object="Rome")
    with pytest.raises(InputError, match="was changed since"):
        alice.facts.undo(made)
    alice.facts.archive(id)
    with pytest.raises(InputError, match="was closed since"):
        alice.facts.undo(alice.log(op="retro_correct")[-1].op)
    with pytest.raises(InputError, match="op must be the number of an operation"):
        alice.facts.undo(99)
    alice.retain("Tea.")
    with pytest.raises(InputError, match="changed no fact, event or episode"):
        alice.facts.undo(alice.log()[-1].op)


def test_a_cut_before_the_undo_does_not_know_of_it(alice: recollex.Agent) -> None:
    alice.facts.add("Ann", "lives_in", "Oslo", id="f", recorded_at=day(1))
    alice.facts.correct("f", object="Rome", recorded_at=day(2))
    alice.facts.undo(alice.log()[-1].op, recorded_at=day(3))
    assert alice.facts.get("f", as_recorded=day(2)).object == "Rome"
    assert alice.facts.get("f").object == "Oslo"


def test_an_archived_event_is_found_by_its_status_alone(alice: recollex.Agent) -> None:
    id = alice.events.add("It froze.")
    alice.facts.undo(alice.log()[-1].op)
    assert alice.events.find() == []
    assert [event.id for event in alice.events.find(status="archived")] == [id]
    assert alice.events.get(id).status == "archived"


def test_the_command_undoes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with recollex.open(tmp_path / "memory", durability="off") as store:
        store.agent("default").facts.add("Ann", "lives_in", "Oslo")
        op = store.agent("default").log()[-1].op
    run = command_line(tmp_path, monkeypatch, capsys)
    assert run("undo", "memory", str(op), "--by", "ann")[:2] == (
        0,
        f"operation {op} undone: 1 new record\n",
    )
    with recollex.open(tmp_path / "memory", durability="off") as store:
        assert len(store.agent("default").facts.find()) == 0
    assert run("undo", "memory", "99")[0] == 2
    last = str(op + 1)
    assert run("undo", "memory", last, "--json")[:2] == (0, f'{{"op": {last}, "records": 1}}\n')

"""What `alice.at(t)` shows of facts and events: what was recorded by then, and nothing else."""

from datetime import UTC, datetime, timedelta

import pytest

import recollex
from recollex_engine.errors import InputError, ReadOnlyError, UnknownIdError

START = datetime(2024, 5, 1, tzinfo=UTC)


def day(number):
    return START + timedelta(days=number)


@pytest.fixture
def alice(tmp_path):
    with recollex.open(
        tmp_path, embedder=recollex.GivenVectors(8), clock=lambda: day(100)
    ) as store:
        alice = store.agent("alice")
        alice.retain("Ann moved.", id="m1", embedding=[1, 0, 0, 0, 0, 0, 0, 0], recorded_at=day(1))
        alice.facts.add("Ann", "lives_in", "Oslo", id="home", evidence="m1", recorded_at=day(2))
        alice.events.add("Ann moved.", facts="home", id="move", recorded_at=day(3))
        alice.events.add_episode("A year", "move", id="year", recorded_at=day(4))
        alice.facts.correct("home", object="Rome", by="ben", recorded_at=day(5))
        alice.facts.add_entity("Annabel", recorded_at=day(6))
        alice.facts.merge("Ann", "Annabel", recorded_at=day(7))
        alice.facts.archive("home", why="unknown", recorded_at=day(8))
        yield alice


def seen(agent):
    try:
        return agent.facts.get("home").object
    except UnknownIdError:
        return None


def test_facts_are_those_of_the_cut(alice):
    known = [seen(alice.at(day(number))) for number in range(10)]
    assert known == [None, None, "Oslo", "Oslo", "Oslo", "Rome", "Rome", "Rome", None, None]
    then = alice.at(day(4))
    assert [fact.object for fact in then.facts.history("home")] == ["Oslo"]
    assert then.facts.history("home")[0].recorded == (day(2), None)
    assert [event.id for event in then.events.find(participant=None)] == ["move"]
    assert then.events.get_episode("year").events == ("move",)
    assert alice.at(day(8)).events.find() == []
    assert then.facts.find(evidence="m1").ids == ["home"]
    with pytest.raises(UnknownIdError):
        alice.at(day(0)).facts.find(evidence="m1")
    assert alice.at(day(6)).facts.find(subject="Ann")[0].subject == "Ann"
    assert alice.at(day(7)).facts.find(subject="Ann")[0].subject == "Annabel"


def test_a_cut_of_a_cut_never_looks_beyond_the_first(alice):
    then = alice.at(day(5))
    assert then.facts.get("home", as_recorded=day(2)).object == "Oslo"
    assert seen(then.at(day(2))) == "Oslo"
    with pytest.raises(InputError, match="must not be later than 2024-05-06"):
        then.facts.get("home", as_recorded=day(7))
    with pytest.raises(InputError, match="must not be in the future"):
        alice.facts.get("home", as_recorded=day(101))


def test_the_past_takes_no_facts(alice):
    then = alice.at(day(5))
    for write in (
        lambda: then.facts.add("Ann", "likes", "tea"),
        lambda: then.facts.correct("home", object="Bonn"),
        lambda: then.facts.archive("home"),
        lambda: then.facts.add_entity("Ben"),
        lambda: then.facts.merge("Ann", "Annabel"),
        lambda: then.events.add("It rained."),
        lambda: then.events.link("move", "has_participant", "Ben"),
        lambda: then.apply([{"op": "UPSERT_ENTITY", "name": "Ben"}]),
        lambda: _transact(then),
    ):
        with pytest.raises(ReadOnlyError, match="as of 2024-05-06"):
            write()
    assert len(alice.log()) == 9


def _transact(agent):
    with agent.transaction() as tx:
        tx.facts.add("Ann", "likes", "tea")

"""What `alice.at(t)` shows of facts and events: what was recorded by then, and nothing else."""

import dataclasses
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


def story(agent):
    """Everything that can be read of an agent's facts."""
    facts, events = agent.facts, agent.events
    return {
        "facts": [fact.to_dict() for fact in facts.snapshot()],
        "history": [fact.to_dict() for fact in facts.history("home")],
        "entities": facts.entities(),
        "events": events.find(),
        "episodes": events.episodes(),
        "memories": agent.list(),
        "log": agent.log(),
        "stats": dataclasses.replace(agent.stats(), bytes_on_disk=0),
    }


def test_a_replayed_store_and_a_snapshot_carry_facts(alice, tmp_path):
    log = alice.engine.folder
    expected = story(alice)
    assert recollex.replay(log, tmp_path / "r", agent_id="bob") == 9
    with recollex.open(tmp_path / "r", embedder=recollex.GivenVectors(8)) as store:
        assert story(store.agent("bob")) == expected
        assert store.agent("bob").verify().ok
        again = store.agent("bob").facts.add("Ann", "lives_in", "Bonn", id="home")
        assert store.agent("bob").facts.get(again).subject == "Annabel"
    then = alice.at(day(6))
    expected = story(then)
    assert len(expected["events"]) == len(expected["facts"]) == 1
    alice.snapshot(day(6), tmp_path / "s")
    with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(8)) as store:
        assert story(store.agent("alice")) == expected


def test_a_difference_tells_of_facts_and_events(alice):
    def told(earlier, later):
        found = alice.diff(day(earlier), day(later))
        assert bool(found) == any(found.to_dict().values())
        return {
            name: [item["id"] for item in items] for name, items in found.to_dict().items() if items
        }

    assert told(1, 3) == {"added_facts": ["home"], "added_events": ["move"]}
    assert told(4, 6) == {"added_facts": ["home"], "closed_facts": ["home"]}
    corrected = alice.diff(day(4), day(6))
    assert [fact.object for fact in corrected.closed_facts + corrected.added_facts] == [
        "Oslo",
        "Rome",
    ]
    assert corrected.closed_facts[0].closed_by == "ben"
    assert told(6, 8) == {"closed_facts": ["home"], "closed_events": ["move"]}
    assert told(6, 7) == {}
    assert told(0, 8) == {"added": ["m1"]}


def test_an_event_that_was_recorded_anew_is_in_both(alice):
    alice.events.add("It rained.", id="rain", recorded_at=day(9))
    alice.events.add("It poured.", id="rain", recorded_at=day(10))
    found = alice.diff(day(9), day(11))
    assert [event.summary for event in found.closed_events] == ["It rained."]
    assert [event.summary for event in found.added_events] == ["It poured."]


def test_the_log_names_what_an_operation_is_about(alice):
    assert [(entry.kind, entry.ids) for entry in alice.log()] == [
        ("create", ()),
        ("retain", ("m1",)),
        ("upsert_edge", ("home",)),
        ("upsert_event", ("move",)),
        ("upsert_episode", ("year",)),
        ("retro_correct", ("home",)),
        ("upsert_entity", ("Annabel",)),
        ("merge_entity", ("Ann", "Annabel")),
        ("archive_edge", ("home",)),
    ]
    assert [(entry.by, entry.why) for entry in alice.log(op=["retro_correct", "archive_edge"])] == [
        ("ben", None),
        (None, "unknown"),
    ]


def test_stats_count_what_is_open(alice):
    assert [
        (alice.at(day(n)).stats().facts, alice.at(day(n)).stats().events) for n in (1, 3, 5)
    ] == [
        (0, 0),
        (1, 1),
        (1, 1),
    ]
    assert (alice.stats().facts, alice.stats().events) == (0, 1)


def test_merged_entities_are_one_to_a_filter_from_then_on(alice):
    vector = [1, 1, 0, 0, 0, 0, 0, 0]
    alice.retain("Annabel sings.", id="m2", embedding=vector, recorded_at=day(9))
    alice.retain("Ben sings.", id="m3", embedding=vector, recorded_at=day(10))

    def found(agent, *names):
        return {each.id for each in agent.recall("x", query_embedding=vector, entities=names)}

    assert found(alice, "Ann") == found(alice, "annabel") == {"m1", "m2"}
    assert found(alice, "Ann", "Ben") == set() == found(alice, "Nobody")
    assert found(alice.at(day(6)), "Ann") == {"m1"}
    assert found(alice.at(day(6)), "Annabel") == set()
    assert alice.get("m1").entities == ("Annabel",)
    assert alice.at(day(6)).get("m1").entities == ("Ann",)
    with alice.transaction(recorded_at=day(11)) as tx:
        tx.facts.merge("Ben", "Annabel")
    assert found(alice, "Ann", "Ben") == {"m1", "m2", "m3"}
    assert found(alice.at(day(10)), "Ann", "Ben") == set()

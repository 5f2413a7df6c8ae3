"""A name that joined a wrong entity while it was retained becomes an entity of its own."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import recollex
from recollex.errors import InputError, OperationError, UnknownIdError
from tests.bindings.word_vectors import WordVectors

START = datetime(2024, 5, 1, tzinfo=UTC)


def opened(path: Path, **options: Any) -> recollex.Store:
    return recollex.open(path, embedder=WordVectors(), **options)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[recollex.Store]:
    with opened(tmp_path) as store:
        yield store


@pytest.fixture
def ann(store: recollex.Store) -> recollex.Agent:
    """An agent that took Jon Chenn, seen in the same company, for John Chen."""
    agent = store.agent("ann")
    for day in range(6):
        said = START + timedelta(days=day)
        agent.retain(f"Bob met John Chen, day {day}.", id=f"j{day}", event_at=said)
    later = START + timedelta(days=6)
    agent.retain("Bob saw John Chenn sail.", id="n0", event_at=later)
    agent.retain("John Chenn met John Chen.", id="both", event_at=later)
    agent.retain("rain", id="given", entities=["John Chenn"], event_at=later)
    return agent


def named(agent: Any, name: str) -> set[str]:
    return {memory.id for memory in agent.list(entities=[name], limit=100)}


JOHN, OWN = {*(f"j{day}" for day in range(6)), "both"}, {"n0", "both", "given"}


def test_its_memories_are_those_that_say_it_and_the_past_is_as_it_was(
    ann: recollex.Agent, store: recollex.Store
) -> None:
    before = ann.log()[-1].recorded_at
    assert named(ann, "John Chen") == named(ann, "John Chenn") == JOHN | OWN
    ann.facts.split("John Chen", name="John Chenn", by="ann", why="his cousin")
    with opened(store.path, read_only=True) as reader:
        for agent in (ann, reader.agent("ann")):
            assert (named(agent, "John Chen"), named(agent, "John Chenn")) == (JOHN, OWN)
            assert named(agent.at(before), "John Chenn") == JOHN | OWN
            assert agent.get("given").text == "rain"
            assert agent.get("given").entities == ("John Chenn",)
            assert set(agent.get("both").entities) == {"John Chen", "John Chenn"}
    recall = ann.recall("Who sails?", entities=["John Chenn"])
    assert {memory.id for memory in recall} == OWN
    [said] = ann.log(op="split_entity")
    assert (said.ids, said.by, said.why) == (("John Chenn", "John Chen"), "ann", "his cousin")
    first, second = ann.history("n0")
    assert first.closed is not None
    assert (first.closed.how, first.closed.by) == ("amended", "ann")
    assert second.closed is None
    assert ann.verify().ok


def test_later_memories_are_of_it_and_a_merge_takes_it_back(ann: recollex.Agent) -> None:
    ann.facts.split("John Chenn")  # it was not merged, so this is the same
    ann.retain("John Chenn sold the boat.", id="n1")
    assert (named(ann, "John Chen"), named(ann, "John Chenn")) == (JOHN, OWN | {"n1"})
    ann.facts.merge("John Chenn", "John Chen")
    assert named(ann, "John Chenn") == JOHN | OWN | {"n1"}
    ann.facts.split("John Chenn")
    assert named(ann, "John Chenn") == OWN | {"n1"}


def test_facts_events_and_records_that_say_it_go_with_it(ann: recollex.Agent) -> None:
    facts, events = ann.facts, ann.events
    sails = facts.add("John Chenn", "likes", "Oslo", evidence="n0")
    knows = facts.add("Bob", "knows", "John Chenn", confidence=0.5)
    facts.correct(knows, confidence=0.9)  # its record writes the entity's first name
    stays = facts.add("John Chen", "likes", "tea")
    trip = events.add("a trip", participants=["John Chenn", "Bob"], facts=[sails])
    events.add("a meal", participants=["John Chen"])
    facts.add_entity("John Chen", aliases=["Johnny"], types=["person"])
    before = ann.log()[-1].recorded_at
    facts.split("Johnny", name="John Chenn")
    assert {each.id for each in facts.find(subject="John Chenn")} == {sails}
    assert {each.id for each in facts.find(object="John Chenn")} == {knows}
    assert {each.id for each in facts.find(subject="John Chen")} == {stays}
    assert facts.get(knows).confidence == 0.9
    assert [each.id for each in events.find(participant="John Chenn")] == [trip]
    assert [each.summary for each in events.find(participant="John Chen")] == ["a meal"]
    assert facts.get(sails).evidence == ("n0",)
    assert len(ann.at(before).facts.find(subject="John Chenn")) == 2
    facts.split("Johnny")
    whole, alias = facts.entity("John Chen"), facts.entity("Johnny")
    assert whole is not None
    assert alias is not None
    assert (whole.aliases, whole.types, alias.aliases) == ((), ("person",), ())
    assert ann.verify().ok


def test_a_record_of_an_entity_by_the_name_goes_with_it(ann: recollex.Agent) -> None:
    ann.facts.add_entity("John Chenn", aliases=["Jay"], types=["pilot"])
    entity = ann.facts.entity("John Chen")
    assert entity is not None
    assert entity.name == "John Chenn"
    ann.facts.split("John Chenn")
    entity = ann.facts.entity("John Chenn")
    assert entity is not None
    assert (entity.name, entity.types) == ("John Chenn", ("pilot",))
    assert [each.name for each in ann.facts.entities(mentioned=True)] == [
        *("Bob", "John Chen", "John Chenn")
    ]


def test_an_opinion_keeps_its_text_and_confidence(ann: recollex.Agent) -> None:
    id = ann.opinions.form("John Chenn sails well.", confidence=0.8, evidence=["n0"])
    ann.facts.split("John Chenn")
    opinion = ann.opinions.get(id)
    assert (opinion.text, opinion.confidence, opinion.evidence) == (
        *("John Chenn sails well.", 0.8),
        ("n0",),
    )
    assert id in named(ann, "John Chenn")
    assert id not in named(ann, "John Chen")


def test_a_name_of_a_merged_entity_goes_alone(ann: recollex.Agent) -> None:
    ann.retain("Jack Ives cooks.", id="jack")
    ann.facts.merge("John Chen", "Jack Ives")
    ann.facts.split("Jack Ives", name="John Chenn")
    assert named(ann, "John Chenn") == OWN
    assert named(ann, "Jack Ives") == JOHN | {"jack"}
    ann.facts.split("Jack Ives", name="John Chen")  # the entity's own name: the merge is parted
    assert (named(ann, "Jack Ives"), named(ann, "John Chen")) == ({"jack"}, JOHN)


def test_what_cannot_be_parted_is_refused_with_the_names_that_can(ann: recollex.Agent) -> None:
    with pytest.raises(InputError, match="not merged into another entity: split 'john chenn'"):
        ann.facts.split("John Chen")
    with pytest.raises(InputError, match="'Bob' is no name of 'John Chen': its names are"):
        ann.facts.split("John Chen", name="Bob")
    with pytest.raises(UnknownIdError):
        ann.facts.split("Zed")
    with pytest.raises(InputError, match="before the other operations"), ann.transaction() as tx:
        tx.retain("John Chenn again")
        tx.facts.split("John Chenn")
    split = {"op": "SPLIT_ENTITY", "source": "John Chenn"}
    with pytest.raises(OperationError, match="changed in this transaction"):
        ann.apply([split, {"op": "CORRECT", "id": "n0", "text": "no"}])
    ann.apply([{"op": "SPLIT_ENTITY", "source": "John Chen", "name": "John Chenn"}])
    assert named(ann, "John Chenn") == OWN


def test_an_erased_memory_takes_no_name_of_the_others(
    ann: recollex.Agent, store: recollex.Store
) -> None:
    ann.facts.split("John Chenn", by="ann")
    ann.erase("n0", by="ann", why="he asked")
    assert (named(ann, "John Chen"), named(ann, "John Chenn")) == (JOHN, OWN - {"n0"})
    assert ann.verify().ok


def test_a_name_that_an_erased_memory_brought_is_split_off_the_others(ann: recollex.Agent) -> None:
    later = START + timedelta(days=6)
    ann.retain("snow", id="snow", entities=["Bob", "Jon Chen"], event_at=later)
    ann.retain("hail on John Chen", id="hail", entities=["Jon Chen"], event_at=later)
    assert "snow" in named(ann, "John Chen")
    ann.erase("snow", by="ann", why="he asked")
    ann.facts.split("John Chen", name="Jon Chen")
    assert named(ann, "Jon Chen") == {"hail"}
    assert named(ann, "John Chen") == JOHN | OWN | {"hail"}
    assert ann.verify().ok


def test_a_name_that_a_caller_gave_is_found_after_an_amendment(ann: recollex.Agent) -> None:
    ann.amend("given", tags=["wet"])
    ann.facts.split("John Chenn")
    assert named(ann, "John Chenn") == OWN
    ann.amend("given", tags=["dry"])
    assert named(ann, "John Chenn") == OWN


def test_a_writer_that_opens_again_knows_the_name(
    ann: recollex.Agent, store: recollex.Store
) -> None:
    ann.facts.split("John Chenn")
    store.close()
    with opened(store.path) as again:
        again.agent("ann").retain("John Chenn sold the boat.", id="n1")
        assert named(again.agent("ann"), "John Chenn") == OWN | {"n1"}


def test_the_job_does_not_join_it_again(store: recollex.Store) -> None:
    agent = store.agent("a")
    for day in range(6):
        agent.retain(f"Bob works at Acme Motors, {day}", entities=["Bob", "Acme Motors"])
    agent.retain("Bob left Acme Motor", id="m", entities=["Bob", "Acme Motor"])
    assert len(named(agent, "Acme Motor")) == 7
    for name in ("Acme Motors", "Bob"):
        agent.facts.add_entity(name, types=["organization"])
    agent.facts.split("Acme Motor")
    agent.facts.add_entity("Acme Motor", types=["organization"])
    assert agent.facts.resolve_entities(preview=True) == []
    with recollex.open(store.path.with_name("other"), embedder=WordVectors()) as other:
        apart = other.agent("a")
        apart.retain("Cy works at Acme Motors", entities=["Acme Motors"])
        apart.retain("Bob left Acme Motor", entities=["Acme Motor"])
        for name in ("Acme Motors", "Acme Motor"):
            apart.facts.add_entity(name, types=["organization"])
        assert [each.same for each in apart.facts.resolve_entities(preview=True)] == [True]

"""What an agent does with facts, entities, events and transactions."""

import dataclasses
from datetime import UTC, datetime
from typing import Any

import pytest

import recollex
from recollex_engine import errors
from tests.bindings.days_of_may import day


class FactContract:
    def test_facts_are_the_embedded_ones(self, alice: Any, reference: Any) -> None:
        for agent in (alice, reference):
            agent.retain("Ann said so.", id="m1", recorded_at=day(1))
            for city, start, end in (("Oslo", 1, 10), ("Rome", 9, 20)):
                agent.facts.add(
                    "Ann",
                    "lives_in",
                    city,
                    valid=(day(start), day(end)),
                    evidence=["m1"],
                    source=recollex.Source("mail:1", "ff"),
                    mentions=[recollex.Mention("d", (0, 3), "Ann")],
                    confidence=0.5,
                    by="me",
                    recorded_at=day(start + 1),
                )
            agent.facts.add("Ann", "colour", recollex.Text("blue"), recorded_at=day(21))
            agent.facts.add("Ann", "born", day(3), valid="in 1990", recorded_at=day(22))
            agent.facts.add("Ann", "age", 3.5, id="age", recorded_at=day(23))
            agent.facts.correct("age", object=True, why="misheard", recorded_at=day(24))
        found, expected = alice.facts.find(subject="Ann"), reference.facts.find(subject="Ann")
        assert isinstance(found, recollex.FactList)
        assert list(found) == list(expected) and found.ids == expected.ids
        assert [fact.to_dict() for fact in found] == [fact.to_dict() for fact in expected]
        assert found[0].conflicts == expected[0].conflicts and found[0].conflicts
        assert isinstance(found[0].conflicts[0], recollex.Conflict)
        assert found[0].source == recollex.Source("mail:1", "ff")
        assert found[0].active_at(day(5)) and not found[0].active_at(day(11))
        assert list(found[1:3]) == list(expected[1:3])
        assert repr(found) == repr(expected)
        assert repr(found[0]) == repr(expected[0])
        assert alice.facts.history("age") == reference.facts.history("age")
        assert [f.closed_why for f in alice.facts.history("age")] == ["misheard", None]
        assert alice.facts.conflicts() == reference.facts.conflicts()
        assert type(alice.facts.conflicts()[0]) is tuple
        assert list(alice.facts.snapshot(as_world=day(5))) == list(
            reference.facts.snapshot(as_world=day(5))
        )
        assert len(alice.facts.find(relation="before", to=(day(12), day(13)))) == 2

    def test_a_valid_time_is_of_two_periods(self, alice: Any, reference: Any) -> None:
        for agent in (alice, reference):
            add = agent.facts.add
            add("Ann", "lives_in", "Oslo", valid=("2001", "2003-05"), id="a", recorded_at=day(1))
            add("Ann", "lives_in", "Rome", valid=("2003-06-01", None), id="b", recorded_at=day(2))
            add("Ben", "lives_in", "Oslo", valid=(None, day(4)), id="c", recorded_at=day(3))
        assert [fact.to_dict() for fact in alice.facts.find()] == [
            fact.to_dict() for fact in reference.facts.find()
        ]
        assert [alice.facts.get(id).uncertainty for id in "abc"] == [
            "start to the year, end to the month",
            "start to the day",
            None,
        ]
        assert alice.facts.get("b").valid[0] == datetime(2003, 6, 1, tzinfo=UTC)
        assert [fact.id for fact in alice.facts.find(overlaps=("2003-05", "2003-05"))] == ["a", "c"]
        with pytest.raises(
            recollex.errors.InputError, match="valid start is not a time of the cal"
        ):
            alice.facts.add("Ann", "lives_in", "Oslo", valid=("2001-13", "2002"))

    def test_an_operation_is_undone(self, alice: Any, reference: Any) -> None:
        for agent in (alice, reference):
            agent.facts.add("Ann", "lives_in", "Oslo", id="home", recorded_at=day(1))
            agent.facts.correct("home", object="Rome", why="turn 2", recorded_at=day(2))
            op = agent.log(op="retro_correct")[-1].op
            assert agent.facts.undo(op, by="ann", recorded_at=day(3)) == 1
        assert alice.facts.history("home") == reference.facts.history("home")
        assert [fact.object for fact in alice.facts.history("home")] == ["Oslo", "Rome", "Oslo"]

    def test_facts_are_found_by_their_times(self, alice: Any, reference: Any) -> None:
        for agent in (alice, reference):
            for number, (name, city) in enumerate((("Ann", "Oslo"), ("Ben", "Rome")), start=1):
                agent.facts.add(
                    name,
                    "visited",
                    city,
                    valid=(day(number), day(number + 3)),
                    id=name,
                    recorded_at=day(number),
                )
            agent.facts.add("Ann", "colour", recollex.Text("blue"), id="c", recorded_at=day(9))

        def ids(**asked: Any) -> list[str]:
            found = alice.facts.find(**asked)
            assert list(found) == list(reference.facts.find(**asked))
            return list(found.ids)

        assert ids(start={"ge": day(2)}) == ["Ben"]
        assert ids(start=day(1).date().isoformat()) == ["Ann"]
        assert ids(end={"exists": True}, order_by="end", descending=True) == ["Ben", "Ann"]
        assert ids(order_by="start", limit=1, offset=1, as_recorded=day(8)) == ["Ben"]
        assert ids(object=recollex.Text("blue")) == ["c"] and ids(object="blue") == []
        assert alice.facts.count() == 3 and alice.facts.count(as_world=day(2)) == 3
        assert alice.facts.count(distinct="subject", predicate="visited") == 2
        assert alice.facts.value_counts("subject") == {"Ann": 2, "Ben": 1}
        assert list(alice.facts.value_counts("object")) == ['"blue"', "Oslo", "Rome"]
        for wrong, said in (
            ({"start": {"after": "2024"}}, "start has no operator 'after'"),
            ({"order_by": "age"}, "order_by must be one of recorded, start, end, got 'age'"),
            ({"limit": 0}, "limit must"),
            ({"offset": -1}, "offset must"),
        ):
            with pytest.raises(errors.InputError, match=said):
                alice.facts.find(**wrong)
        with pytest.raises(errors.InputError, match="distinct must be one of subject"):
            alice.facts.count(distinct="id")
        with pytest.raises(errors.InputError, match="field must be one of subject"):
            alice.facts.value_counts("id")

    def test_what_a_search_finds_is_what_the_embedded_one_finds(
        self, alice: Any, reference: Any
    ) -> None:
        for agent in (alice, reference):
            agent.retain("Ann said so.", id="m1", recorded_at=day(1))
            home = agent.facts.add(
                "Ann", "lives_in", "Oslo", evidence=["m1"], id="f1", recorded_at=day(2)
            )
            agent.facts.add("Ben", "likes", "tea", id="f2", recorded_at=day(3))
            moved = agent.events.add("Ann moved to Oslo.", facts=home, id="e1", recorded_at=day(4))
            agent.events.add_episode("A year of moves", [moved], id="p1", recorded_at=day(5))
        question = "Where does Ann live now?"
        for search in (
            lambda agent: agent.facts.search(question, subject="Ann"),
            lambda agent: agent.events.search(question, limit=1),
            lambda agent: agent.events.search_episodes("moves"),
            lambda agent: agent.facts.search("tea", as_recorded=day(2)),
        ):
            found, expected = search(alice), search(reference)
            assert found and isinstance(found[0], recollex.Hit)
            assert [hit.to_dict() for hit in found] == [hit.to_dict() for hit in expected]
            assert found == expected
        kinds = ("memory", "fact", "event", "episode")
        found = alice.recall(question, kinds=kinds, now=day(9))
        expected = reference.recall(question, kinds=kinds, now=day(9))
        assert found.hits == expected.hits and len(found.hits) == 5
        assert found.to_prompt() == expected.to_prompt() and found.tokens == expected.tokens
        assert found.to_dict()["hits"] == expected.to_dict()["hits"]
        assert alice.recall(question, kinds="fact").hits[0].item.id == "f1"
        assert alice.recall(question).beside is None
        for wrong in ({"kinds": "facts"}, {"kinds": []}):
            with pytest.raises(errors.InputError, match="kinds must be some of memory, fact"):
                alice.recall(question, **wrong)

    def test_a_name_is_split_off(self, alice: Any, reference: Any) -> None:
        for agent in (alice, reference):
            agent.facts.add_entity("John Chen", aliases=["Jack"], recorded_at=day(1))
            agent.facts.add("Jack", "likes", "tea", id="f", recorded_at=day(2))
            agent.facts.split("John Chen", name="Jack", by="ann", recorded_at=day(3))
        assert alice.facts.get("f").subject == reference.facts.get("f").subject == "Jack"
        assert alice.facts.entity("John Chen") == reference.facts.entity("John Chen")
        assert alice.facts.get("f", as_recorded=day(2)).subject == "John Chen"

    def test_entities_merge(self, alice: Any, reference: Any) -> None:
        for agent in (alice, reference):
            agent.facts.add("Bobby", "likes", "Oslo", recorded_at=day(1))
            agent.facts.add_entity("Robert", aliases=["Rob"], types=["person"], recorded_at=day(2))
            agent.facts.merge("Bobby", "Robert", recorded_at=day(3))
        assert alice.facts.entity("Bobby") == reference.facts.entity("Bobby")
        assert alice.facts.entities() == reference.facts.entities()
        with pytest.raises(errors.MergeCycleError) as raised:
            alice.facts.merge("Robert", "Bobby")
        assert (raised.value.source, raised.value.target) == ("Robert", "Bobby")

    def test_events_are_the_embedded_ones(self, alice: Any, reference: Any) -> None:
        for agent in (alice, reference):
            fact = agent.facts.add("Ann", "works_at", "Google", recorded_at=day(1))
            event = agent.events.add(
                "Ann joined Google.",
                participants={"Ann": "engineer", "Ben": None},
                facts=[fact],
                span=(day(1), day(2)),
                times=[day(1), "noon"],
                recorded_at=day(2),
            )
            agent.events.link(event, "has_time", day(1, 5), recorded_at=day(3))
            agent.events.add_episode("A new job", [event], id="job", recorded_at=day(4))
        found = alice.events.get(event)
        assert isinstance(found, recollex.Event)
        assert found == reference.events.get(event)
        assert found.to_dict() == reference.events.get(event).to_dict()
        assert found.active_fact_count(day(5)) == 1
        assert alice.events.find(participant="Ann") == reference.events.find(participant="Ann")
        for agent in (alice, reference):
            agent.events.add("Ann joined.", facts=[fact], id=event, recorded_at=day(5))
        told = alice.events.history(event)
        assert [each.summary for each in told] == ["Ann joined Google.", "Ann joined."]
        assert told == reference.events.history(event) and told[0].proof_count == 1
        assert alice.events.episodes() == reference.events.episodes()
        assert alice.events.get_episode("job") == reference.events.get_episode("job")
        with pytest.raises(errors.UnknownIdError):
            alice.events.get("nothing")
        with pytest.raises(errors.UnknownIdError):
            alice.events.history("nothing")

    def test_a_transaction_is_whole_or_absent(self, alice: Any) -> None:
        with alice.transaction(by="importer", why="first call") as tx:
            memory = tx.retain("Ann joined Google.", tags=["job"])
            fact = tx.facts.add("Ann", "works_at", "Google", evidence=memory)
            tx.events.add("Ann joined Google.", facts=[fact], id="e1")
        assert alice.facts.get(fact).why == "first call"
        assert alice.facts.get(fact).evidence == (memory,)
        assert alice.events.get("e1").facts == (fact,)
        with (
            pytest.raises(errors.OperationError, match="operation 2") as raised,
            alice.transaction() as tx,
        ):
            tx.retain("Never.", id="never")
            tx.facts.archive("no such fact")
        assert raised.value.where == "operation 2 (ARCHIVE_EDGE)"
        assert isinstance(raised.value.__cause__, errors.UnknownIdError)
        with pytest.raises(RuntimeError), alice.transaction() as tx:
            tx.retain("Never.", id="never")
            raise RuntimeError
        with pytest.raises(errors.UnknownIdError):
            alice.get("never")
        with pytest.raises(errors.InputError, match="confidence"), alice.transaction() as tx:
            tx.facts.add("Ann", "likes", "tea", confidence=7)

    def test_operations_as_json(self, alice: Any) -> None:
        told = [
            {"op": "UPSERT_EDGE", "subject": "Ann", "predicate": "likes", "object": "tea"},
            {"op": "RETAIN", "id": "m", "text": "Ann likes tea."},
        ]
        assert alice.apply(iter(told), by="test") == 2
        assert alice.apply(told[1:]) == 0
        with pytest.raises(errors.OperationError, match="operation 1"):
            alice.apply([{"op": "ARCHIVE_EDGE", "id": "nothing"}])

    def test_upkeep(self, alice: Any) -> None:
        alice.retain_many(["One.", "Two."])
        assert alice.checkpoint() is None
        assert alice.stats().memories == 2 and isinstance(alice.stats(), recollex.Stats)
        verification = alice.verify()
        assert verification.ok and isinstance(verification, recollex.Verification)
        head = alice.head()
        assert isinstance(head, recollex.LogHead) and head.op == alice.stats().operations
        alice.forget(alice.list()[0].id)
        assert alice.verify(head=head).ok and alice.verify(head=str(alice.head())).ok
        missing = dataclasses.replace(head, op=99)
        assert "since the head that was given" in alice.verify(head=missing).problems[0]
        with pytest.raises(errors.InputError, match="head must be"):
            alice.verify(head="99")

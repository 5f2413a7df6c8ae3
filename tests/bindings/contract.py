"""What an agent is to its caller, wherever it runs: one class of tests for all of them.

A subclass gives the fixture `store`: a store, opened here or at a server, that embeds with
`WordVectors` and whose clock is the system's. The embedded API is what the others are held to, so
`reference` is an embedded store beside it: both are told the same, and must answer the same.
"""

import inspect
import pydoc
import threading
from collections import UserDict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import recollex
from recollex.api.events import Events
from recollex.api.facts import Facts
from recollex.api.sessions import Sessions
from recollex_engine import errors
from tests.bindings.word_vectors import WordVectors

OSLO = ZoneInfo("Europe/Oslo")


def day(number: int, hour: int = 0) -> datetime:
    return datetime(2024, 5, number, hour, tzinfo=UTC)


class Contract:
    @pytest.fixture
    def store(self) -> Any:
        raise NotImplementedError

    @pytest.fixture
    def alice(self, store: Any) -> Any:
        return store.agent("alice")

    @pytest.fixture
    def reference(self, tmp_path: Path) -> Iterator[Any]:
        with recollex.open(tmp_path / "reference", embedder=WordVectors()) as store:
            yield store.agent("alice")

    # -- memories ---------------------------------------------------------------------------------

    def test_retain_and_recall(self, alice: Any) -> None:
        ids = alice.retain(["Bob likes tea.", "Ann moved to Oslo."], tags=["talk"])
        assert len(set(ids)) == 2
        recall = alice.recall("Who moved to Oslo?")
        assert isinstance(recall, recollex.Recall)
        assert isinstance(recall[0], recollex.Memory)
        assert (recall[0].id, recall[0].text) == (ids[1], "Ann moved to Oslo.")
        assert recall[0].tags == ("talk",)
        assert recall.ids == [memory.id for memory in recall]

    def test_everything_said_of_a_memory_comes_back(self, alice: Any, reference: Any) -> None:
        said = {
            "event_at": datetime(2024, 5, 1, 9, 30, tzinfo=OSLO),
            "context": "a call",
            "network": "opinion",
            "document_id": "call-1",
            "entities": ["Ann", "Oslo"],
            "tags": ["travel", "2024"],
            "metadata": {"n": 1, "deep": {"list": [1, 2.5, None, True, "æ"]}, "large": 2**40},
            "id": "m1",
            "valid_until": day(20),
            "recorded_at": day(2),
        }
        for agent in (alice, reference):
            assert agent.retain("Ann moved to Oslo on Friday.", **said) == ["m1"]
        assert alice.get("m1") == reference.get("m1")
        memory = alice.get("m1")
        assert memory.event_at == said["event_at"] and memory.event_at.tzinfo is UTC
        assert type(memory.tags) is type(memory.entities) is type(memory.event) is tuple
        assert memory.metadata == said["metadata"]
        assert memory.to_dict() == reference.get("m1").to_dict()

    def test_a_recall_is_the_embedded_one(self, alice: Any, reference: Any) -> None:
        for agent in (alice, reference):
            agent.retain(
                [f"Person {n % 7} went to town {n % 5} with friend {n}." for n in range(60)],
                id=[f"m{n}" for n in range(60)],
                event_at=[day(1 + n % 28, n % 24) for n in range(60)],
                recorded_at=day(30),
            )
        for options in (
            {},
            {"thinking_budget": 10, "max_tokens": 50},
            {"explain": True, "preset": "tempr"},
            {"since": day(3), "until": day(9), "exact": True},
            {"pack": "subgraph", "preset": "memora"},
            {"pack": recollex.Packing(depth=1)},
            {"now": day(29), "min_confidence": 0.99},
        ):
            asked = [
                agent.recall("Who went to town 3 in May?", **({"now": day(31)} | options))
                for agent in (alice, reference)
            ]
            here, there = (recall.to_dict() for recall in asked)
            for told in (here, there):
                trace = told.pop("trace")
                assert trace["total"] > 0 and trace["errors"] == {}
            assert here == there
            first, second = asked
            assert list(first) == list(second)
            assert (len(first), first.op, first.signs) == (len(second), second.op, second.signs)
            assert first.subgraph == second.subgraph
            assert first.to_prompt() == second.to_prompt()
            assert first[:2] == second[:2] and (not first or first[-1] == second[-1])
            assert repr(first) == repr(second)

    def test_many_questions_at_once(self, alice: Any) -> None:
        ids = alice.retain(["Bob likes tea.", "Ann plays the cello."])
        recalls = alice.recall_many((q for q in ("likes tea?", "plays cello?")), max_tokens=10)
        assert [recall[0].id for recall in recalls] == ids

    def test_lists_come_in_order_and_in_pages(self, alice: Any) -> None:
        ids = alice.retain([f"Fact number {n}." for n in range(25)])
        assert [memory.id for memory in alice.list()] == ids
        page = alice.list(limit=10)
        assert [memory.id for memory in alice.list(after=page[-1].id, limit=10)] == ids[10:20]

    def test_a_conversation(self, alice: Any) -> None:
        turns = [
            {"speaker": "Ann", "text": "I got a puppy!", "at": "2024-05-04T10:00:00Z"},
            {"speaker": "Ben", "text": "Its name?", "at": day(4, 11), "metadata": {"n": 1}},
        ]
        ids = alice.retain_dialogue(iter(turns), document_id="call-1", tags=("talk",))
        assert alice.get(ids[1]).speaker == "Ben" and alice.get(ids[1]).event_at == day(4, 11)
        assert "id" not in turns[0]
        again = alice.retain_dialogue(turns, document_id="call-1", tags=["talk"], replace=True)
        assert again == ids

    def test_a_policy_listens_and_its_session_is_read(self, alice: Any) -> None:
        policy = recollex.WritePolicy(periodic_cap=1, session_gap=timedelta(hours=2))
        texts = ("Hi there!", "I moved to Bergen in March.", "I grew up by the sea with Eve.")
        turns = [{"speaker": "Ann", "text": text, "at": "2024-05-04T10:00:00Z"} for text in texts]
        ids = alice.retain_dialogue(turns, document_id="call-1", policy=policy)
        assert [id is not None for id in ids] == [False, True, False]
        assert [turn.text for turn in alice.sessions.short_term("call-1")] == [
            f"Ann: {text}" for text in texts
        ]
        (waiting,) = alice.sessions.working("call-1")
        assert (waiting.speaker, waiting.at, waiting.written) == ("Ann", day(4, 10), False)
        asked = alice.sessions.recall("Who grew up by the sea?", document_id="call-1")
        assert isinstance(asked, recollex.Recall)
        open_question = alice.recall("What about the zebra?")
        alice.sessions.backfill(open_question, document_id="call-1", because="abstention")
        assert alice.sessions.forget_expired() == []
        assert isinstance(alice.sessions.end("call-1"), list)
        with pytest.raises(recollex.errors.UnknownIdError, match="no session with id 'call-2'"):
            alice.sessions.working("call-2")

    def test_forget_archive_correct_and_history(self, alice: Any) -> None:
        a, b, c = alice.retain(["Bob is here.", "Bob is there.", "Bob lives in Oslo."])
        alice.forget(a, by="ann", why="private")
        alice.archive([b])
        alice.correct(c, "Bob lives in Rome.", tags=["home"], by="ann", why="He said so.")
        with pytest.raises(errors.UnknownIdError):
            alice.get(a)
        assert alice.get(b).closed.how == "archived"
        versions = alice.history(c)
        assert [(memory.text, memory.closed and memory.closed.by) for memory in versions] == [
            ("Bob lives in Oslo.", "ann"),
            ("Bob lives in Rome.", None),
        ]
        assert isinstance(versions[0].closed, recollex.Closure)

    # -- time ----------------------------------------------------------------------------------

    def test_a_cut_reads_the_past(self, alice: Any, reference: Any) -> None:
        for agent in (alice, reference):
            agent.retain("Bob lives in Oslo.", id="home", recorded_at=day(1))
            agent.retain("Bob lives in Rome.", id="home", recorded_at=day(2))
        cut = alice.at(day(1, 12))
        assert cut.get("home").text == "Bob lives in Oslo."
        assert cut.name == "alice"
        assert [memory.text for memory in cut.recall("Where does Bob live?")] == [
            "Bob lives in Oslo."
        ]
        asked = alice.recall("Where does Bob live?", as_recorded=day(1, 12))
        assert list(asked) == list(cut.recall("Where does Bob live?"))
        assert cut.stats().memories == 1
        assert cut.facts.find() == [] or len(cut.facts.find()) == 0
        with pytest.raises(errors.ReadOnlyError):
            cut.retain("Too late.")
        with pytest.raises(errors.ReadOnlyError):
            cut.facts.add("Bob", "likes", "tea")
        with pytest.raises(errors.InputError):
            alice.at(datetime(2999, 1, 1, tzinfo=UTC))

    def test_log_and_diff(self, alice: Any, reference: Any) -> None:
        for agent in (alice, reference):
            agent.retain("Bob lives in Oslo.", id="a", recorded_at=day(1))
            agent.facts.add("Bob", "lives_in", "Oslo", evidence="a", recorded_at=day(2), by="ann")
            agent.forget("a", by="ben", why="asked", recorded_at=day(3))
        entries = alice.log(since=day(1), until=day(4))
        assert [entry.kind for entry in entries] == [
            e.kind for e in reference.log(since=day(1), until=day(4))
        ]
        assert [entry.to_dict() for entry in alice.log(op="forget")] == [
            entry.to_dict() for entry in reference.log(op="forget")
        ]
        assert isinstance(entries[0], recollex.LogEntry)
        difference = alice.diff(day(1, 12), day(3, 12))
        assert isinstance(difference, recollex.Difference)
        assert difference.to_dict() == reference.diff(day(1, 12), day(3, 12)).to_dict()
        assert difference and not alice.diff(day(3, 5), day(3, 6))

    # -- facts and events -----------------------------------------------------------------------

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
        assert alice.events.episodes() == reference.events.episodes()
        assert alice.events.get_episode("job") == reference.events.get_episode("job")
        with pytest.raises(errors.UnknownIdError):
            alice.events.get("nothing")

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
        alice.retain(["One.", "Two."])
        assert alice.checkpoint() is None
        assert alice.stats().memories == 2 and isinstance(alice.stats(), recollex.Stats)
        verification = alice.verify()
        assert verification.ok and isinstance(verification, recollex.Verification)

    # -- arguments -------------------------------------------------------------------------------

    def test_vectors_of_every_kind(self, alice: Any) -> None:
        words = WordVectors()
        texts = ["Bob likes tea.", "Ann plays the cello."]
        for number, given in enumerate(
            (
                words.embed(texts),
                words.embed(texts).astype(np.float16),
                words.embed(texts).astype(np.float64)[:, :],
                list(words.embed(texts)),
                words.embed(texts).tolist(),
                np.asfortranarray(words.embed(texts)),
            )
        ):
            ids = alice.retain(texts, embedding=given, document_id=f"d{number}")
            found = alice.recall(
                "?", query_embedding=words.embed_query(texts[1]), document_id=f"d{number}"
            )
            assert found[0].id == ids[1]
        for wrong in (np.zeros(3), np.full(64, np.nan), "no vector", object(), [1, 2, 3]):
            with pytest.raises(errors.InputError):
                alice.retain("Bob likes tea.", embedding=wrong)

    def test_iterables_and_mappings_of_every_kind(self, alice: Any) -> None:
        ids = alice.retain(
            (f"Text {n}." for n in range(3)),
            id=iter(["a", "b", "c"]),
            tags=[(f"t{n}" for n in range(2)), [], ("x",)],
            metadata=[MappingProxyType({"n": 1}), UserDict({"n": 2}), {}],
            entities=np.array(["Ann", "Bob"]),
        )
        assert ids == ["a", "b", "c"]
        assert alice.get("a").tags == ("t0", "t1") and alice.get("c").tags == ("x",)
        assert [alice.get(id).metadata for id in ids] == [{"n": 1}, {"n": 2}, {}]
        assert alice.get("b").entities == ("Ann", "Bob")
        alice.forget(id for id in ids[:2])
        assert alice.stats().memories == 1

    @pytest.mark.parametrize(
        ("method", "args", "options"),
        [
            ("retain", ("",), {}),
            ("retain", (7,), {}),
            ("retain", (["a", "b"],), {"id": ["one"]}),
            ("retain", ("a",), {"tags": {"a", "b"}}),
            ("retain", ("a",), {"tags": "a"}),
            ("retain", ("a",), {"event_at": datetime(2024, 5, 1)}),
            ("retain", ("a",), {"event_at": "yesterday"}),
            ("retain", ("a",), {"metadata": {"at": day(1)}}),
            ("retain", ("a",), {"metadata": {"x": float("nan")}}),
            ("retain", ("a",), {"metadata": {1: 2}}),
            ("retain", ("a",), {"metadata": {"x": object()}}),
            ("retain", ("a",), {"metadata": {"x": 2**80}}),
            ("retain", ("a",), {"network": "dream"}),
            ("retain", ("lone \ud800 surrogate",), {}),
            ("retain", ("a",), {"embedding": object()}),
            ("retain_dialogue", ([{"speaker": "A"}],), {"document_id": "d"}),
            ("retain_dialogue", ("turns",), {"document_id": "d"}),
            ("retain_dialogue", ([],), {"document_id": ""}),
            ("retain_dialogue", ([],), {"document_id": "d", "policy": 3}),
            ("recall", ("",), {}),
            ("recall", (object(),), {}),
            ("recall", ("q",), {"thinking_budget": 0}),
            ("recall", ("q",), {"thinking_budget": 2**70}),
            ("recall", ("q",), {"preset": "best"}),
            ("recall", ("q",), {"preset": object()}),
            ("recall", ("q",), {"pack": 3}),
            ("recall", ("q",), {"tags": {"a"}}),
            ("recall", ("q",), {"where": 3}),
            ("recall", ("q",), {"as_recorded": day(1).replace(tzinfo=None)}),
            ("recall", ("q",), {"explain": 1}),
            ("recall_many", ("q",), {}),
            ("recall_many", (["q"],), {"query_embedding": []}),
            ("get", ("nothing",), {}),
            ("get", (b"bytes",), {}),
            ("list", (), {"limit": 0}),
            ("forget", (["nothing"],), {}),
            ("forget", ({"a"},), {}),
            ("correct", ("nothing", "text"), {}),
            ("log", (), {"since": day(2), "until": day(1)}),
            ("diff", (day(2), day(1)), {}),
            ("apply", ([{"op": "FLY"}],), {}),
            ("facts.get", ("nothing",), {}),
            ("facts.add", ("a", "b", object()), {}),
            ("facts.add", ("a", "b", "c"), {"confidence": "high"}),
            ("facts.add", ("a", "b", "c"), {"valid": (day(2), day(1))}),
            ("facts.find", (), {"relation": "before"}),
            ("facts.find", (), {"evidence": "nothing"}),
            ("events.add", ("",), {}),
            ("events.add", ("a",), {"participants": [1]}),
            ("events.get_episode", ("nothing",), {}),
            ("sessions.backfill", (3,), {"document_id": "d"}),
        ],
    )
    def test_what_is_refused_is_refused_in_the_same_words(
        self, alice: Any, reference: Any, method: str, args: Any, options: Any
    ) -> None:
        raised = []
        for agent in (reference, alice):
            called = agent
            for name in method.split("."):
                called = getattr(called, name)
            with pytest.raises(Exception) as caught:
                called(*args, **options)
            raised.append(caught.value)
        expected, found = raised
        assert type(found) is type(expected)
        assert _without_addresses(str(found)) == _without_addresses(str(expected))
        assert set(vars(found)) >= set(vars(expected))

    @pytest.mark.parametrize(
        ("method", "args", "options"),
        [
            ("recall", ("q",), {"max_token": 3}),
            ("recall", (), {}),
            ("recall", ("q", 3), {}),
            ("recall", ("q",), {"query": "q"}),
            ("recall_many", (["q"],), {"max_token": 3}),
            ("facts.add", ("a", "b"), {}),
            ("facts.find", ("a",), {}),
            ("events.get", (), {"id": "a", "name": "b"}),
            ("sessions.end", (), {}),
            ("stats", (1,), {}),
            ("at", (), {}),
            ("transaction", (), {"wy": "typo"}),
        ],
    )
    def test_a_mistyped_argument_says_so_in_the_same_words(
        self, alice: Any, reference: Any, method: str, args: Any, options: Any
    ) -> None:
        messages = []
        for agent in (reference, alice):
            called = agent
            for name in method.split("."):
                called = getattr(called, name)
            with pytest.raises(TypeError) as caught:
                called(*args, **options)
            messages.append(str(caught.value))
        assert messages[0] == messages[1]

    def test_a_mistyped_method_says_so(self, store: Any, alice: Any) -> None:
        for owner, name in (
            (store, "agnet"),
            (alice, "recal"),
            (alice.facts, "hstory"),
            (alice.events, "fnd"),
        ):
            with pytest.raises(AttributeError, match=f"object has no attribute '{name}'"):
                getattr(owner, name)

    def test_help_shows_what_may_be_given(self, alice: Any) -> None:
        for owner, home in (
            (alice, recollex.Agent),
            (alice.facts, Facts),
            (alice.events, Events),
            (alice.sessions, Sessions),
        ):
            for name, method in inspect.getmembers(home, inspect.isfunction):
                if not name.startswith("_") and hasattr(owner, name):
                    offered = getattr(owner, name)
                    expected = list(inspect.signature(method).parameters.values())[1:]
                    assert list(inspect.signature(offered).parameters.values()) == expected, name
                    assert inspect.getdoc(offered) == inspect.getdoc(method)
        assert "thinking_budget: int = 100" in pydoc.render_doc(alice.recall)

    # -- stores ----------------------------------------------------------------------------------

    def test_agents_are_apart(self, store: Any) -> None:
        store.agent("ann").retain("Ann is here.")
        store.agent("ben").retain("Ben is here.")
        assert store.agents() == ["ann", "ben"]
        assert [memory.text for memory in store.agent("ann").list()] == ["Ann is here."]
        assert store.agent("ann").name == "ann"

    @pytest.mark.parametrize("name", ["", " ", "a" * 999, 7, None, "\ud800"])
    def test_a_name_that_is_none_is_refused(self, store: Any, name: Any) -> None:
        with pytest.raises(errors.InputError):
            store.agent(name)

    @pytest.mark.parametrize("name", ["../x", "a/b", "nul\0", ".", "..", "Ann Ø", "a\nb"])
    def test_an_odd_name_is_a_name_and_no_path(self, store: Any, name: str, tmp_path: Path) -> None:
        outside = sorted(path.name for path in tmp_path.iterdir())
        store.agent(name).retain("Somebody is here.")
        assert store.agents() == [name]
        assert len(store.agent(name).list()) == 1
        assert set(outside) >= {path.name for path in tmp_path.iterdir()} - {"memory"}

    def test_any_thread_may_call(self, alice: Any) -> None:
        barrier = threading.Barrier(8)

        def work(number: int) -> list[str]:
            barrier.wait()
            ids = [alice.retain(f"Thread {number} says {n}.")[0] for n in range(5)]
            for id in ids:
                assert alice.get(id).text.startswith(f"Thread {number}")
                assert len(alice.recall(f"What says thread {number}?")) > 0
            return ids

        with ThreadPoolExecutor(8) as threads:
            stored = [id for ids in threads.map(work, range(8)) for id in ids]
        assert sorted(memory.id for memory in alice.list()) == sorted(stored)

    def test_errors_survive_pickling_as_before(self, alice: Any) -> None:
        with pytest.raises(errors.UnknownIdError) as caught:
            alice.get("nothing")
        assert (caught.value.id, caught.value.agent, caught.value.kind) == (
            "nothing",
            "alice",
            "memory",
        )
        assert isinstance(caught.value, KeyError | ValueError)

    def test_a_large_answer_is_whole(self, alice: Any) -> None:
        texts = [f"Text number {n} of a long document." for n in range(3000)]
        ids = alice.retain(texts, embedding=np.eye(64, dtype=np.float32)[np.arange(3000) % 64])
        found = alice.list(limit=5000)
        assert [memory.id for memory in found] == ids and [m.text for m in found] == texts
        assert len(alice.log()) >= 1

    def test_closed_is_closed(self, store: Any) -> None:
        alice = store.agent("alice")
        alice.retain("Ann is here.")
        store.close()
        store.close()
        with pytest.raises(errors.ClosedError):
            alice.recall("Who is here?")


def _without_addresses(message: str) -> str:
    return message.split(" at 0x")[0]

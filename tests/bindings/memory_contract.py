"""What an agent does with memories, and with time."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import recollex
from recollex_engine import errors
from tests.bindings.days_of_may import day

OSLO = ZoneInfo("Europe/Oslo")


class MemoryContract:
    def test_retain_and_recall(self, alice: Any) -> None:
        ids = alice.retain_many(["Bob likes tea.", "Ann moved to Oslo."], tags=["talk"])
        assert len(set(ids)) == 2
        recall = alice.recall("Who moved to Oslo?")
        assert isinstance(recall, recollex.Recall)
        assert isinstance(recall[0], recollex.Memory)
        assert (recall[0].id, recall[0].text) == (ids[1], "Ann moved to Oslo.")
        assert recall[0].tags == ("talk",)
        assert recall.ids == [memory.id for memory in recall]

    def test_a_recorded_time_beyond_the_clock_is_refused(self, alice: Any) -> None:
        alice.retain("Bob likes tea.", id="m")
        before = [entry.op for entry in alice.log()]
        far = datetime(2126, 1, 1, tzinfo=UTC)
        for write in (
            lambda: alice.retain("Ann moved to Oslo.", recorded_at=far),
            lambda: alice.correct("m", "Bob likes ink.", recorded_at=far),
            lambda: alice.forget("m", recorded_at=far),
            lambda: alice.facts.add("Bob", "likes", "tea", recorded_at=far),
            lambda: alice.apply([{"op": "FORGET", "id": "m"}], recorded_at=far),
        ):
            with pytest.raises(errors.InputError, match="must not be later than the clock"):
                write()
        assert [entry.op for entry in alice.log()] == before

    def test_use_is_told_and_counted(self, alice: Any) -> None:
        ids = alice.retain_many(["Bob likes tea.", "Ann moved to Oslo."])
        alice.used(ids[0])
        alice.used(ids, helped=False)
        found = alice.accesses(ids[0])
        assert isinstance(found, recollex.Accesses)
        assert (found.used, found.misled, found.helped, found.returned) == (2, 1, 0, 0)
        assert found.last_used is not None and found.last_returned is None
        with pytest.raises(errors.UnknownIdError):
            alice.used("nothing")
        with pytest.raises(errors.InputError, match="helped must be"):
            alice.used(ids, helped="yes")
        alice.used([])
        assert alice.accesses(ids[0]).used == 2

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
            assert agent.retain("Ann moved to Oslo on Friday.", **said) == "m1"
        assert alice.get("m1") == reference.get("m1")
        memory = alice.get("m1")
        assert memory.event_at == said["event_at"] and memory.event_at.tzinfo is UTC
        assert type(memory.tags) is type(memory.entities) is type(memory.event) is tuple
        assert memory.metadata == said["metadata"]
        assert memory.to_dict() == reference.get("m1").to_dict()

    def test_messages_of_a_chat_keep_their_roles(self, alice: Any, reference: Any) -> None:
        picture = {"type": "image_url", "image_url": {"url": "http://a/b.png"}}
        messages = [
            {"role": "user", "content": "I live in Rome.", "id": "1", "at": day(1)},
            {"role": "assistant", "content": "Try Oslo.", "id": "2", "at": day(1, 1)},
            {"role": "user", "content": ["Look!", picture], "id": "3", "at": day(1, 2)},
            {"speaker": "Ann", "text": "Oslo is cold.", "id": "4", "at": day(1, 3)},
        ]
        for agent in (alice, reference):
            agent.retain_dialogue(messages, document_id="d", recorded_at=day(2))
        roles = ["user", "assistant", "user", None]
        assert [memory.role for memory in alice.list()] == roles
        assert alice.get("3").text == "user: Look!\n[picture]"
        for options in ({}, {"roles": "user"}, {"roles": ["assistant", "user"]}):
            found, expected = (
                agent.recall("Where do I live?", **options) for agent in (alice, reference)
            )
            assert list(found) == list(expected) and found
            assert [memory.role for memory in found] == [memory.role for memory in expected]
            assert [each["role"] for each in found.to_dict()["memories"]] == [
                memory.role for memory in found
            ]
        assert alice.recall("Rome", roles="user").ids[0] == "1"

    def test_sources_are_kept_and_recalls_ask_for_trust(self, alice: Any, reference: Any) -> None:
        turns = [{"role": "user", "content": "I drink tea.", "id": "5", "at": day(1)}]
        for agent in (alice, reference):
            agent.retain_many(
                ["Tea is poison.", "Tea is dear.", "Tea is hot."],
                id=["1", "2", "3"],
                source=["web", "crm", None],
                trust=[None, "tool", None],
                recorded_at=day(2),
            )
            agent.retain_dialogue(
                turns, document_id="d", source={"user": "user"}, recorded_at=day(3)
            )
            said = [{"op": "RETAIN", "text": "Tea!", "id": "6", "event_at": "2024-05-04"}]
            agent.apply(said, source="assistant", recorded_at=day(4))
            agent.facts.add("Tea", "is", "hot", evidence=["5", "2"], id="f", recorded_at=day(5))
            agent.events.add("Tea time.", facts=["f"], id="e", recorded_at=day(6))
        assert [(each.source, each.trust) for each in alice.list()] == [
            ("web", "web"),
            ("crm", "tool"),
            (None, None),
            ("user", "user"),
            ("assistant", "assistant"),
        ]
        assert alice.facts.get("f").trust == alice.events.get("e").trust == "tool"
        assert alice.events.get("e").to_dict()["trust"] == "tool"
        for trust in (None, "web", "tool", "user"):
            found, expected = (
                agent.recall("How is tea?", trust=trust, pack="subgraph", now=day(9))
                for agent in (alice, reference)
            )
            assert list(found) == list(expected) and found
            assert [each.source for each in found] == [each.source for each in expected]
            assert found.subgraph.to_prompt() == expected.subgraph.to_prompt()

    def test_retention_rules_are_kept_and_applied(self, alice: Any, reference: Any) -> None:
        rules = [
            recollex.Retention(network="opinion", age=timedelta(days=3)),
            recollex.Retention(count=2, erase=True),
        ]
        for agent in (alice, reference):
            assert agent.retention() == []
            agent.set_retention(rules, by="ann", why="so")
            agent.retain_many(["Tea.", "Milk.", "Rye."], id=["1", "2", "3"])
            assert agent.retention() == rules
            assert [memory.id for memory in agent.list()] == ["2", "3"]
            assert agent.expire() == recollex.Expiry(erased=1)
            assert [entry.why for entry in agent.log(op="erase")] == ["all networks: more than 2"]
            agent.set_retention([])
            assert agent.retention() == []

    def test_a_long_memory_comes_back_as_its_best_passages(
        self, alice: Any, reference: Any
    ) -> None:
        text = " ".join(f"Room {n} has a {'red' if n % 90 == 7 else n} door." for n in range(400))
        for agent in (alice, reference):
            agent.retain(text, id="m", event_at=day(1), recorded_at=day(2))
        for budget in (200, 800, 10_000):
            found, expected = (
                agent.recall("Which room has a red door?", max_tokens=budget, now=day(3))
                for agent in (alice, reference)
            )
            assert list(found) == list(expected)
            assert found[0].passages == expected[0].passages
            assert found[0].to_dict() == expected[0].to_dict()
            assert type(found[0].passages) is type(found[0].passages[0]) is tuple
            assert found.tokens == expected.tokens <= budget
            assert (len(found[0].passages) > 1) == (budget == 800)
        assert alice.get("m").passages == ((0, len(text)),)

    def test_a_recall_is_the_embedded_one(self, alice: Any, reference: Any) -> None:
        for agent in (alice, reference):
            agent.retain_many(
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
        ids = alice.retain_many(["Bob likes tea.", "Ann plays the cello."])
        recalls = alice.recall_many((q for q in ("likes tea?", "plays cello?")), max_tokens=30)
        assert [recall[0].id for recall in recalls] == ids

    def test_lists_come_in_order_and_in_pages(self, alice: Any) -> None:
        ids = alice.retain_many([f"Fact number {n}." for n in range(25)])
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
        a, b, c = alice.retain_many(["Bob is here.", "Bob is there.", "Bob lives in Oslo."])
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

    def test_a_memory_tells_what_it_replaces(self, alice: Any) -> None:
        alice.retain_many(
            ["Bob lives in Oslo.", "Bob likes tea."], id=["home", "tea"], event_at=day(1)
        )
        assert alice.get("home").replaces is None
        alice.correct("home", "Bob lives in Rome.", by="ann", why="He said so.")
        alice.correct("home", "Bob lives in Bergen.", by="ben", why="He moved.")
        alice.retain("Bob likes coffee.", id="tea")
        by_id = {memory.id: memory for memory in alice.recall("Where does Bob live?")}
        before = by_id["home"].replaces
        assert isinstance(before, recollex.Predecessor)
        assert (before.id, before.text) == ("home", "Bob lives in Rome.")
        assert (before.event_at, before.closed.how) == (day(1), "corrected")
        assert (before.closed.by, before.closed.why) == ("ben", "He moved.")
        assert (by_id["tea"].replaces.text, by_id["tea"].replaces.closed.how) == (
            "Bob likes tea.",
            "replaced",
        )
        assert alice.get("home").replaces == before
        first, second, third = alice.history("home")
        assert (first.replaces, third.replaces) == (None, before)
        assert second.replaces.text == "Bob lives in Oslo."
        assert before.recorded_at == second.recorded_at
        assert third.to_dict()["replaces"] == before.to_dict()
        then = alice.recall("Where does Bob live?", as_recorded=second.recorded_at)
        assert [memory.replaces for memory in then if memory.id == "home"] == [second.replaces]

    def test_a_repetition_tells_its_times(self, alice: Any) -> None:
        for at in (3, 1, 2):
            alice.retain("Bob takes the red pill.", id=f"pill{at}", event_at=day(at))
        (found,) = alice.recall("Which pill does Bob take?")
        times = dict(zip(found.collapsed, found.repeated_at, strict=True))
        assert times | {found.id: found.event_at} == {f"pill{at}": day(at) for at in (1, 2, 3)}
        assert found.to_dict()["repeated_at"] == [at.isoformat() for at in found.repeated_at]

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

    def test_memories_are_erased(self, alice: Any) -> None:
        alice.retain_many(["Bob likes tea.", "Bob is ill.", "Ann is well."], id=["a", "b", "c"])
        alice.retain_dialogue([{"speaker": "Eve", "text": "Hush.", "id": "d"}], document_id="call")
        seen = alice.erase(["b", "c"], by="ann", why="asked", preview=True)
        assert (seen.memories, seen.op, seen.recorded_at) == (2, None, None)
        done = alice.erase(["b", "c"], by="ann", why="asked")
        assert (done.memories, done.passages, done.facts, done.events) == (2, 2, 0, 0)
        assert [memory.id for memory in alice.list()] == ["a", "d"]
        assert alice.erase(speakers="eve", document_id="call", by="ann", why="asked").memories == 1
        alice.retain("The page says tea.", id="page", source="web")
        assert alice.erase(source="web", by="ann", why="poisoned").memories == 1
        with pytest.raises(errors.UnknownIdError):
            alice.erase("b", by="ann", why="again")
        with pytest.raises(errors.InputError):
            alice.erase(by="ann", why="nothing said")
        entries = alice.log(op="erase")
        first = entries[0]
        assert (first.op, first.by, first.why) == (done.op, "ann", "asked")
        assert entries[0].recorded_at == done.recorded_at
        assert alice.erase(everything=True, by="ann", why="closed").memories == 1
        assert alice.list() == []

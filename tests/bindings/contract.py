"""What an agent is to its caller, wherever it runs: one class of tests for all of them.

A subclass gives the fixture `store`: a store, opened here or at a server, that embeds with
`WordVectors` and whose clock is the system's. The embedded API is what the others are held to, so
`reference` is an embedded store beside it: both are told the same, and must answer the same.
"""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recollex
from recollex_engine import errors
from tests.bindings.amend_contract import AmendContract
from tests.bindings.argument_contract import ArgumentContract
from tests.bindings.fact_contract import FactContract
from tests.bindings.filter_contract import FilterContract
from tests.bindings.memory_contract import MemoryContract
from tests.bindings.result_contract import ResultContract
from tests.bindings.tool_contract import ToolContract
from tests.bindings.word_vectors import WordVectors


class Contract(
    MemoryContract,
    FactContract,
    ArgumentContract,
    ResultContract,
    FilterContract,
    AmendContract,
    ToolContract,
):
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

    def test_agents_are_apart(self, store: Any) -> None:
        store.agent("ann").retain("Ann is here.")
        store.agent("ben").retain("Ben is here.")
        assert store.agents() == ["ann", "ben"]
        assert [memory.text for memory in store.agent("ann").list()] == ["Ann is here."]
        assert store.agent("ann").name == "ann"

    def test_agents_are_counted_and_deleted(self, store: Any) -> None:
        store.agent("ann").retain_many(["Ann is here.", "Ann likes tea."])
        ids = store.agent("ben").retain_many(["Ben is here.", "Ben was there."])
        store.agent("ben").forget(ids[1])
        found = store.agents(counts=True)
        assert [(each.id, each.memories) for each in found] == [("ann", 2), ("ben", 1)]
        for each in found:
            stats = store.agent(each.id).stats()
            assert isinstance(each, recollex.AgentSummary)
            assert (each.operations, each.bytes_on_disk) == (stats.operations, stats.bytes_on_disk)
        assert found[0].written_at == store.agent("ann").log()[-1].recorded_at
        with pytest.raises(errors.InputError, match="counts must be"):
            store.agents(counts="yes")
        assert store.delete_agent("ann") is None
        assert store.agents() == ["ben"] and store.agent("ann").count() == 0
        assert store.agent("ann").recall("tea").ids == []
        for name in ("ann", "nobody"):
            with pytest.raises(errors.UnknownIdError, match=f"the store has no agent '{name}'"):
                store.delete_agent(name)
        store.agent("ann").retain("A new Ann.")
        assert [memory.text for memory in store.agent("ann").list()] == ["A new Ann."]
        assert len(store.agent("ann").recall("Who is new?")) == 1

    def test_several_agents_answer_together(self, store: Any) -> None:
        told = {
            "ann": ["I like green tea.", "My desk is by the window."],
            "team": ["The kitchen is on the second floor.", "Green tea is in the kitchen."],
        }
        for name, texts in told.items():
            store.agent(name).retain_many(texts, id=["1", "2"], tags=[[name]] * 2)
        found = store.recall("Where is the kitchen?", agents=["ann", "team", "nobody"], limit=2)
        assert isinstance(found, recollex.JointRecall)
        assert [(each.agent, each.text) for each in found] == [
            ("team", told["team"][0]),
            ("team", told["team"][1]),
        ]
        assert found.to_prompt().splitlines()[0].endswith("] The kitchen is on the second floor.")
        assert found[0].tags == ("team",) and found.confidence == found.recalls["team"].confidence
        every = store.recall("Where is green tea?", agents=("ann", "team"), explain=True)
        assert sorted((each.agent, each.id) for each in every) == [
            *(("ann", "1"), ("ann", "2")),
            *(("team", "1"), ("team", "2")),
        ]
        assert every[0].parts and every.tokens > 0
        assert [each["agent"] for each in every.to_dict()["memories"]] == [e.agent for e in every]
        assert len(store.recall("", agents=["ann", "team"], tags=["ann"])) == 2
        for wrong, said in [
            ({"agents": "ann"}, r'write \["ann"\]'),
            ({"agents": []}, "1 to 64 agents, got 0"),
            ({"agents": ["ann", "ann"]}, "names 'ann' twice"),
            ({"agents": ["ann", 7]}, "got int in it"),
            ({"agents": ["ann"], "pack": "subgraph"}, "cannot be packed"),
            ({"agents": ["ann"], "kinds": ["memory", "fact"]}, "has memories alone"),
            ({"agents": ["ann"], "limit": 0}, "limit must lie in"),
            ({"agents": ["ann"], "min_confidence": 2}, "min_confidence must lie in"),
            ({"agents": ["ann"], "preset": "nonsense"}, "preset"),
        ]:
            with pytest.raises(errors.InputError, match=said):
                store.recall("Tea?", **wrong)
        with pytest.raises(TypeError):
            store.recall("Tea?", agents=["ann"], unknown=1)

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
            ids = [alice.retain(f"Thread {number} says {n}.") for n in range(5)]
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
        ids = alice.retain_many(texts, embedding=np.eye(64, dtype=np.float32)[np.arange(3000) % 64])
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

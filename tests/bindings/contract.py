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
from tests.bindings.word_vectors import WordVectors


class Contract(
    MemoryContract, FactContract, ArgumentContract, ResultContract, FilterContract, AmendContract
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

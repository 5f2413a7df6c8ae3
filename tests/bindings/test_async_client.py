import asyncio
import gc
import inspect
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import recollex
import recollex.aio
from recollex.remote.client import async_store
from recollex_engine import errors
from tests.bindings.serving import serving
from tests.bindings.word_vectors import WordVectors


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    address = f"unix://{tmp_path / 'memory.sock'}"
    with serving(recollex.open(tmp_path / "memory", embedder=WordVectors()), address=address):
        yield address


def test_the_same_calls_and_results(address: str) -> None:
    async def main() -> None:
        async with recollex.aio.connect(address) as store:
            alice = await store.agent("alice")
            ids = await alice.retain_many(["Alice met Bob.", "Bob likes tea."], document_id="d")
            assert [memory.id for memory in await alice.list(limit=5)] == ids
            recalls = await asyncio.gather(*(alice.recall("Who likes tea?") for _ in range(50)))
            assert {recall[0].id for recall in recalls} == {ids[1]}
            assert len(await alice.recall_many(["tea", "Alice"])) == 2
            fact = await alice.facts.add("Ann", "likes", "Oslo", by="test")
            async with alice.transaction(why="together") as tx:
                event = tx.events.add("Ann went to Oslo.", facts=[fact])
                tx.facts.correct(fact, confidence=0.5)
            assert (await alice.facts.get(fact)).why == "together"
            assert (await alice.events.get(event)).facts == (fact,)
            with pytest.raises(errors.OperationError, match="operation 1"):
                async with alice.transaction() as tx:
                    tx.facts.archive("nothing")
            with pytest.raises(errors.UnknownIdError):
                await alice.get("nobody")
            with pytest.raises(errors.InputError, match="tags must be a list of str, got set"):
                await alice.retain("Tea.", tags={"a"})  # type: ignore[arg-type]
            with pytest.raises(TypeError, match="unexpected keyword argument 'max_token'"):
                await alice.recall("tea", max_token=3)  # type: ignore[call-arg]
            cut = await alice.at((await alice.get(ids[0])).recorded_at)
            assert (await cut.stats()).memories == 2
            with pytest.raises(errors.ReadOnlyError):
                await cut.forget(ids[0])
            assert await store.agents() == ["alice"]
            await store.ping()
            assert (alice.name, store.address) == ("alice", address)
        with pytest.raises(errors.ClosedError, match="connect again"):
            await alice.get(ids[0])

    asyncio.run(main())


def test_it_has_the_methods_of_an_embedded_agent() -> None:
    for remote, embedded in (
        (async_store.Agent, recollex.aio.Agent),
        (async_store.Facts, recollex.api.facts.Facts),
        (async_store.Events, recollex.api.events.Events),
        (async_store.Sessions, recollex.api.sessions.Sessions),
    ):
        methods = {
            name
            for name, _ in inspect.getmembers(embedded, callable)
            if not name.startswith("_") and name not in ("view", "write", "snapshot")
        }
        assert methods <= set(dir(remote))


def test_a_cancelled_call_leaves_the_connection_to_the_others(address: str) -> None:
    async def main() -> None:
        async with recollex.aio.connect(address) as store:
            alice = await store.agent("alice")
            await alice.retain_many([f"Number {n} likes tea." for n in range(500)])
            calls = [asyncio.create_task(alice.recall("Who likes tea?")) for _ in range(40)]
            await asyncio.sleep(0.001)
            for call in calls[1:]:
                call.cancel()
            done = await asyncio.gather(*calls, return_exceptions=True)
            assert isinstance(done[0], recollex.Recall)
            assert (await alice.stats()).memories == 500
            line = store._line
            assert line is not None and not line._waiting and not line._inbox._chunks

    asyncio.run(main())


def test_a_deadline_is_kept(address: str) -> None:
    async def main() -> None:
        async with recollex.aio.connect(address, timeout=20) as store:
            alice = await store.agent("alice")
            await alice.retain_many(["Somebody likes tea."])
            hurried = alice.within(1e-4)
            with pytest.raises(errors.DeadlineError, match="the time given to verify was over"):
                await asyncio.gather(*(hurried.verify() for _ in range(20)))
            assert (await alice.stats()).memories == 1

    asyncio.run(main())


def test_awaiting_connects_and_an_absent_server_says_what_to_type(tmp_path: Path) -> None:
    async def main() -> None:
        with pytest.raises(errors.DisconnectedError, match="recollex serve --store DIR --socket"):
            await recollex.aio.connect(tmp_path / "nothing.sock")
        with pytest.raises(errors.InputError, match="asyncio speaks"):
            await recollex.aio.connect("http://localhost:1")

    asyncio.run(main())


def test_a_server_that_comes_back_is_found_again(tmp_path: Path) -> None:
    address = f"unix://{tmp_path / 'memory.sock'}"

    async def main() -> None:
        with serving(recollex.open(tmp_path / "memory", embedder=WordVectors()), address=address):
            store = await recollex.aio.connect(address)
            alice = await store.agent("alice")
            await alice.retain("Before.", id="before")
        pending = asyncio.create_task(alice.retain("After.", id="after"))
        await asyncio.sleep(0.05)
        with serving(recollex.open(tmp_path / "memory", embedder=WordVectors()), address=address):
            assert await pending == "after"
            assert [memory.id for memory in await alice.list()] == ["before", "after"]
            await store.close()

    asyncio.run(main())


def test_a_store_that_is_closed_while_it_connects_keeps_no_connection(tmp_path: Path) -> None:
    address = f"unix://{tmp_path / 'memory.sock'}"

    async def main() -> None:
        with serving(recollex.open(tmp_path / "memory", embedder=WordVectors()), address=address):
            store = await recollex.aio.connect(address)
        with serving(recollex.open(tmp_path / "memory", embedder=WordVectors()), address=address):
            await asyncio.sleep(0.05)  # the old connection is known to be gone
            pending = asyncio.create_task(store.ping())
            await asyncio.sleep(0)
            await store.close()
            with pytest.raises(errors.ClosedError):
                await pending

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        asyncio.run(main())
        gc.collect()
    assert not warned

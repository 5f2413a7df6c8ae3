import asyncio
import inspect
import threading
import time
from pathlib import Path

import pytest

import recollex
import recollex.aio
from recollex.api.methods import (
    AgentMethods,
    EventMethods,
    FactMethods,
    JobMethods,
    OpinionMethods,
    ProfileMethods,
    SessionMethods,
)
from recollex.api.proxies import rows
from recollex_engine.errors import ClosedError, InputError


def test_the_same_calls_and_results(tmp_path: Path) -> None:
    async def main() -> None:
        async with recollex.aio.open(tmp_path / "memory") as store:
            alice = await store.agent("alice")
            ids = await alice.retain_many(["Alice met Bob.", "Bob likes tea."], document_id="d")
            assert [memory.id for memory in await alice.list(limit=5)] == ids
            assert (await alice.get(ids[1])).text == "Bob likes tea."
            recalls = await asyncio.gather(*(alice.recall("Who likes tea?") for _ in range(20)))
            assert {recall[0].id for recall in recalls} == {ids[1]}
            assert len(await alice.recall_many(["tea", "Alice"])) == 2
            assert (alice.name, store.path) == ("alice", tmp_path / "memory")
            await alice.forget(ids[0])
            assert (await alice.stats()).memories == 1
            assert await store.agents() == ["alice"]

    asyncio.run(main())


def test_opened_by_await_and_closed_twice(tmp_path: Path) -> None:
    async def main() -> None:
        store = await recollex.aio.open(tmp_path / "memory")
        await store.close()
        await store.close()
        with pytest.raises(ClosedError, match="open it again"):
            await store.agents()

    asyncio.run(main())


def test_errors_come_through(tmp_path: Path) -> None:
    async def main() -> None:
        async with recollex.aio.open(tmp_path / "memory") as store:
            alice = await store.agent("alice")
            with pytest.raises(InputError):
                await alice.retain("")
            with pytest.raises(InputError):
                await alice.get("nobody")

    asyncio.run(main())
    with pytest.raises(InputError, match="workers must be at least 1, got 0"):
        recollex.aio.open(tmp_path / "memory", workers=0)


def test_the_loop_goes_on_during_a_call(tmp_path: Path) -> None:
    async def main() -> None:
        async with recollex.aio.open(tmp_path / "memory") as store:
            go_on = threading.Event()
            long = asyncio.create_task(store._run(lambda: go_on.wait(20)))
            await asyncio.sleep(0)
            await store.agents()
            assert not long.done()
            go_on.set()
            assert await long

    asyncio.run(main())


def test_a_cancelled_write_that_runs_is_whole(tmp_path: Path) -> None:
    async def main() -> None:
        async with recollex.aio.open(tmp_path / "memory", workers=1) as store:
            alice = await store.agent("alice")
            go = threading.Event()
            running = asyncio.create_task(store._run(lambda: go.wait(10)))
            waiting = asyncio.create_task(alice.retain("Never begun.", id="waiting"))
            await asyncio.sleep(0.01)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            go.set()
            await running
            started = threading.Event()
            stored: list[str] = []

            def write() -> None:
                started.set()
                time.sleep(0.05)
                stored.append(alice._agent.retain("Begun.", id="begun"))

            begun = asyncio.create_task(store._run(write))
            while not started.is_set():
                await asyncio.sleep(0.001)
            begun.cancel()
        assert stored == ["begun"]  # close waited for it

    asyncio.run(main())
    with recollex.open(tmp_path / "memory", read_only=True) as store:
        assert [memory.id for memory in store.agent("alice").list()] == ["begun"]


def test_what_a_cancelled_opening_opens_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, closed = threading.Event(), threading.Event()
    open_now, close_now = recollex.open, recollex.Store.close

    def open_late(path: Path) -> recollex.Store:
        assert go.wait(10)
        return open_now(path)

    def close(store: recollex.Store) -> None:
        close_now(store)
        closed.set()

    monkeypatch.setattr("recollex.api.store.open", open_late)
    monkeypatch.setattr(recollex.Store, "close", close)

    async def main() -> None:
        opening = asyncio.ensure_future(recollex.aio.open(tmp_path / "memory")._open())
        await asyncio.sleep(0.05)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        go.set()

    asyncio.run(main())
    assert closed.wait(10)


def test_facts_events_and_transactions_are_awaited(tmp_path: Path) -> None:
    async def main() -> None:
        async with recollex.aio.open(tmp_path, embedder=recollex.GivenVectors(8)) as store:
            ann = await store.agent("ann")
            fact = await ann.facts.add("Ann", "likes", "Oslo", by="test")
            async with ann.transaction(why="together") as tx:
                event = tx.events.add("Ann went to Oslo.", facts=[fact])
                tx.facts.correct(fact, confidence=0.5)
            assert (await ann.facts.get(fact)).why == "together"
            assert (await ann.events.get(event)).facts == (fact,)
            with pytest.raises(InputError, match="operation 1"):
                async with ann.transaction() as tx:
                    tx.facts.archive("nothing")
            assert await ann.apply([{"op": "ARCHIVE_EDGE", "id": fact}]) == 1
            assert await ann.events.find() == []

    asyncio.run(main())


def test_methods_have_the_signatures_and_the_documentation_of_the_embedded_ones(
    tmp_path: Path,
) -> None:
    async def main() -> None:
        async with recollex.aio.open(tmp_path, embedder=recollex.GivenVectors(8)) as store:
            awaited, embedded = await store.agent("ann"), store._store.agent("ann")
            for group, table in (
                ("", AgentMethods),
                ("facts", FactMethods),
                ("events", EventMethods),
                ("sessions", SessionMethods),
                ("profile", ProfileMethods),
                ("opinions", OpinionMethods),
                ("jobs", JobMethods),
            ):
                here = getattr(awaited, group) if group else awaited
                there = getattr(embedded, group) if group else embedded
                for name in rows(table):
                    method, original = getattr(here, name), getattr(there, name)
                    assert inspect.iscoroutinefunction(method), name
                    assert inspect.signature(method) == inspect.signature(original), name
                    assert inspect.getdoc(method) == inspect.getdoc(original), name

    asyncio.run(main())

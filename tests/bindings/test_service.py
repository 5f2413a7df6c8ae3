"""Turns, keys, deadlines and groups of writes, without a socket."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollex
from recollex.remote.server.access import LOCAL, Principal
from recollex.remote.server.calls import Call, Observer, Options
from recollex.remote.server.limits import ServerLimits
from recollex.remote.server.service import Service
from recollex.remote.server.workers import FairQueue
from recollex_engine.errors import (
    CancelledError,
    DeadlineError,
    ForbiddenError,
    InputError,
    InternalError,
    OverloadedError,
    StoreFullError,
    UnknownIdError,
)
from tests.bindings.serving import VECTOR
from tests.bindings.serving import given as given_store


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=40))
def test_clients_take_turns_and_keep_their_order(steps: list[tuple[str, bool]]) -> None:
    queue = FairQueue[tuple[str, int]]()
    waiting: dict[str, list[tuple[str, int]]] = {}
    turns: list[str] = []
    for number, (client, put) in enumerate(steps):
        if put:
            queue.put(client, (client, number))
            waiting.setdefault(client, []).append((client, number))
            if client not in turns:
                turns.append(client)
        elif turns:
            first = turns.pop(0)
            assert queue.take() == waiting[first].pop(0)
            if waiting[first]:
                turns.append(first)
        assert len(queue) == sum(map(len, waiting.values()))


def served(
    folder: Path,
    main: Callable[[Service], Awaitable[None]],
    limits: ServerLimits | None = None,
    observer: Observer | None = None,
) -> None:
    async def run() -> None:
        service = Service(given_store(folder), limits, None, observer)
        try:
            await main(service)
        finally:
            await service.stop()

    asyncio.run(run())


def said(text: str, **more: Any) -> dict[str, Any]:
    return {"text": text, "embedding": VECTOR, **more}


class Gate(Observer):
    """Holds back work until it is opened, and records groups and opened agents."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.held = 0
        self.groups: list[int] = []
        self.open_agents: list[int] = []
        self.failures: list[BaseException] = []
        self.answers: list[str] = []

    def worked(self, call: Call, trace: object) -> None:
        self.held += 1
        self.gate.wait(20)

    def grouped(self, agent: str, calls: int, seconds: float) -> None:
        self.groups.append(calls)

    def opened(self, agent: str, open_agents: int) -> None:
        self.open_agents.append(open_agents)

    def failed(self, call: Call | None, error: BaseException) -> None:
        self.failures.append(error)

    def answered(self, call: Call, error: BaseException | None) -> None:
        self.answers.append(call.method.name)


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(12_000):  # a minute at least
        if condition():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not come to that")


def test_writes_that_wait_share_a_flush_and_each_is_its_own(tmp_path: Path) -> None:
    gate = Gate()

    async def main(service: Service) -> None:
        first = asyncio.create_task(service.call(LOCAL, "retain", "a", said("First.", id="0")))
        await until(lambda: gate.held == 1)
        others = [
            asyncio.create_task(service.call(LOCAL, "retain", "a", said(f"No. {n}.", id=str(n))))
            for n in range(1, 9)
        ]
        lost = asyncio.create_task(service.call(LOCAL, "forget", "a", {"id": "nobody"}))
        await until(lambda: service.status().waiting == 9)
        gate.gate.set()
        assert await first == "0"
        assert await asyncio.gather(*others) == [str(n) for n in range(1, 9)]
        with pytest.raises(UnknownIdError):
            await lost
        assert gate.groups == [9]
        log = await service.call(LOCAL, "log", "a", {"op": "retain"})
        assert [entry.ids for entry in log] == [(str(n),) for n in range(9)]
        assert len({entry.recorded_at for entry in log}) == 9

    served(tmp_path / "memory", main, observer=gate)


def test_a_flush_that_fails_is_every_writers_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()

    async def main(service: Service) -> None:
        first = asyncio.create_task(service.call(LOCAL, "retain", "a", said("First.")))
        await until(lambda: gate.held == 1)
        others = [
            asyncio.create_task(service.call(LOCAL, "retain", "a", said(f"No. {n}.")))
            for n in range(3)
        ]
        await until(lambda: service.status().waiting == 3)
        agent = service.store.agent("a").engine
        monkeypatch.setattr(
            agent.files.writer().log, "wait_durable", lambda op: _raise(StoreFullError(28, "full"))
        )
        gate.gate.set()
        await first
        for other in others:
            with pytest.raises(StoreFullError):
                await other
        monkeypatch.undo()
        assert len(await service.call(LOCAL, "list", "a", {})) == 1

    served(tmp_path / "memory", main, observer=gate)


def _raise(error: Exception) -> None:
    raise error


def test_too_much_is_refused_with_a_time_to_come_again(tmp_path: Path) -> None:
    gate = Gate()

    async def main(service: Service) -> None:
        tasks = [
            asyncio.create_task(service.call(LOCAL, "list", "a", {}, client=n)) for n in range(9)
        ]
        await until(lambda: gate.held == 1)
        gate.gate.set()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        refused = [answer for answer in answers if isinstance(answer, OverloadedError)]
        assert len(refused) >= 4 and all(error.retry_after >= 0.25 for error in refused)
        assert answers.count([]) == 9 - len(refused)

    served(tmp_path / "memory", main, ServerLimits(waiting=4, readers=1), gate)


def test_a_call_that_is_late_is_answered_at_once(tmp_path: Path) -> None:
    gate = Gate()

    async def main(service: Service) -> None:
        late = Options(seconds=0.1)
        running = asyncio.create_task(service.call(LOCAL, "retain", "a", said("Slow."), late))
        await until(lambda: gate.held == 1)
        waiting = asyncio.create_task(service.call(LOCAL, "retain", "a", said("Never."), late))
        for task, begun in ((running, True), (waiting, False)):
            with pytest.raises(DeadlineError) as told:
                await task
            assert told.value.begun is begun
        gate.gate.set()
        await until(lambda: service.status().running == 0)
        assert [m.text for m in await service.call(LOCAL, "list", "a", {})] == ["Slow."]

    served(tmp_path / "memory", main, observer=gate)


def test_a_task_that_is_cancelled_takes_its_call_back(tmp_path: Path) -> None:
    gate = Gate()

    async def main(service: Service) -> None:
        running = asyncio.create_task(service.call(LOCAL, "retain", "a", said("Begun.")))
        await until(lambda: gate.held == 1)
        waiting = asyncio.create_task(service.call(LOCAL, "retain", "a", said("Never.")))
        await until(lambda: service.status().waiting == 1)
        for task in (waiting, running):
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert service.status().waiting == 0
        gate.gate.set()
        await until(lambda: service.status().running == 0)
        assert [m.text for m in await service.call(LOCAL, "list", "a", {})] == ["Begun."]

    served(tmp_path / "memory", main, observer=gate)


def test_a_key_joins_the_call_that_runs_and_repeats_the_one_that_ran(tmp_path: Path) -> None:
    gate = Gate()

    async def main(service: Service) -> None:
        key = Options(key="k")
        first = asyncio.create_task(service.call(LOCAL, "retain", "a", said("Once."), key))
        await until(lambda: gate.held == 1)
        second = asyncio.create_task(service.call(LOCAL, "retain", "a", said("Once."), key))
        await asyncio.sleep(0.02)
        gate.gate.set()
        assert await first == await second
        assert await service.call(LOCAL, "retain", "a", said("Once."), key) == await first
        with pytest.raises(InputError, match="given to another call"):
            await service.call(LOCAL, "forget", "a", {"id": "x"}, key)
        other = Principal("other")
        assert await service.call(other, "retain", "a", said("Once."), key) != await first
        assert len(await service.call(LOCAL, "list", "a", {})) == 2
        assert await service.call(LOCAL, "forget", "a", {"id": await first}, Options(key="f")) == 1
        assert await service.call(LOCAL, "forget", "a", {"id": await first}, Options(key="f")) == 1

    served(tmp_path / "memory", main, observer=gate)


def test_few_agents_are_open_and_none_is_closed_in_use(tmp_path: Path) -> None:
    gate = Gate()
    gate.gate.set()

    async def main(service: Service) -> None:
        async def one(number: int) -> None:
            name = f"agent {number % 20}"
            id = await service.call(LOCAL, "retain", name, said(f"No. {number}."), client=number)
            assert (await service.call(LOCAL, "get", name, {"id": id})).id == id

        await asyncio.gather(*(one(number) for number in range(100)))
        for name in range(20):
            assert (await service.call(LOCAL, "stats", f"agent {name}", {})).memories == 5
        assert service.status().open_agents <= 4
        assert await service.call(LOCAL, "agents", None, {}) == sorted(
            f"agent {n}" for n in range(20)
        )

    served(tmp_path / "memory", main, ServerLimits(open_agents=4), gate)
    assert not gate.failures


def test_an_agent_is_deleted_between_the_calls_of_others(tmp_path: Path) -> None:
    async def main(service: Service) -> None:
        async def write(number: int) -> None:
            await service.call(LOCAL, "retain", "a", said(f"No. {number}."), client=number)
            await service.call(LOCAL, "list", "a", {}, client=number)

        writes = [asyncio.create_task(write(number)) for number in range(20)]
        await writes[0]
        deleted = asyncio.create_task(service.call(LOCAL, "delete_agent", "a", {}))
        await asyncio.gather(*writes, deleted)
        left = await service.call(LOCAL, "count", "a", {})
        assert left < 20  # what was written before is gone, what came later is a new agent
        service_agents = await service.call(LOCAL, "agents", None, {"counts": True})
        assert [each.memories for each in service_agents] == ([left] if left else [])
        guest = Principal("guest", ("b*",))
        assert await service.call(guest, "agents", None, {"counts": True}) == []
        for who in (guest, Principal("reader", None, "read")):
            with pytest.raises(ForbiddenError):
                await service.call(who, "delete_agent", "a", {})

    served(tmp_path / "memory", main)


def test_a_recall_of_several_agents_needs_the_right_to_each(tmp_path: Path) -> None:
    async def main(service: Service) -> None:
        for name in ("a", "b"):
            await service.call(LOCAL, "retain", name, said("Tea is here."))
        asked = {"query": "Tea?", "agents": ["a", "b"], "query_embedding": VECTOR}
        both = await service.call(LOCAL, "store.recall", None, asked)
        assert [memory.agent for memory in both] == ["a", "b"]
        guest = Principal("guest", ("b*",))
        with pytest.raises(ForbiddenError, match="does not reach agent 'a'"):
            await service.call(guest, "store.recall", None, asked)
        alone = await service.call(guest, "store.recall", None, asked | {"agents": ["b"]})
        assert [memory.agent for memory in alone] == ["b"]

    served(tmp_path / "memory", main)


def test_one_call_is_not_the_work_of_thousands(tmp_path: Path) -> None:
    async def main(service: Service) -> None:
        for method, arguments in [
            ("retain_many", {"texts": ["Tea."] * 11}),
            ("recall_many", {"queries": ["Tea?"] * 11}),
        ]:
            with pytest.raises(InputError, match="up to 10 items in one call, got 11"):
                await service.call(LOCAL, method, "a", arguments)
        assert await service.call(LOCAL, "recall_many", "a", {"queries": []}) == []

    served(tmp_path / "memory", main, ServerLimits(items=10))


def test_an_unforeseen_error_is_in_the_log_and_not_in_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    gate.gate.set()

    async def main(service: Service) -> None:
        monkeypatch.setattr(recollex.Agent, "stats", lambda self: 1 / 0)
        with pytest.raises(InternalError, match="its log says how"):
            await service.call(LOCAL, "stats", "a", {})
        assert isinstance(gate.failures[0], ZeroDivisionError)
        with pytest.raises(ForbiddenError):
            await service.call(Principal("r", None, "read"), "forget", "a", {"id": "x"})
        with pytest.raises(ForbiddenError):
            await service.call(Principal("r", ("b*",)), "list", "a", {})

    served(tmp_path / "memory", main, observer=gate)


def test_stopping_finishes_what_was_taken_and_takes_no_more(tmp_path: Path) -> None:
    async def main() -> None:
        service = Service(given_store(tmp_path / "memory"))
        tasks = [
            asyncio.create_task(service.call(LOCAL, "retain", f"a{n % 3}", said(f"No. {n}.")))
            for n in range(60)
        ]
        await asyncio.sleep(0)
        stopping = asyncio.create_task(service.stop())
        await asyncio.sleep(0)
        with pytest.raises(OverloadedError, match="stopping"):
            await service.call(LOCAL, "list", "a0", {})
        assert len(set(await asyncio.gather(*tasks))) == 60
        await stopping
        await service.stop()

    asyncio.run(main())
    with given_store(tmp_path / "memory") as store:
        assert sum(store.agent(f"a{n}").stats().memories for n in range(3)) == 60


def test_what_does_not_begin_in_time_is_told_when_the_server_stops(tmp_path: Path) -> None:
    gate = Gate()

    async def main() -> None:
        service = Service(given_store(tmp_path / "memory"), ServerLimits(drain=0.2), observer=gate)
        running = asyncio.create_task(service.call(LOCAL, "retain", "a", said("Begun.")))
        await until(lambda: gate.held == 1)
        waiting = asyncio.create_task(service.call(LOCAL, "retain", "a", said("Never.")))
        await until(lambda: service.status().waiting == 1)
        started = time.monotonic()
        asyncio.get_running_loop().call_later(0.6, gate.gate.set)
        await service.stop()
        assert time.monotonic() - started >= 0.5
        with pytest.raises(CancelledError):
            await waiting
        assert len(await running) == 36

    asyncio.run(main())

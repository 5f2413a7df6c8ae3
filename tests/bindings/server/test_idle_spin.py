"""An event loop that spins finds a request that comes soon, and sleeps when none comes."""

import asyncio
import time

import pytest

from recollex.server.idle_spin import IdleSpin
from recollex.wire import idle_spin


def test_it_looks_for_a_while_and_then_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_spin, "is_useful", lambda: True)
    monkeypatch.setattr(idle_spin, "QUESTION_SECONDS", 0.02)
    looks: list[float] = []
    monkeypatch.setattr(idle_spin, "yield_core", lambda: looks.append(time.perf_counter()))

    async def main() -> None:
        done: list[int] = []
        spin = IdleSpin(lambda: done.append(len(looks)))
        started = time.perf_counter()
        spin.start()
        spin.start()
        await asyncio.sleep(0.01)
        spin.start()
        again = time.perf_counter()
        before = time.thread_time()
        await asyncio.sleep(0.5)
        assert time.thread_time() - before < 0.2
        assert looks[0] - started < 0.01 and again < looks[-1] < again + 0.2
        assert not spin._is_awake
        count = len(looks)
        await asyncio.sleep(0.05)
        assert len(looks) == count
        spin.start()
        await asyncio.sleep(0.05)
        assert len(looks) > count
        assert len(done) == 3 and done[0] == 0 and done[2] == count

    asyncio.run(main())


def test_one_core_is_left_to_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_spin, "is_useful", lambda: False)
    monkeypatch.setattr(idle_spin, "yield_core", lambda: pytest.fail("it looked"))

    async def main() -> None:
        IdleSpin(lambda: pytest.fail("it looked")).start()
        await asyncio.sleep(0.01)

    asyncio.run(main())

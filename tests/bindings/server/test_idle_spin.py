"""An event loop that spins finds a request that comes soon, and sleeps when none comes."""

import asyncio
from types import SimpleNamespace

import pytest

from recollex.server.idle_spin import IdleSpin
from recollex.wire import idle_spin


async def turns() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def test_it_looks_for_a_while_and_then_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_spin, "is_useful", lambda: True)
    monkeypatch.setattr(idle_spin, "QUESTION_SECONDS", 0.02)
    now, looks = [7.0], []
    clock = SimpleNamespace(perf_counter=lambda: now[0])
    monkeypatch.setattr("recollex.server.idle_spin.time", clock)
    monkeypatch.setattr(idle_spin, "yield_core", lambda: looks.append(now[0]))

    async def main() -> None:
        done: list[int] = []
        spin = IdleSpin(lambda: done.append(len(looks)))
        spin.start()
        spin.start()
        await turns()
        assert 10 < len(looks) <= 20  # each turn of the loop, once
        now[0] += 0.01
        spin.start()
        now[0] += 0.019
        await turns()
        assert looks[-1] == now[0]
        now[0] += 0.002
        await turns()
        assert looks[-1] < now[0] and not spin._is_awake
        count = len(looks)
        await turns()
        assert len(looks) == count
        spin.start()
        await turns()
        assert len(looks) > count
        assert len(done) == 3 and done[0] == 0 and done[2] == count

    asyncio.run(main())


def test_one_core_is_left_to_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_spin, "is_useful", lambda: False)
    monkeypatch.setattr(idle_spin, "yield_core", lambda: pytest.fail("it looked"))

    async def main() -> None:
        IdleSpin(lambda: pytest.fail("it looked")).start()
        await turns()

    asyncio.run(main())

"""At a limit the oldest connection that has not called is dropped, and no other."""

import asyncio
import contextlib
import io
import json
import resource
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex.remote.server import limits as connection_limiter
from recollex.remote.server.access import Access
from recollex.remote.server.limits import ConnectionLimiter, ServerLimits
from recollex.remote.server.logs import Log
from recollex.remote.server.telemetry import Telemetry
from tests.bindings.remote.http.http_service import served
from tests.bindings.remote.http.test_http_clocks import GET, HELD
from tests.bindings.remote.http.test_http_limits import TOKENS, WRITER, bearer


class Fake:
    def __init__(self, number: int) -> None:
        self.number = number
        self.dropped = False
        self.late: str | None = None

    def overdue(self, now: float) -> str | None:
        return self.late

    def abort(self, why: str) -> None:
        self.dropped = True


def limited(most: int, work: Callable[[ConnectionLimiter], None]) -> list[tuple[str, int, int]]:
    """Do something with a limiter, and return what it said of its exhaustion."""
    said: list[tuple[str, int, int]] = []

    async def run() -> None:
        work(ConnectionLimiter(ServerLimits(connections=most), lambda *each: said.append(each)))

    asyncio.run(run())
    return said


steps = st.lists(
    st.tuples(st.sampled_from(["join", "join", "admit", "leave"]), st.integers(0, 3)), max_size=60
)


@settings(deadline=None)
@given(steps, st.integers(1, 6))
def test_the_oldest_that_has_not_called_is_dropped(steps: list[tuple[str, int]], most: int) -> None:
    def work(limiter: ConnectionLimiter) -> None:
        waiting: list[tuple[str, Fake]] = []
        admitted: list[Fake] = []
        for number, (step, which) in enumerate(steps):
            address = ("", "10.0.0.1", "10.0.0.2", "10.0.0.3")[which]
            if step == "join":
                new = Fake(number)
                room = limiter.join(new, (address, 1) if address else "")
                waiting.append((address, new))
                same = [each for of, each in waiting if of == address]
                oldest = None
                if address and len(same) > (most + 1) // 2:
                    oldest = same[0]
                elif len(waiting) + len(admitted) > most:
                    oldest = waiting[0][1]
                assert room is (oldest is not new)
                if not room:
                    limiter.leave(new)
                assert oldest is None or oldest.dropped is (oldest is not new)
                waiting = [pair for pair in waiting if pair[1] is not oldest]
            elif step == "admit" and waiting:
                _, chosen = waiting.pop(which % len(waiting))
                limiter.admit(chosen)
                limiter.admit(chosen)
                admitted.append(chosen)
            elif step == "leave" and admitted:
                limiter.leave(admitted.pop(which % len(admitted)))
            assert len(limiter) == len(waiting) + len(admitted) <= most
            assert not any(each.dropped for each in admitted)

    limited(most, work)


def test_what_is_late_is_dropped_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limiter, "SWEEP", 0.01)

    async def run() -> None:
        limiter = ConnectionLimiter(ServerLimits(), lambda *_: None)
        first, second = Fake(1), Fake(2)
        for each in (first, second):
            assert limiter.join(each, ("10.0.0.1", 1))
        limiter.admit(second)
        second.late = "it takes no answers"
        while not second.dropped:
            await asyncio.sleep(0.01)
        assert not first.dropped

    asyncio.run(asyncio.wait_for(run(), 20))


def test_exhaustion_is_said_once_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(limiter: ConnectionLimiter) -> None:
        for number in range(50):
            limiter.join(Fake(number), ("2001:db8:1:2:3::4", 80, 0, 0))
        monkeypatch.setattr(connection_limiter, "SAY_AGAIN", 0.0)
        limiter.join(Fake(50), ("2001:db8:1:2:9::9", 80, 0, 0))

    assert limited(4, work) == [("2001:db8:1:2::", 3, 1), ("2001:db8:1:2::", 3, 48)]


def test_half_of_the_open_files_are_for_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []
    for files in (512, 3, resource.RLIM_INFINITY):
        monkeypatch.setattr(resource, "getrlimit", lambda _, files=files: (files, files))
        limited(20_000, lambda limiter: found.append(limiter.most))
    assert found == [256, 1, 20_000]


def held(address: tuple[str, int], first: bytes, then: bytes) -> socket.socket:
    """Return a connection that has sent little, and may be dropped by now."""
    made = socket.create_connection(address, timeout=10)
    made.sendall(first)
    with contextlib.suppress(ConnectionError):
        made.sendall(then)
    return made


def test_a_client_with_a_token_is_served_beside_more_than_there_is_room_for(
    tmp_path: Path,
) -> None:
    tokens, log = tmp_path / "tokens.toml", io.StringIO()
    tokens.write_text(TOKENS)
    tokens.chmod(0o600)
    limits = ServerLimits(connections=20, stall=2.0, handshake=2.0)
    telemetry = Telemetry(log=Log(log, "warning"))
    access = Access.from_file(tokens)
    with served(tmp_path / "store", limits, access, telemetry) as running:
        kept = running.http(headers=bearer(WRITER))
        assert kept.get("/api/agents").status_code == 200
        others = [held(running.server.address, *HELD[name]) for name in [*HELD, *HELD, *HELD]]
        assert len(running.service.limiter) <= 20
        for _ in range(5):
            assert kept.get("/api/agents").status_code == 200
            with running.http(headers=bearer(WRITER)) as new:
                assert new.get("/api/agents").status_code == 200
            others.append(held(running.server.address, GET, b""))
        for each in others:
            each.close()
        kept.close()
    [line] = map(json.loads, log.getvalue().splitlines())
    assert (line["level"], line["event"], line["address"]) == (
        *("warning", "connections exhausted"),
        "127.0.0.1",
    )
    assert 1 <= line["connections"] <= 21 and line["dropped"] == 1

"""A client that waits awake gets the same bytes, and is asleep when nothing comes."""

import os
import socket
import ssl
import threading
import time
from collections.abc import Iterator

import pytest

from recollex.client.spin_wait import SpinWait
from recollex.wire import idle_spin

PAIR = tuple[socket.socket, SpinWait]


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> Iterator[PAIR]:
    monkeypatch.setattr(idle_spin, "is_useful", lambda: True)
    here, there = socket.socketpair()
    with here, there:
        yield there, SpinWait(here)


def looks_of(listening: SpinWait) -> list[int]:
    """Return what grows by one each time that it looks."""
    found, look = [], listening._poll
    assert look is not None

    def counted(timeout: int) -> list[object]:
        found.append(timeout)
        return look(timeout)

    listening._poll = counted
    return found


def received(listening: SpinWait, method: str = "ping") -> bytes:
    room = memoryview(bytearray(8))
    return bytes(room[: listening.receive(room, method)])


def quick_until_awake(there: socket.socket, listening: SpinWait, looks: list[int]) -> bool:
    """Answer quickly until the other end waits awake; on a busy machine not at once."""
    for _ in range(100):
        there.sendall(b"quick")
        assert received(listening) == b"quick"
        if looks:
            return True
    return False


def test_it_waits_awake_once_an_answer_came_quickly(pair: PAIR) -> None:
    there, listening = pair
    looks = looks_of(listening)
    there.sendall(b"one")
    assert received(listening) == b"one" and not looks
    assert quick_until_awake(there, listening, looks)
    there.close()
    assert received(listening) == b""


def test_it_naps_for_no_longer_than_half_of_the_usual_time(
    pair: PAIR, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, listening = pair
    monkeypatch.setattr(idle_spin, "ANSWER_SECONDS", 0.5)
    naps: list[float] = []
    monkeypatch.setattr(time, "sleep", naps.append)
    for method, seconds in [("recall", 0.15), ("ping", 0.0), ("recall", 0.15), ("ping", 0.0)] * 2:
        sender = threading.Timer(seconds, there.sendall, (b"done",))
        sender.start()
        listening._at = 0.0  # whatever the other thread did is long ago
        assert received(listening, method) == b"done"
        sender.join()
    assert max(naps) > 0.03 and all(nap < 0.2 for nap in naps)
    assert listening._usual["ping"] < 0.1 <= listening._usual["recall"] < 0.4


def test_a_slow_answer_costs_no_more_than_the_bound(pair: PAIR) -> None:
    there, listening = pair
    assert quick_until_awake(there, listening, looks_of(listening))
    times: list[float] = []
    look = listening._poll
    assert look is not None

    def timed(timeout: int) -> list[object]:
        times.append(time.perf_counter())
        return look(timeout)

    listening._poll = timed
    sender = threading.Timer(0.4, there.sendall, (b"slow",))
    sender.start()
    listening._at = 0.0  # whatever the other thread did is long ago
    assert received(listening) == b"slow"
    assert times and times[-1] - times[0] < 0.2
    sender.join()
    times.clear()
    there.sendall(b"next")
    assert received(listening) == b"next" and not times  # it was slow: this is waited for asleep


def test_it_sleeps_while_another_thread_works(pair: PAIR) -> None:
    there, listening = pair
    looks = looks_of(listening)
    assert quick_until_awake(there, listening, looks)
    looks.clear()
    worker = threading.Thread(target=lambda: sum(range(1_000_000)))
    worker.start()
    worker.join()
    there.sendall(b"next")
    assert received(listening) == b"next" and not looks


def test_it_waits_as_long_as_the_socket_does(pair: PAIR) -> None:
    there, listening = pair
    listening._socket.settimeout(0.05)
    for _ in range(2):
        there.sendall(b"quick")
        received(listening)
    with pytest.raises(TimeoutError):
        received(listening)


def test_one_core_is_left_to_the_other_end(monkeypatch: pytest.MonkeyPatch) -> None:
    if hasattr(os, "sched_getaffinity"):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3})
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert not idle_spin.is_useful()
    here, there = socket.socketpair()
    with here, there:
        listening = SpinWait(here)
        assert listening._poll is None
        there.sendall(b"one")
        assert received(listening) == b"one"


def test_tls_is_waited_for_asleep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_spin, "is_useful", lambda: True)
    here, there = socket.socketpair()
    context = ssl.create_default_context()
    with there, context.wrap_socket(here, server_hostname="x", do_handshake_on_connect=False) as on:
        assert SpinWait(on)._poll is None

"""A client that waits awake gets the same bytes, and is asleep when nothing comes."""

import os
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from recollex.client import spin_wait
from recollex.client.spin_wait import SpinWait
from recollex.wire import idle_spin

PAIR = tuple[socket.socket, SpinWait]


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> Iterator[PAIR]:
    monkeypatch.setattr(idle_spin, "is_useful", lambda: True)
    here, there = socket.socketpair()
    with here, there:
        yield there, SpinWait(here)


class Line:
    """A socket whose other end answers after so many seconds, and the clock that says so.

    The clock moves while a call sleeps, by a little when it looks, and until the answer when it
    waits for that asleep.
    """

    def __init__(self) -> None:
        self.now, self.looks = 7.0, 0
        self.naps: list[float] = []
        self._due = 0.0
        self.process_time: Callable[[], float] = float  # no thread works
        self.thread_time: Callable[[], float] = float

    def perf_counter(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.now += seconds

    def poll(self, timeout: int) -> list[Any]:
        self.looks += 1
        self.now += 1e-5
        return [1] if self.now >= self._due else []

    def recv_into(self, room: memoryview) -> int:
        self.now = max(self.now, self._due)
        room[:4] = b"done"
        return 4

    def answers(self, listening: SpinWait, seconds: float, method: str = "ping") -> bool:
        """Return whether a call looked for an answer that came after so many seconds."""
        self._due = self.now + seconds
        before = self.looks
        assert received(listening, method) == b"done"
        return self.looks > before


@pytest.fixture
def line(pair: PAIR, monkeypatch: pytest.MonkeyPatch) -> tuple[Line, SpinWait]:
    """A line in the place of the pair, with a clock of its own."""
    found, (_, listening) = Line(), pair
    monkeypatch.setattr(spin_wait, "time", found)
    monkeypatch.setattr(listening, "_socket", found)
    monkeypatch.setattr(listening, "_poll", found.poll)
    return found, listening


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


def test_it_naps_for_no_longer_than_half_of_the_usual_time(line: tuple[Line, SpinWait]) -> None:
    there, listening = line
    assert not there.answers(listening, 0.0015, "recall")
    assert not there.answers(listening, 0.0, "ping")
    for _ in range(3):
        assert there.answers(listening, 0.0015, "recall")
        assert there.answers(listening, 0.0, "ping")
    assert there.naps == pytest.approx([0.00069] * 3, abs=0.00001)
    assert listening._usual["ping"] < 0.0001 < 0.0014 < listening._usual["recall"] < 0.0016


def test_a_slow_answer_costs_no_more_than_the_bound(line: tuple[Line, SpinWait]) -> None:
    there, listening = line
    there.answers(listening, 0.0)
    assert there.answers(listening, 0.4)
    assert there.looks * 1e-5 == pytest.approx(idle_spin.ANSWER_SECONDS, rel=0.02)
    assert not there.answers(listening, 0.0)  # it was slow: this is waited for asleep


def test_it_sleeps_while_another_thread_works(line: tuple[Line, SpinWait]) -> None:
    there, listening = line
    there.process_time, there.thread_time = time.process_time, time.thread_time
    there.now += 1e6  # whatever other threads did is little of that
    there.answers(listening, 0.0)
    there.now += 1e6
    assert there.answers(listening, 0.0)
    worker = threading.Thread(target=lambda: sum(range(1_000_000)))
    worker.start()
    worker.join()
    there.now += 0.001
    assert not there.answers(listening, 0.0)


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

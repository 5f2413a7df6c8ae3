"""Calls whose answers are lost, or whose server dies: sent again, and done once."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import recollex
from recollex_engine import errors

ROOT = Path(__file__).parents[2]


class Relay:
    """Stands between a client and a server, and can lose what one of them says."""

    def __init__(self, path: Path, server: Path) -> None:
        self.lose: Callable[[bytes], bool] = lambda answer: False
        self.calls: list[bytes] = []
        self._server = server
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(str(self._server))
            for pair in ((client, server, True), (server, client, False)):
                self._threads.append(threading.Thread(target=self._copy, args=pair))
                self._threads[-1].start()

    def _copy(self, source: socket.socket, target: socket.socket, asks: bool) -> None:
        try:
            while data := source.recv(1 << 16):
                if asks:
                    self.calls.append(data)
                elif self.lose(data):
                    break
                target.sendall(data)
        except OSError:
            pass
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        if asks:
            source.close()
            target.close()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(5)


@pytest.fixture
def relay(address: str, tmp_path: Path) -> Iterator[Relay]:
    made = Relay(tmp_path / "relay.sock", tmp_path / "memory.sock")
    yield made
    made.close()


def once() -> Callable[[bytes], bool]:
    """Return what is true the first time that it is asked."""
    left = [True]
    return lambda data: bool(left) and left.pop()


@contextmanager
def lossy(relay: Relay, tmp_path: Path) -> Iterator[Any]:
    with recollex.connect(tmp_path / "relay.sock", patience=5) as store:
        yield store.agent("alice")


@pytest.mark.parametrize(
    "write",
    [
        lambda alice: alice.retain("Bob likes tea."),
        lambda alice: alice.retain_many(["Bob likes tea."], tags=["a"], id=[None]),
        lambda alice: alice.retain_dialogue(
            [{"speaker": "Ann", "text": "Tea?", "at": "2024-05-04T10:00:00Z"}], document_id="d"
        ),
        lambda alice: alice.apply([{"op": "RETAIN", "text": "Bob likes tea."}]),
        lambda alice: alice.forget("m"),
        lambda alice: alice.correct("m", "Ann likes milk."),
        lambda alice: alice.archive("m"),
    ],
)
def test_a_write_whose_answer_is_lost_is_done_once(
    relay: Relay, tmp_path: Path, write: Callable[[Any], Any]
) -> None:
    with lossy(relay, tmp_path) as alice:
        alice.retain("Ann likes tea.", id="m")
        before = len(alice.log())
        asked = len(relay.calls)
        relay.lose = once()
        write(alice)
        assert len(relay.calls) >= asked + 2  # it was sent twice, after a greeting
        assert len(alice.log()) == before + 1


def test_a_lost_read_is_asked_again(relay: Relay, tmp_path: Path) -> None:
    with lossy(relay, tmp_path) as alice:
        alice.retain("Ann likes tea.", id="m")
        relay.lose = once()
        assert alice.get("m").text == "Ann likes tea."


def test_an_error_whose_answer_is_lost_is_told(relay: Relay, tmp_path: Path) -> None:
    with lossy(relay, tmp_path) as alice:
        relay.lose = once()
        with pytest.raises(errors.UnknownIdError):
            alice.forget("nothing")


def test_a_call_gives_up_when_its_patience_or_its_time_is_over(
    relay: Relay, tmp_path: Path
) -> None:
    with recollex.connect(tmp_path / "relay.sock", patience=0.2) as store:
        alice = store.agent("alice")
        relay.lose = lambda answer: True
        with pytest.raises(errors.DisconnectedError, match="hung up"):
            alice.stats()
    relay.lose = lambda answer: False
    with recollex.connect(tmp_path / "relay.sock", patience=60) as store:
        alice = store.agent("alice").within(0.2)
        relay.lose = lambda answer: True
        started = time.monotonic()
        with pytest.raises((errors.DisconnectedError, errors.DeadlineError)):
            alice.stats()
        assert time.monotonic() - started < 5


SERVE = """
import asyncio, sys
import recollex
from recollex.remote.server.server import Server
from tests.bindings.word_vectors import WordVectors

async def main():
    store = recollex.open(sys.argv[1], embedder=WordVectors())
    async with Server(store) as server:
        await server.listen(f"unix://{sys.argv[2]}")
        print("ready", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


def process(folder: Path, path: Path) -> "subprocess.Popen[bytes]":
    roots = [str(ROOT / name) for name in ("kernels", "engine", "bindings", "")]
    made = subprocess.Popen(
        [sys.executable, "-c", SERVE, folder, path],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(roots)},
    )
    assert made.stdout is not None and made.stdout.readline() == b"ready\n"
    return made


def end(made: "subprocess.Popen[bytes]", number: int = signal.SIGKILL) -> None:
    made.send_signal(number)
    made.wait()
    assert made.stdout is not None
    made.stdout.close()


def test_a_server_killed_between_sending_and_answering_stores_once(tmp_path: Path) -> None:
    path = tmp_path / "memory.sock"
    server = process(tmp_path / "memory", path)
    relay = Relay(tmp_path / "relay.sock", path)
    restarted: list[Any] = []

    def kill(answer: bytes) -> bool:
        relay.lose = lambda answer: False
        end(server)  # it has done the write, and dies before the client hears of it
        restarted.append(process(tmp_path / "memory", path))
        return True

    with lossy(relay, tmp_path) as alice:
        alice.retain("Ann likes tea.", id="m")
        relay.lose = kill
        ids = alice.retain_many(["Bob likes tea.", "Eve likes milk."])
        assert [memory.id for memory in alice.list()] == ["m", *ids]
        server = restarted.pop()
        relay.lose = kill
        with pytest.raises(errors.DisconnectedError, match="cannot know whether it had done it"):
            alice.forget("m")
        assert [memory.id for memory in alice.list()] == ids  # it had
    relay.close()
    end(restarted.pop())


def test_a_killed_server_costs_a_forget_nothing_that_was_not_sent(tmp_path: Path) -> None:
    path = tmp_path / "memory.sock"
    server = process(tmp_path / "memory", path)
    with recollex.connect(path) as store:
        alice = store.agent("alice")
        alice.retain("Ann likes tea.", id="m")
        end(server)
        server = process(tmp_path / "memory", path)
        alice.forget("m")  # the broken connection is noticed before anything is sent
        assert alice.list() == []
    end(server)

"""Reader processes answer as the server does, and their failures harm no client."""

import asyncio
import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import recollex
from recollex import errors
from recollex.remote.server import reader_pool
from recollex.remote.server.calls import Call, Observer
from recollex.remote.server.limits import ServerLimits
from recollex.remote.server.reader_process import Opener
from recollex.remote.server.server import Server
from recollex.remote.wire.messages import request
from tests.bindings.serving import VECTOR, Raw, Told, serving
from tests.bindings.test_serve import process
from tests.waiting import until

OPENERS = "tests.bindings.remote.server.reader_openers"


class Noting(Observer):
    """Records on which thread each call was done, and what failed."""

    def __init__(self) -> None:
        self.threads: list[tuple[str, threading.Thread]] = []
        self.failures: list[BaseException] = []

    def worked(self, call: Call, trace: object) -> None:
        self.threads.append((call.method.name, threading.current_thread()))

    def failed(self, call: Call | None, error: BaseException) -> None:
        self.failures.append(error)


@contextlib.contextmanager
def reading(
    tmp_path: Path, opener: str = "whole", count: int = 2, **options: Any
) -> Iterator[Server]:
    """Serve a store with reader processes that are ready."""
    folder = tmp_path / "memory"
    made = Opener(f"{OPENERS}:{opener}", {"path": str(folder)}, count)
    with serving(folder, opener=made, **options) as server:
        until(lambda: len(readers(server)) == count)
        yield server


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Noting]]:
    """Give a server that several tests use, each with agents of its own: a start takes seconds."""
    noting = Noting()
    with reading(tmp_path_factory.mktemp("shared"), observer=noting) as server:
        yield server, noting


def readers(server: Server) -> Any:
    assert server.service.reader_pool is not None
    return server.service.reader_pool


def is_there(pid: int) -> bool:
    """Return whether a process exists, possibly as a zombie."""
    return Path(f"/proc/{pid}").exists()


def fill(agent: Any) -> None:
    for n in range(20):
        agent.retain(f"Ann moved to town {n}.", id=f"m{n}", embedding=VECTOR, tags=["t"])
    agent.facts.add("Ann", "lives_in", "Oslo", id="f1")
    agent.correct("m3", "Ann moved to Bergen.", embedding=VECTOR)
    agent.forget("m4")


QUESTIONS: list[Callable[[Any], Any]] = [
    lambda agent: list(agent.recall("Where did Ann move?", query_embedding=VECTOR)),
    lambda agent: list(agent.recall("town", query_embedding=VECTOR, explain=True, tags=["t"])),
    lambda agent: [list(each) for each in agent.recall_many(["town", "Oslo"], exact=True)],
    lambda agent: agent.list(limit=50),
    lambda agent: agent.get("m3"),
    lambda agent: agent.history("m3"),
    lambda agent: agent.log(),
    lambda agent: list(agent.facts.find(subject="Ann")),
    lambda agent: agent.facts.history("f1"),
    lambda agent: agent.facts.entities(),
    lambda agent: agent.events.find(),
]


def outcome(ask: Callable[[Any], Any], agent: Any) -> Any:
    try:
        return ask(agent)
    except errors.RecollexError as error:
        return type(error), str(error)


def test_they_answer_as_the_server_does(shared: tuple[Server, Noting]) -> None:
    server, _ = shared
    with recollex.connect(server.addresses[0]) as store:
        alice = store.agent("alice")
        fill(alice)
        at = alice.list(limit=5)[-1].recorded_at
        here = server.service.store.agent("alice")
        put = server.service._workers.put
        server.service._workers.put = None  # type: ignore[assignment,method-assign]
        for ask in QUESTIONS:
            assert outcome(ask, alice) == outcome(ask, here)
            assert outcome(ask, alice.at(at)) == outcome(ask, here.at(at))
        with pytest.raises(errors.UnknownIdError) as told:
            alice.history("m4")
        assert told.value.id == "m4"
        with pytest.raises(errors.InputError):
            alice.at(at + timedelta(days=365))
        server.service._workers.put = put  # type: ignore[method-assign]


def test_what_was_written_is_read(shared: tuple[Server, Noting]) -> None:
    with recollex.connect(shared[0].addresses[0]) as store:
        failures: list[BaseException] = []

        def write_and_read(name: str) -> None:
            try:
                agent = store.agent(name)
                for n in range(30):
                    agent.retain(f"No. {n}.", id=f"{name}{n}", embedding=VECTOR)
                    assert [each.id for each in agent.list()][-1] == f"{name}{n}"
                    found = agent.recall(f"No. {n}", query_embedding=VECTOR)
                    assert f"{name}{n}" in found.ids
                    if n % 3 == 0:
                        agent.forget(f"{name}{n}")
                        assert f"{name}{n}" not in agent.recall("No.", query_embedding=VECTOR).ids
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=write_and_read, args=(name,)) for name in "abc"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures


def test_one_that_is_killed_is_replaced_and_no_client_notices(tmp_path: Path) -> None:
    noting = Noting()
    with (
        reading(tmp_path, observer=noting) as server,
        recollex.connect(server.addresses[0]) as store,
    ):
        alice = store.agent("alice")
        fill(alice)
        expected = [each.id for each in alice.list()]
        before = set(readers(server).processes)
        stop = threading.Event()
        wrong: list[Any] = []

        def ask() -> None:
            while not stop.is_set():
                try:
                    found = [each.id for each in alice.list()]
                except BaseException as error:
                    wrong.append(error)
                    return
                if found != expected:
                    wrong.append(found)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for pid in before:
            time.sleep(0.2)
            os.kill(pid, signal.SIGKILL)
        until(lambda: len(readers(server)) == 2 and not before & set(readers(server).processes))
        time.sleep(0.2)
        stop.set()
        for thread in threads:
            thread.join()
        assert not wrong
        assert len(noting.failures) == 2
        until(lambda: not any(map(is_there, before)))
        after = readers(server).processes
    assert not any(map(is_there, after))


def test_a_call_that_ends_two_of_them_is_refused(tmp_path: Path) -> None:
    with reading(tmp_path, "deadly", 1) as server, Raw(server.addresses[0]) as client:
        arguments = {"text": "Ann is here.", "id": "m1", "embedding": VECTOR.tolist()}
        client.call("retain", "alice", arguments)
        with pytest.raises(Told) as told:
            client.call("history", "alice", {"id": "m1"})
        assert told.value.name == "InternalError"
        found = client.call("recall", "alice", {"query": "Ann", "query_embedding": VECTOR.tolist()})
        assert found is not None


def test_deadlines_and_failures_are_told(tmp_path: Path) -> None:
    noting = Noting()
    limits = ServerLimits(readers=1)
    with (
        reading(tmp_path, "slow", 1, observer=noting, limits=limits) as server,
        Raw(server.addresses[0]) as client,
    ):
        arguments = {"text": "Ann is here.", "id": "m1", "embedding": VECTOR.tolist()}
        client.call("retain", "alice", arguments)
        begun = client.send("history", "alice", {"id": "m1"}, {"deadline_ms": 500})
        waits = client.send("history", "alice", {"id": "m1"}, {"deadline_ms": 100})
        taken_back = client.send("history", "alice", {"id": "m1"})
        client.write(b"\x93\x02\xa6cancel\x91" + bytes([taken_back]))
        answers = {message[1]: message[2] for message in (client.receive() for _ in range(3))}
        assert answers[begun][0] == "DeadlineError" and answers[begun][2]["begun"] is True
        assert answers[waits][0] == "DeadlineError" and answers[waits][2]["begun"] is False
        assert answers[taken_back][0] == "CancelledError"
        with pytest.raises(Told) as told:
            client.call("log", "alice", {})
        assert told.value.name == "InternalError" and "foresaw" not in str(told.value)
        assert "nobody foresaw it" in str(noting.failures[-1])


def test_without_them_worker_threads_do_every_call_and_the_event_loop_none(tmp_path: Path) -> None:
    noting = Noting()
    with (
        serving(tmp_path / "memory", observer=noting) as server,
        recollex.connect(server.addresses[0]) as store,
    ):
        alice = store.agent("alice")
        fill(alice)
        for ask in 50 * [
            lambda: alice.get("m1"),
            lambda: alice.recall("x", query_embedding=VECTOR),
        ]:
            ask()
    assert {name for name, _ in noting.threads} >= {"get", "recall", "retain"}
    assert all(thread.name.startswith("recollex ") for _, thread in noting.threads)


def children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for each in found for child in each.read_text().split()]


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGKILL])
def test_they_end_with_the_server(tmp_path: Path, by: signal.Signals) -> None:
    with process("--store", str(tmp_path / "memory"), "--workers", "1") as (server, _):
        until(lambda: len(children(server.pid)) == 1)
        left = children(server.pid)
        for pid in left:
            os.kill(pid, signal.SIGTERM)  # as a service manager does to a process group
        server.send_signal(by)
        if by == signal.SIGTERM:
            assert server.wait(20) == 0
            assert server.stderr is not None and "Traceback" not in server.stderr.read()
        until(lambda: not any(map(is_there, left)), 20)


def test_many_look_ups_at_once_are_all_answered(shared: tuple[Server, Noting]) -> None:
    with Raw(shared[0].addresses[0]) as client:
        arguments = {"text": "Ann is here.", "id": "m1", "embedding": VECTOR.tolist()}
        client.call("retain", "many", arguments)
        data = b"".join(
            request(number, method, "many", {"id": "m1"} if method == "get" else {}, {})
            for number in range(2, 6_000, 2)
            for number, method in ((number, "get"), (number + 1, "nothing"))
        )
        thread = threading.Thread(target=client.write, args=(data,))
        thread.start()
        answered = [client.receive()[1] for _ in range(5_998)]
        thread.join()
        assert sorted(answered) == list(range(2, 6_000))


def test_without_an_event_loop_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes that are still starting are not waited for."""
    monkeypatch.setattr(reader_pool, "LEAVING", 60)
    sockets: list[socket.socket] = []
    paired = socket.socketpair

    def kept(*kind: Any) -> tuple[socket.socket, socket.socket]:
        pair = paired(*kind)
        sockets.extend(pair)
        return pair

    monkeypatch.setattr(socket, "socketpair", kept)

    async def main() -> list[Any]:
        opener = Opener(f"{OPENERS}:whole", {"path": str(tmp_path)}, 2)
        store = recollex.open(tmp_path, embedder=recollex.GivenVectors(8))
        async with Server(store, opener=opener) as server:
            return [reader.process for reader in readers(server)._readers]

    ended = asyncio.run(main())
    assert not any(is_there(process.pid) for process in ended)
    assert [process.returncode for process in ended] == [-signal.SIGKILL] * 2
    assert [each.fileno() for each in sockets] == [-1] * len(sockets)

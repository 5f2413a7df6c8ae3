import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import recollex
from recollex.client.address import read_address
from recollex.client.agent import Agent, Events, Facts, Sessions
from recollex.client.argument_preparation import PREPARE
from recollex.client.channel import LostError
from recollex.client.idempotency import METHODS as REPEATABLE
from recollex.client.idempotency import is_idempotent
from recollex.client.pool import Pool
from recollex.client.retries import Retries
from recollex.wire.methods import METHODS
from recollex_engine import errors
from tests.bindings.serving import serving
from tests.bindings.word_vectors import WordVectors

ROOT = Path(__file__).parents[2]


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    address = f"unix://{tmp_path / 'memory.sock'}"
    with serving(recollex.open(tmp_path / "memory", embedder=WordVectors()), address=address):
        yield address


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


# -- writes that are sent again ------------------------------------------------------------------


@contextmanager
def lossy(relay: Relay, tmp_path: Path) -> Iterator[Any]:
    with recollex.connect(tmp_path / "relay.sock", patience=5) as store:
        yield store.agent("alice")


@pytest.mark.parametrize(
    "write",
    [
        lambda alice: alice.retain("Bob likes tea."),
        lambda alice: alice.retain(["Bob likes tea."], tags=["a"], id=[None]),
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
        assert len(relay.calls) >= asked + 2  # it was sent twice, behind a greeting
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
from recollex.server.server import Server
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
        ids = alice.retain(["Bob likes tea.", "Eve likes milk."])
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


# -- processes and threads -----------------------------------------------------------------------


def test_a_forked_process_has_connections_of_its_own(address: str) -> None:
    with recollex.connect(address) as store:
        alice = store.agent("alice")
        alice.retain("The parent is here.", id="parent")
        child = os.fork()
        if child == 0:
            status = 1
            try:
                for n in range(20):
                    alice.retain("The child is here.", id=f"child{n}")
                status = 0
            finally:
                os._exit(status)
        for n in range(20):
            assert alice.retain("The parent is here.", id=f"parent{n}") == [f"parent{n}"]
            assert alice.get("parent").text == "The parent is here."
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert alice.stats().memories == 41


def test_a_fork_while_threads_call(address: str) -> None:
    with recollex.connect(address, connections=2) as store:
        alice = store.agent("alice")
        alice.retain("Ann likes tea.", id="m")
        stop = threading.Event()

        def work() -> None:
            while not stop.is_set():
                assert alice.get("m").id == "m"

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        children = []
        for _ in range(5):
            children.append(os.fork())
            if children[-1] == 0:
                signal.alarm(20)
                os._exit(0 if alice.get("m").id == "m" else 1)
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        stop.set()
        for thread in threads:
            thread.join()
        assert codes == [0] * 5


def test_more_threads_than_connections_wait_their_turn(address: str) -> None:
    with recollex.connect(address, connections=2) as store:
        alice = store.agent("alice")
        with ThreadPoolExecutor(16) as threads:
            ids = list(threads.map(lambda n: alice.retain(f"Number {n}.")[0], range(64)))
        assert sorted(memory.id for memory in alice.list()) == sorted(ids)
        assert store._pool._open <= 2


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let SIGINT interrupt, though a shell that runs tests in the background has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_call_leaves_the_client_as_it_was(address: str) -> None:
    with recollex.connect(address) as store:
        alice = store.agent("alice")
        alice.retain([f"Number {n} likes tea." for n in range(2000)])
        for pause in (0.0, 0.001, 0.01):
            timer = threading.Timer(pause, os.kill, (os.getpid(), signal.SIGINT))
            with pytest.raises(KeyboardInterrupt):
                timer.start()
                while True:
                    alice.list(limit=2000)
            timer.join()
            assert alice.stats().memories == 2000
        assert store._pool._open <= 2


def test_a_late_answer_is_not_taken_for_the_next(address: str) -> None:
    with recollex.connect(address) as store:
        alice = store.agent("alice")
        alice.retain([f"Number {n}." for n in range(3000)])
        for _ in range(5):
            with pytest.raises(errors.DeadlineError):
                alice.within(0.0005).verify()
            assert alice.stats().memories == 3000


# -- connecting ----------------------------------------------------------------------------------


def test_an_absent_server_says_what_to_type(tmp_path: Path) -> None:
    with pytest.raises(errors.DisconnectedError) as raised:
        recollex.connect(f"unix://{tmp_path}/nothing.sock")
    line = f"recollex serve --store DIR --socket {tmp_path}/nothing.sock"
    assert line in str(raised.value)
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(tmp_path / "left.sock"))
    left.close()
    with pytest.raises(errors.DisconnectedError, match=r"recollex serve .*left\.sock"):
        recollex.connect(tmp_path / "left.sock")
    with pytest.raises(errors.DisconnectedError, match=r"--listen 127\.0\.0\.1:1"):
        recollex.connect("tcp://127.0.0.1:1")
    assert issubclass(errors.DisconnectedError, ConnectionError)


def test_what_is_no_recollex_server_is_said_to_be_none() -> None:
    def answer(said: bytes) -> None:
        client, _ = listener.accept()
        with client:
            client.recv(1000)
            client.sendall(said)

    for said in (b"HTTP/1.1 400 Bad Request\r\n\r\n", b"", b"\x94\x01\x00\xc0\xc0", b"\xc1"):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            thread = threading.Thread(target=answer, args=(said,))
            thread.start()
            with pytest.raises((errors.DisconnectedError, errors.ProtocolError)):
                recollex.connect(f"tcp://127.0.0.1:{listener.getsockname()[1]}", timeout=5)
            thread.join()


@pytest.mark.parametrize(
    "wrong",
    [
        7,
        "",
        "/run/recollex.sock",
        "unix://run/recollex.sock",
        "unix:///",
        "unix:///a\0b",
        "tcp://localhost",
        "tcp://localhost:70000",
        "tcp://:7077",
        "tcp://localhost:7077/path",
        "tcp://token@localhost:7077",
        "ftp://localhost:7077",
        "tcp://localhost:7077?x=1",
    ],
)
def test_an_address_that_cannot_be_read_shows_those_that_can(wrong: Any) -> None:
    with pytest.raises(errors.InputError, match="address"):
        recollex.connect(wrong)


def test_addresses_of_every_kind() -> None:
    assert read_address("unix:///run/a%20b.sock").path == "/run/a b.sock"
    assert str(read_address("tls://[::1]:7077")) == "tls://[::1]:7077"
    assert read_address("http://localhost").port == 80
    assert read_address(Path("/run/x.sock")) == read_address("unix:///run/x.sock")


@pytest.mark.parametrize(
    "options",
    [
        {"token": ""},
        {"token": 3},
        {"timeout": 0},
        {"timeout": "1"},
        {"patience": -1},
        {"connections": 0},
        {"connections": True},
        {"certificates": 3},
    ],
)
def test_an_option_that_is_not_acceptable_is_refused(address: str, options: Any) -> None:
    (name,) = options
    with pytest.raises(errors.InputError, match=f"{name}|seconds"):
        recollex.connect(address, **options)


def test_the_client_says_what_it_is(address: str) -> None:
    with recollex.connect(address) as store:
        alice = store.agent("alice")
        store.ping()
        assert repr(store) == f"<recollex.client.Store at {address}>"
        assert repr(alice) == "<recollex.client.Agent 'alice'>"
        alice.retain("Ann is here.", id="a")
        cut = alice.at(alice.get("a").recorded_at)
        assert "as of 20" in repr(cut)


def test_a_message_beyond_the_servers_limit_is_not_sent(tmp_path: Path) -> None:
    from recollex.server.limits import Limits

    address = f"unix://{tmp_path / 'memory.sock'}"
    here = recollex.open(tmp_path / "memory", embedder=WordVectors())
    with (
        serving(here, address=address, limits=Limits(message_bytes=10_000)),
        recollex.connect(address) as store,
    ):
        alice = store.agent("alice")
        with pytest.raises(errors.InputError, match="the server reads up to 10,000: do it in"):
            alice.retain(["x" * 500] * 30)
        assert alice.stats().memories == 0


# -- tables --------------------------------------------------------------------------------------


def test_every_method_of_the_wire_is_a_method_of_the_client() -> None:
    homes = {"": Agent, "facts": Facts, "events": Events, "sessions": Sessions}
    for name, method in METHODS.items():
        if not method.store and name != "transact":
            assert callable(getattr(homes[method.group], name.rpartition(".")[2])), name
    assert set(METHODS) >= set(PREPARE)
    assert {name for name, method in METHODS.items() if method.scope == "write"} >= REPEATABLE


def test_a_time_of_recording_makes_a_write_one_of_a_kind() -> None:
    assert is_idempotent("retain", {"text": "a"})
    assert not is_idempotent("retain", {"text": "a", "recorded_at": 1})
    assert not is_idempotent("forget", {"id": "a"})
    assert is_idempotent("apply", {"operations": [{"op": "UPSERT_EDGE"}]})
    assert not is_idempotent("apply", {"operations": [{"op": "UPSERT_EDGE"}, {"op": "FORGET"}]})


def test_a_call_that_cannot_be_repeated_goes_to_the_same_server_alone() -> None:
    attempts = Retries("forget", False, None, 10)
    attempts.check("any")
    attempts.after_loss(LostError("gone", sent=False), "a")
    attempts.check("b")  # it was never sent
    attempts.after_loss(LostError("gone", sent=True), "b")
    attempts.check("b")
    with pytest.raises(errors.DisconnectedError):
        attempts.check("c")


def test_pauses_grow_and_end() -> None:
    attempts = Retries("stats", True, time.monotonic() + 1, 100)
    pauses = []
    with pytest.raises(errors.DisconnectedError):
        for _ in range(100):
            pauses.append(attempts.after_failure(errors.DisconnectedError("gone")))
            time.sleep(pauses[-1])
    assert len(pauses) >= 4 and pauses[0] <= 0.01 and max(pauses) <= 1
    with pytest.raises(errors.OverloadedError):
        Retries("stats", True, None, 1).after_failure(errors.OverloadedError("full", 2.0))


def test_a_pool_hands_out_what_was_given_back_last() -> None:
    class Fake:
        instance, is_idle = "", True

        def close(self) -> None:
            self.is_idle = False

    pool = Pool(lambda deadline: Fake(), 3)  # type: ignore[arg-type, return-value]
    first, second = pool.take(None, "x"), pool.take(None, "x")
    pool.give(first)
    pool.give(second)
    assert pool.take(None, "x") is second
    second.close()
    pool.give(second)  # of no use: its place is free
    assert pool.take(None, "x") is first
    pool.take(None, "x"), pool.take(None, "x")
    with pytest.raises(errors.DeadlineError):
        pool.take(time.monotonic() + 0.01, "x")
    pool.close()
    pool.give(first)
    assert not first.is_idle
    with pytest.raises(errors.ClosedError):
        pool.take(None, "x")

"""A client that is used by forked processes and by threads, and that is interrupted."""

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import recollex
from recollex_engine import errors


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
            assert alice.retain("The parent is here.", id=f"parent{n}") == f"parent{n}"
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
            ids = list(threads.map(lambda n: alice.retain(f"Number {n}."), range(64)))
        assert sorted(memory.id for memory in alice.list()) == sorted(ids)
        assert store._caller._pool._open <= 2


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
        alice.retain_many([f"Number {n} likes tea." for n in range(2000)])
        for pause in (0.0, 0.001, 0.01):
            timer = threading.Timer(pause, os.kill, (os.getpid(), signal.SIGINT))
            with pytest.raises(KeyboardInterrupt):
                timer.start()
                while True:
                    alice.list(limit=2000)
            timer.join()
            assert alice.stats().memories == 2000
        assert store._caller._pool._open <= 2


def test_a_late_answer_is_not_taken_for_the_next(address: str) -> None:
    with recollex.connect(address) as store:
        alice = store.agent("alice")
        alice.retain_many([f"Number {n}." for n in range(3000)])
        for _ in range(5):
            with pytest.raises(errors.DeadlineError):
                alice.within(0.0005).verify()
            assert alice.stats().memories == 3000

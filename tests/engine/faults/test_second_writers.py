"""Second writers of an agent, and closing beside writers."""

import os
import subprocess
import sys
import threading

import pytest

import recollex
from recollex_engine.errors import ClosedError, LockedError, ReadOnlyError, UnknownIdError
from recollex_engine.writing import checkpoint
from tests.engine.faults.small_store import D, Model, assert_holds, contents, fill, opened, text

SECOND = """
import sys, recollex
from recollex_engine.errors import LockedError
import time
store = recollex.open(sys.argv[1], embedder=recollex.GivenVectors(32))
started = time.perf_counter()
try:
    store.agent("a")
except LockedError as error:
    assert time.perf_counter() - started < 5
    print(error)
reader = recollex.open(sys.argv[1], embedder=recollex.GivenVectors(32), read_only=True).agent("a")
print(len(reader.list()), len(reader.recall("tea")))
"""


def test_a_second_writer_is_refused_at_once_and_readers_go_on(path, held):
    with opened(path) as agent, opened(path, read_only=True) as reader:
        assert contents(reader) == held[0]
        with pytest.raises(LockedError, match=rf"LOCK is open .*process {os.getpid()}.*read_only"):
            recollex.open(path, embedder=recollex.GivenVectors(D)).agent("a")
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        command = [sys.executable, "-c", SECOND, path]
        found = subprocess.run(command, check=True, env=environment, capture_output=True, text=True)
        message, counts = found.stdout.splitlines()
        assert f"held by process {os.getpid()}" in message
        assert counts.split()[0] == str(len(held[0]))
        fill(agent, 60, 1)
        assert contents(reader)[-1] == ("m60", text(60))
        with pytest.raises(ReadOnlyError, match="read_only=True"):
            fill(reader, 61, 1)
    with opened(path) as agent:
        assert agent.get("m60").text == text(60)


def test_two_writers_of_an_agent_that_is_new(path):
    with opened(path) as first, opened(path) as second:
        fill(first, 0, 1)
        with pytest.raises(LockedError):
            fill(second, 1, 1)
        with pytest.raises(LockedError):
            second.forget("m0")
        assert contents(first) == contents(second) == [("m0", text(0))]


def test_an_agent_that_cannot_be_opened_is_not_left_locked(path, embedded):
    for _ in range(2):
        with pytest.raises(recollex.errors.ModelMismatchError):
            recollex.open(path, embedder=recollex.GivenVectors(D)).agent("a")
    with opened(path, embedder=Model()) as agent:
        assert_holds(agent, embedded)


def test_closing_beside_writing_threads_loses_nothing(path, monkeypatch):
    monkeypatch.setattr(checkpoint, "TAIL_ROWS", 16)
    acknowledged, failures = [], []
    store = recollex.open(path, embedder=recollex.GivenVectors(D), durability="interval")
    agent = store.agent("a")
    fill(agent, 0, 1)

    def work(first):
        try:
            for n in range(first, first + 10_000):
                acknowledged.extend(fill(agent, n, 1))
        except ClosedError:
            pass
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n * 10_000 + 10,)) for n in range(3)]
    for thread in threads:
        thread.start()
    while len(acknowledged) < 200 and not failures:
        threading.Event().wait(0.01)
    store.close()
    for thread in threads:
        thread.join()
    assert failures == []
    with opened(path) as agent:
        ids = {id for id, _ in contents(agent)}
        assert ids >= set(acknowledged) and len(ids) <= len(acknowledged) + 4
        assert agent.verify().ok
        with pytest.raises(UnknownIdError):
            agent.get("nobody")

"""Who reads while memories are erased? Readers in this process and in others, and recalls."""

import subprocess
import sys
import threading
import time

import pytest

import recollex
from recollex_engine.errors import UnknownIdError
from recollex_engine.writing import checkpoint
from tests.engine.erasure.traces import assert_gone
from tests.engine.faults.small_store import D, answers, contents, fill, opened, vectors

CHILD = """
import sys
import recollex
from tests.engine.faults.small_store import answers, contents, opened

with opened(sys.argv[1], read_only=True) as agent:
    while True:
        line = sys.stdin.readline()
        if not line:
            break
        print(len(contents(agent)), repr(answers(agent)), flush=True)
"""


def told(agent, seed=777, id="secret-id"):
    agent.retain("Zanzibarina of tea.", id=id, embedding=vectors(seed, 1)[0])


@pytest.mark.parametrize("checkpointed", [False, True])
def test_a_reader_sees_it_at_its_next_view(path, checkpointed):
    with opened(path) as agent:
        fill(agent, 0, 30)
        told(agent)
        fill(agent, 30, 30)
        if checkpointed:
            agent.checkpoint()
        told(agent, 778, "secret-2")
        with opened(path, read_only=True) as reader, opened(path, read_only=True) as idle:
            assert contents(reader) == contents(agent)
            assert answers(idle) == answers(agent)
            agent.erase("secret-id", by="ben", why="x")
            assert (contents(reader), answers(reader)) == (contents(agent), answers(agent))
            fill(agent, 60, 3)
            agent.erase("secret-2", by="ben", why="x")
            fill(agent, 63, 3)
            for each in (reader, idle):
                assert (contents(each), answers(each)) == (contents(agent), answers(agent))
                assert each.verify().problems == ()
                with pytest.raises(UnknownIdError):
                    each.get("secret-id")


def test_a_reader_whose_file_of_the_log_stays_sees_it(path, monkeypatch):
    monkeypatch.setattr(checkpoint, "LOG_BYTES", 1_000)
    with opened(path) as agent:
        told(agent)
        fill(agent, 0, 30)
        agent.checkpoint()
        fill(agent, 30, 3)
        with opened(path, read_only=True) as reader:
            assert contents(reader) == contents(agent)
            agent.erase("secret-id", by="ben", why="x")
            assert contents(reader) == contents(agent)
            assert answers(reader) == answers(agent)


def test_a_reader_in_another_process_sees_it(path):
    with opened(path) as agent:
        fill(agent, 0, 30)
        told(agent)
        fill(agent, 30, 10)
        with subprocess.Popen(
            [sys.executable, "-c", CHILD, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as child:
            assert child.stdin is not None and child.stdout is not None

            def ask():
                child.stdin.write("\n")
                child.stdin.flush()
                return child.stdout.readline()

            def expected():
                return f"{len(contents(agent))} {answers(agent)!r}\n"

            assert ask() == expected()
            agent.erase("secret-id", by="ben", why="x")
            assert ask() == expected()
            fill(agent, 40, 3)
            assert ask() == expected()
            child.stdin.close()
    assert_gone(path, ["anzibarin", "secret-id"])


def test_recalls_and_writes_go_on_beside_erasures(path):
    stop = threading.Event()
    failures = []

    def during(work):
        try:
            while not stop.is_set():
                work()
        except BaseException as error:
            failures.append(error)

    with opened(path) as agent, opened(path, read_only=True) as reader:
        fill(agent, 0, 200)
        count = [200]

        def write():
            fill(agent, count[0], 1)
            count[0] += 1
            time.sleep(0.002)

        works = [lambda: answers(agent), lambda: answers(reader), write]
        threads = [threading.Thread(target=during, args=(work,)) for work in works]
        for thread in threads:
            thread.start()
        for n in range(0, 60, 3):
            agent.erase(f"m{n}", by="ben", why="x")
        stop.set()
        for thread in threads:
            thread.join()
        assert failures == []
        ids = [id for id, _ in contents(agent)]
        assert ids == [f"m{n}" for n in range(count[0]) if n >= 60 or n % 3]
        assert contents(reader) == contents(agent)
        assert agent.verify().problems == ()
    with recollex.open(path, embedder=recollex.GivenVectors(D)) as store:
        assert [id for id, _ in contents(store.agent("a"))] == ids


def test_an_agent_is_opened_beside_erasures(path, monkeypatch):
    """An opening that met files of before and of after begins again."""
    monkeypatch.setattr(checkpoint, "LOG_BYTES", 20_000)
    stop = threading.Event()
    failures, openings = [], []

    def work():
        while not stop.is_set():
            try:
                with opened(path, read_only=True) as reader:
                    openings.append(len(contents(reader)))
            except BaseException as error:
                failures.append(error)

    with opened(path) as agent:
        fill(agent, 0, 400)
        agent.checkpoint()
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for n in range(12):
            agent.erase(f"m{n}", by="ben", why="x")
        stop.set()
        for thread in threads:
            thread.join()
    assert failures == []
    assert len(openings) > 4 and set(openings) <= set(range(388, 401))

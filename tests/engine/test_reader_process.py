"""A reader in another process sees each commit at once, answers to the bit, and blocks no other."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import recollex
from recollex_engine.models.embedder import GivenVectors
from recollex_engine.writing import checkpoint

CHILD = Path(__file__).with_name("reader_child.py")
QUERIES = ["tea in the garden", '"the cello" quokka', "Ann", "zymurgy letter"]
WORDS = ["tea", "garden", "the", "cello", "a", "train", "letter", "puppy", "Ann", "Ben", "lost"]


class Child:
    def __init__(self, folder, queries, reopen_rows):
        path = os.pathsep.join(path for path in sys.path if path)
        self.process = subprocess.Popen(
            [sys.executable, str(CHILD), str(folder), str(queries), str(reopen_rows)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            text=True,
        )
        assert self.process.stdout.readline() == "ready\n"

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def answer(self):
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.send("quit")
        assert self.process.wait(10) == 0
        self.process.stdin.close()
        self.process.stdout.close()


@pytest.fixture
def random():
    return np.random.default_rng(5)


@pytest.fixture
def queries(tmp_path, random):
    vectors = random.standard_normal((len(QUERIES), 16)) + 0.5
    path = tmp_path / "queries.json"
    path.write_text(json.dumps(list(zip(QUERIES, vectors.tolist(), strict=True))))
    return path


@pytest.fixture
def agent(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "SEGMENT_ROWS", 64)
    monkeypatch.setattr(checkpoint, "LOG_BYTES", 20_000)
    store = recollex.open(tmp_path / "store", embedder=GivenVectors(16), durability="off")
    yield store.agent("a")
    store.close()


def retain(agent, random, count=4):
    texts = [" ".join(random.choice(WORDS, 6)) for _ in range(count)]
    texts[0] = texts[0] if random.random() < 0.9 else "a quokka with zymurgy"
    ids = [None if random.random() < 0.7 else f"m{random.integers(9)}" for _ in texts]
    vectors = random.standard_normal((count, 16)) + 0.5
    return agent.retain_many(texts, id=ids, embedding=vectors, tags=["x"])


def recalls(agent, queries):
    asked = json.loads(queries.read_text())
    found = [agent.recall(text, query_embedding=vector) for text, vector in asked]
    return json.loads(json.dumps([[r.op, r.tokens, r.to_dict()["memories"]] for r in found]))


@pytest.mark.parametrize("reopen_rows", [50, 10**9])
def test_a_reader_in_another_process_answers_to_the_bit(
    tmp_path, agent, queries, random, reopen_rows
):
    retain(agent, random)
    child = Child(tmp_path / "store", queries, reopen_rows)
    for step in range(25):
        for _ in range(int(random.integers(1, 6))):
            retain(agent, random, int(random.integers(1, 8)))
        if step % 3 == 1:
            agent.forget(agent.list(limit=20)[int(random.integers(0, 10))].id)
        if step % 5 == 2:
            agent.checkpoint()
        child.send("recall")
        assert child.answer() == recalls(agent, queries)
    log = tmp_path / "store" / "agents" / "a" / "log"
    assert len(list(log.glob("*.jsonl.gz"))) >= 2
    assert agent.stats().passages > 3 * 64
    child.close()


def test_a_reader_in_another_process_looks_back_to_the_bit(tmp_path, agent, queries, random):
    retain(agent, random)
    child = Child(tmp_path / "store", queries, 50)
    noted = {}
    for step in range(12):
        retain(agent, random, int(random.integers(1, 8)))
        if step % 3 == 1:
            agent.forget(agent.list(limit=20)[int(random.integers(0, 10))].id)
        if step % 4 == 2:
            agent.checkpoint()
        moment = agent.log()[-1].recorded_at
        noted[moment] = recalls(agent.at(moment), queries)
        for then in list(noted)[:: max(1, len(noted) // 3)]:
            child.send(f"recall {then.isoformat()}")
            assert child.answer() == noted[then]
    child.close()


def test_a_commit_is_seen_at_once_and_the_writer_never_waits(tmp_path, agent, queries, random):
    retain(agent, random)
    agent.checkpoint()
    child = Child(tmp_path / "store", queries, 200)
    first = agent.stats().operations
    published, took = {}, []
    child.send(f"poll {first + 1 + 400}")  # each retain below is one operation; see the last
    for step in range(401):
        started = time.monotonic_ns()
        agent.retain("Ann lost the tea", embedding=random.standard_normal(16))
        published[first + 1 + step] = time.monotonic_ns()
        took.append(time.monotonic_ns() - started)
        if step % 100 == 50:
            agent.checkpoint()
        time.sleep(0.001)
    seen, late = first, []
    for op, at, missed in child.answer():
        # whatever look began after a commit was published has seen it
        assert all(missed < published[each] for each in range(seen + 1, op + 1))
        seen = op
        if op in published:
            late.append((at - published[op]) / 1e6)
    assert seen == first + 401
    print(
        f"seen {np.median(late):.3f} ms after retain returned (p50 of {len(late)}); "
        f"retain {np.median(took) / 1e6:.3f} ms"
    )
    child.close()
    # With a reader that stopped reading in the middle of everything, writing goes on.
    child = Child(tmp_path / "store", queries, 200)
    child.process.send_signal(19)
    started = time.monotonic()
    for _ in range(20):
        retain(agent, random)
    agent.checkpoint()
    assert time.monotonic() - started < 5
    child.process.send_signal(18)
    child.send("recall")
    assert child.answer() == recalls(agent, queries)
    child.close()

"""Kill the writer at any moment: what it acknowledged is there, and nothing is half there.

A child retains, replaces, forgets and checkpoints from several threads, and says so on a pipe,
before each call that takes something away and after each call that returned. The parent kills it,
opens what is left, and compares. Runs of one chain share a store, so a recovery is recovered from.
"""

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field

import numpy as np
import pytest

import recollex
from recollex_engine.writing import checkpoint
from recollex_engine.writing import graph_building as graphs

D = 32
CONSTANTS = {
    "TAIL_ROWS": 48,
    "SEGMENT_ROWS": 512,
    "GRAPH_ROWS": 256,
    "GRAPH_STEP": 128,
    "GRAPH_MOST": 512,
    "LOG_BYTES": 60_000,
}
"""A checkpoint every few calls, several segments, graphs and log files within a second."""

CHILD = """
import os, random, sys, tempfile, threading
import numpy as np
import recollex
from recollex_engine.writing import checkpoint
from recollex_engine.writing import graph_building as graphs
for name, value in eval(sys.argv[4]).items():
    setattr(graphs if name.startswith("GRAPH") else checkpoint, name, value)

def say(line):
    os.write(1, line.encode() + b"\\n")

def work(agent, run, thread):
    rng = random.Random(f"{run} {thread}")
    vectors = np.random.default_rng(thread).normal(size=(64, 32)).astype(np.float32)
    mine = {}
    n = 0
    while True:
        n += 1
        act = rng.random()
        if act < 0.7 or not mine:
            count = rng.choice((1, 1, 2, 3, 8, 20))
            ids = [f"{run}-{thread}-{n}-{i}/{count}" for i in range(count)]
            texts = [f"{id}: first words of {rng.choice('abcdef') * 3}." for id in ids]
            if n % 7 == 0:
                texts[0] += " It is long." * 80
            first = rng.randrange(64 - count)
            agent.retain(texts, id=ids, tags=["t"], embedding=vectors[first : first + count])
            say("+ " + " ".join(ids))
            mine |= dict.fromkeys(ids, 1)
        elif act < 0.85:
            id = rng.choice(list(mine))
            say(f"? {id} {mine[id] + 1}")
            mine[id] += 1
            agent.retain(f"{id}: words number {mine[id]}.", id=id, embedding=vectors[n % 64])
            say(f"= {id} {mine[id]}")
        elif act < 0.98:
            ids = rng.sample(list(mine), min(len(mine), rng.choice((1, 3))))
            say("! " + " ".join(ids))
            agent.forget(ids)
            say("- " + " ".join(ids))
            for id in ids:
                del mine[id]
        else:
            agent.checkpoint()

with tempfile.TemporaryDirectory() as folder, recollex.open(
    folder, embedder=recollex.GivenVectors(32)
) as store:  # load the kernels
    agent = store.agent("warm")
    agent.retain([f"Some {n} words." for n in range(60)], embedding=np.eye(60, 32) + 0.1)
    agent.checkpoint()
say("ready")
run = sys.stdin.readline().strip()
store = recollex.open(sys.argv[1], embedder=recollex.GivenVectors(32), durability=sys.argv[2])
agent = store.agent("a")
say("open")
threading.excepthook = lambda found: say(f"failed {found.exc_value!r}")
threads = [
    threading.Thread(target=work, args=(agent, run, thread)) for thread in range(int(sys.argv[3]))
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@dataclass
class Expected:
    """What the children said."""

    versions: dict[str, int] = field(default_factory=dict)  # acknowledged and not forgotten
    forgotten: set[str] = field(default_factory=set)
    replacing: dict[str, int] = field(default_factory=dict)  # asked for, not acknowledged
    forgetting: list[set[str]] = field(default_factory=list)  # the same, call by call

    def hear(self, line):
        sign, *words = line.split()
        if sign == "+":
            self.versions |= dict.fromkeys(words, 1)
        elif sign == "?":
            self.replacing[words[0]] = int(words[1])
        elif sign == "=":
            self.versions[words[0]] = int(words[1])
            del self.replacing[words[0]]
        elif sign == "!":
            self.forgetting.append(set(words))
        elif sign == "-":
            for id in words:
                del self.versions[id]
            self.forgotten |= set(words)
            self.forgetting.remove(set(words))
        else:
            raise AssertionError(line)

    def check(self, memories):
        """Compare with what is there, and take it as what is expected from now on."""
        found = {memory.id: memory.text for memory in memories}
        assert len(found) == len(memories)
        assert not found.keys() & self.forgotten
        for call in self.forgetting:
            assert call <= found.keys() or not call & found.keys()  # all of it or nothing
        self.forgotten |= {id for call in self.forgetting for id in call} - found.keys()
        lost = self.versions.keys() - found.keys() - self.forgotten
        assert not lost, lost
        batches = {}
        for id, text in found.items():
            version = 1 if "first words" in text else int(text.rsplit(" ", 1)[1].rstrip("."))
            assert text.startswith(f"{id}: ") and text.endswith("."), text
            allowed = {self.versions.get(id, 1), self.replacing.get(id)}
            assert version in allowed, (id, version, allowed)
            self.versions[id] = version
            batches.setdefault(id.rsplit("-", 1)[0], []).append(id)
        for batch, ids in batches.items():
            count = int(ids[0].rsplit("/", 1)[1])
            whole = {f"{batch}-{i}/{count}" for i in range(count)}
            assert not whole - set(ids) - self.forgotten, (batch, ids)
        for id in self.forgotten:
            self.versions.pop(id, None)
        self.forgetting, self.replacing = [], {}


def start(path, durability, threads):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    environment |= {"OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, path, durability, str(threads), repr(CONSTANTS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    )


def kill_once(child, run, rng, expected):
    """Let the child work for a moment, kill it, and take in what it said; return how much."""
    assert child.stdout.readline() == b"ready\n"
    child.stdin.write(f"{run}\n".encode())
    child.stdin.flush()
    if rng.random() < 0.75:  # else it may be killed while it opens and recovers
        assert child.stdout.readline() == b"open\n"
    time.sleep(rng.uniform(0, 0.15))
    os.kill(child.pid, signal.SIGKILL)
    lines = child.stdout.read().decode().splitlines()
    assert child.wait() == -signal.SIGKILL
    child.stdin.close()
    child.stdout.close()
    for line in lines:
        if line != "open":
            expected.hear(line)
    return len(lines)


def inspect(path, run, expected):
    """Check what is left of the store, as a reader and as the next writer sees it."""
    vector = np.random.default_rng(1000 + run).normal(size=D)
    with recollex.open(path, embedder=recollex.GivenVectors(D), read_only=True) as store:
        before = store.agent("a").list(limit=1_000_000)
    with recollex.open(path, embedder=recollex.GivenVectors(D)) as store:
        agent = store.agent("a")
        memories = agent.list(limit=1_000_000)
        assert memories == before
        expected.check(memories)
        assert agent.verify().problems == ()
        (id,) = agent.retain(f"{run}-x-1-0/1: first words.", id=f"{run}-x-1-0/1", embedding=vector)
        expected.versions[id] = 1
        found = agent.recall("first words", query_embedding=vector, exact=True)
        assert found[0].id == id and not found.trace.errors
        return agent.stats()


def kill_repeatedly(path, durability, runs, seed):
    rng = random.Random(f"{durability} {seed}")
    expected = Expected()
    said = segments = 0
    following = start(path, durability, 3)
    child = None
    try:
        for run in range(runs):
            child = following
            following = start(path, durability, rng.choice((1, 3, 4))) if run + 1 < runs else None
            said += kill_once(child, run, rng, expected)
            stats = inspect(path, run, expected)
            segments = len(list(path.glob("agents/a/segment-*/postings-*")))
    finally:
        for each in (child, following):
            if each is not None and each.returncode is None:
                each.kill()
                each.communicate()
    return said, segments, stats


@pytest.fixture(autouse=True)
def small_checkpoints(monkeypatch):
    for name, value in CONSTANTS.items():
        monkeypatch.setattr(graphs if name.startswith("GRAPH") else checkpoint, name, value)


@pytest.mark.parametrize("durability", ["always", "off"])
def test_killed_at_any_moment_nothing_acknowledged_is_lost(tmp_path, durability):
    said, segments, stats = kill_repeatedly(tmp_path / "s", durability, 10, seed=1)
    assert said > 50 and segments and stats.forgotten


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("durability", ["always", "interval", "off"])
def test_killed_two_hundred_times(tmp_path, durability, seed):
    said, _segments, stats = kill_repeatedly(tmp_path / "s", durability, 7, seed + 10)
    assert said > 20 and stats.operations

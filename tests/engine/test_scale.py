"""A million rows: a second process reads them in a gigabyte of its own while the first writes."""

import json
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import recollex
from recollex_engine.writing import checkpoint as graphs

ROWS = 1_000_000
D = 64
BATCH = 10_000
LIMIT = 1 << 30
USED = 320 << 20
"""What it may come to need of that: pages of files count only where they are changed in place."""
QUERIES = 12
WORDS = [f"w{n}" for n in range(4000)]

READER = """
import json, os, resource, sys, time
limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
import numpy as np
import recollex

D, queries = int(sys.argv[3]), json.loads(sys.argv[4])
vectors = np.random.default_rng(7).normal(size=(len(queries), D))

def status(name):
    for line in open("/proc/self/status"):
        if line.startswith(name + ":"):
            return int(line.split()[1]) << 10

store = recollex.open(sys.argv[1], embedder=recollex.GivenVectors(D), read_only=True)
agent = store.agent("a")

def answer():
    found = []
    for query, vector in zip(queries, vectors):
        for exact in (False, True):  # without, as far as there are graphs already
            recall = agent.recall(query, query_embedding=vector, exact=exact)
            assert len(recall) and not recall.trace.errors, recall.trace.errors
        found.append([(memory.id, memory.score) for memory in recall])
    return found

started = time.perf_counter()
found = answer()
first = time.perf_counter() - started
print(json.dumps({"answers": found, "op": agent.engine.view().op, "seconds": first}), flush=True)
sys.stdin.readline()  # the writer has written more
times = []
for _ in range(3):
    started = time.perf_counter()
    found = answer()
    times.append(time.perf_counter() - started)
last = agent.get(sys.stdin.readline().strip())
print(json.dumps({
    "memories": agent.stats().memories,
    "last": last.text,
    "anonymous": status("RssAnon"),
    "data": status("VmData"),
    "file": status("RssFile"),
    "seconds": min(times),
}), flush=True)
"""


def batch(rng, first, count):
    """Texts of six words, rare and common ones, and vectors without structure."""
    numbers = np.minimum(rng.zipf(1.3, (count, 6)), len(WORDS)) - 1
    texts = [" ".join(WORDS[n] for n in line) + f" n{first + i}" for i, line in enumerate(numbers)]
    return texts, rng.normal(size=(count, D)).astype(np.float32)


def write(agent, rng, first, count):
    texts, vectors = batch(rng, first, count)
    return agent.retain_many(texts, id=[f"m{first + n}" for n in range(count)], embedding=vectors)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Random vectors have no neighbours worth a link, so none are looked for."""
    path = tmp_path_factory.mktemp("scale") / "store"
    embedder = recollex.GivenVectors(D, links=False)
    with recollex.open(path, embedder=embedder, durability="off") as store:
        agent, rng = store.agent("a"), np.random.default_rng(0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(graphs, "GRAPH_ROWS", 2 * ROWS)  # they are built while others read
            started = time.perf_counter()
            for first in range(0, ROWS, BATCH):
                write(agent, rng, first, BATCH)
            rate = ROWS / (time.perf_counter() - started)
            agent.checkpoint()
        print(f"\nwritten: {rate:,.0f} a second", flush=True)
        yield store


@pytest.mark.slow
def test_a_million_rows_are_read_in_a_gigabyte_while_they_are_written(store):
    agent, rng = store.agent("a"), np.random.default_rng(1)
    queries = [" ".join(rng.choice(WORDS[:2000], 3)) for _ in range(QUERIES)]
    vectors = np.random.default_rng(7).normal(size=(QUERIES, D))

    expected = [
        [[memory.id, memory.score] for memory in agent.recall(query, query_embedding=v, exact=True)]
        for query, v in zip(queries, vectors, strict=True)
    ]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", READER, store.path, str(LIMIT), str(D), json.dumps(queries)]
    stop = threading.Event()
    written = []

    def keep_writing():
        first = ROWS
        while not stop.is_set():
            written.extend(write(agent, rng, first, 100))
            first += 100
            time.sleep(0.02)

    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as reader:
        try:
            before = json.loads(reader.stdout.readline())
            assert before["answers"] == expected
            thread = threading.Thread(target=keep_writing)
            thread.start()
            reader.stdin.write("\n")
            reader.stdin.flush()
            time.sleep(5)
            stop.set()
            thread.join()
            reader.stdin.write(f"{written[-1]}\n")
            reader.stdin.flush()
            after = json.loads(reader.stdout.readline())
        finally:
            stop.set()
            reader.kill()
    shown = {name: f"{after[name] >> 20} MB" for name in ("anonymous", "data", "file")}
    print(f"{after['seconds'] * 500 / QUERIES:.1f} ms a recall, {shown}")
    assert after["memories"] == ROWS + len(written)
    assert after["last"].endswith(f" n{ROWS + len(written) - 1}")
    assert after["anonymous"] < after["data"] < USED

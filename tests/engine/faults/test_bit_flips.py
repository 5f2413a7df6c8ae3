"""Bits that flip on the disk: nothing dies, and no answer is wrong in silence.

Every file of a store is flipped in many places, one bit at a time, and opened for reading and for
writing in a process of its own. What it answers is compared with what it answered before. It may
answer the same, or warn, or raise an error of recollex. After it was opened for writing with
the same answers, the next opening has nothing to say.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from recollex_engine.state import integrity
from recollex_engine.storage.array_file import read_arrays, whole_file
from tests.engine.faults import flipped_store

ROOT = Path(__file__).parents[3]
PATIENCE = 60
"""Seconds after which a process counts as hanging."""
PLACES = int(os.environ.get("RECOLLEX_FLIPS", "20000"))
BATCH = 50


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("flips") / "store"
    flipped_store.make(path)
    return path


def places_in(store, count, seed):
    """Return ``count`` places (file, byte, bit), as many in small files as in large ones."""
    rng = random.Random(seed)
    files = [path for path in sorted(store.rglob("*")) if path.is_file() and path.stat().st_size]
    chosen = [files[number % len(files)] for number in range(count)]
    return [
        [str(path.relative_to(store)), rng.randrange(path.stat().st_size), rng.randrange(8)]
        for path in chosen
    ]


class Flipping:
    """Processes that try places, and what came of each."""

    def __init__(self, store, folder, eager=integrity.EAGER):
        self.eager = eager
        self.store = store
        self.folder = folder
        self.found = []
        self._lock = threading.Lock()

    def run(self, jobs, processes=2):
        """Try all ``jobs``, (mode, places)."""
        left = list(jobs)
        threads = [
            threading.Thread(target=self._work, args=(left, self.folder / f"own{number}"))
            for number in range(processes)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return self.found

    def _work(self, left, own):
        child = None
        while True:
            with self._lock:
                if not left:
                    break
                mode, places = left.pop()
            while places:
                child = child or self._start()
                done = self._ask(child, own, mode, places)
                places = places[done:]
                if places:  # it died or hung at the first of those that are left
                    child.kill()
                    how = child.wait()
                    result = f"death by {how}"
                    self.found.append({"place": places[0], "mode": mode, "result": result})
                    places, child = places[1:], None
        if child is not None:
            child.stdin.close()
            child.stdout.close()
            child.wait()

    def _start(self):
        return subprocess.Popen(
            [sys.executable, "-m", "tests.engine.faults.flipped_store"],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "EAGER": str(self.eager)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def _ask(self, child, own, mode, places):
        """Send a batch; return how many of its places were tried before the process ended."""
        child.stdin.write(json.dumps([str(self.store), str(own), mode, places]) + "\n")
        child.stdin.flush()
        done = 0
        while True:
            timer = threading.Timer(PATIENCE, child.kill)
            timer.start()
            line = child.stdout.readline()
            timer.cancel()
            if not line:
                return done
            if line.startswith("{"):
                self.found.append(json.loads(line))
                done += 1
            elif line.startswith("done"):
                return len(places)


def faults(found):
    """Return what must not happen.

    An error of Python must have come with a warning of the damaged file: a large agent may read
    text that is no UTF-8 before it is compared.
    """
    wrong = []
    for each in found:
        result, said = each["result"], each.get("warnings", ())
        bad = result.startswith("death") or (result.startswith(("wrong", "foreign")) and not said)
        if bad or list(each.get("again", ("same", []))) != ["same", []]:
            wrong.append(each)
    return wrong


def sample(places, eager):
    return random.Random(eager).sample(places, 32)


@pytest.mark.parametrize("eager", [integrity.EAGER, 0], ids=["small", "large"])
def test_a_flipped_bit_in_any_file_is_never_a_wrong_answer_in_silence(store, tmp_path, eager):
    """An agent is large if its files are compared beside the first recalls, here all of them."""
    places = sample(places_in(store, 240, seed=1), eager)
    jobs = [("ro", places[:22]), ("rw", places[22:])]
    found = Flipping(store, tmp_path, eager).run(jobs)
    assert len(found) == len(places)
    assert faults(found) == []


def test_verify_names_a_bit_that_flips_while_the_agent_is_open(store, tmp_path):
    copy = tmp_path / "store"
    shutil.copytree(store, copy)
    folder = copy / "agents" / "a"
    with flipped_store.opened(copy, read_only=True) as opened:
        agent = opened.agent("a")
        assert agent.verify().ok
        arrays = read_arrays(folder / "segment-0001" / "postings-2")[0]
        places = {name: array.ctypes.data for name, array in arrays.items() if array.size}
        start = whole_file(arrays).ctypes.data
        assert {"limits", "dense", "greatest", "columns"} <= places.keys()
        for path, name, at in [
            *((folder / "segment-0001" / "postings-2", n, p - start) for n, p in places.items()),
            *((next(folder.glob("graphs/*")), "", at) for at in (50_000, 120_000, 190_000)),
        ]:
            flipped_store.flip(path, at, 3)
            problems = agent.verify().problems
            assert any(path.name in each or f"differ in {name}" in each for each in problems), name
            flipped_store.flip(path, at, 3)
        assert agent.verify().ok


def test_closing_a_writer_rebuilds_what_was_not_compared_before(store, tmp_path, monkeypatch):
    monkeypatch.setattr(integrity, "EAGER", 0)
    monkeypatch.setattr(integrity, "PAUSE", 60)
    copy = tmp_path / "store"
    shutil.copytree(store, copy)
    flipped_store.flip(copy / "agents" / "a" / "columns" / "event_ids.heap", 9, 3)
    said = pytest.warns(RuntimeWarning, match=r"event_ids.heap: expected checksum")
    with said, flipped_store.opened(copy) as opened:
        opened.agent("a")
    with flipped_store.opened(copy, read_only=True) as opened:
        assert opened.agent("a").verify().ok


@pytest.mark.slow
@pytest.mark.parametrize("eager", [integrity.EAGER, 0], ids=["small", "large"])
def test_many_flipped_bits(store, tmp_path, eager):
    places = places_in(store, PLACES, seed=2)
    jobs = [
        (mode, places[first : first + BATCH])
        for first in range(0, PLACES, BATCH)
        for mode in ("ro", "rw")
    ]
    found = Flipping(store, tmp_path, eager).run(jobs)
    assert len(found) == 2 * len(places)
    wrong = faults(found)
    assert wrong == [], f"{len(wrong)} of {len(found)}: {wrong[:20]}"

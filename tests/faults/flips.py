"""Flips bits in the files of a store: `python -m tests.faults.flips --places 20000`.

One bit is flipped in each place, as many places in small files as in large ones. Processes that
stay open the store with it, for reading and for writing, and ask everything; a process that dies or
hangs is a fault, and another goes on after that place. What is answered is compared with what was
answered before. It may be the same, or be an error of recollex. What is the same after opening for
writing has nothing to say when it is opened again. Half of the places are tried as in a large
agent, whose files are compared with their checksums beside the first recalls: these may differ,
but then a warning comes, and after it the answers are the same.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path

from recollex_engine.state import integrity
from tests.engine.faults import flipped_store
from tests.faults.checking import SHM
from tests.faults.progress import Progress

ROOT = Path(__file__).parents[2]
PATIENCE = 300
"""Seconds after which a process counts as hanging."""
BATCH = 50
UNSAID = ("foreign", "UnknownIdError", "InputError")
"""Results that are faults unless a warning came with them."""
LOST = "similarities to some passages are wrong"
"""A warning: vectors that a caller gave cannot be made again."""


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

    def __init__(self, store, folder, eager=integrity.EAGER, heard=lambda found: None, key=None):
        """``heard(found)`` is called with what came of each opening; ``key``: of the store."""
        self.eager = eager
        self.key = key
        self.heard = heard
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
                    self._hear({"place": places[0], "mode": mode, "result": result})
                    places, child = places[1:], None
        if child is not None:
            child.stdin.close()
            child.stdout.close()
            child.wait()

    def _start(self):
        return subprocess.Popen(
            [sys.executable, "-m", "tests.engine.faults.flipped_store"],
            cwd=ROOT,
            env=os.environ
            | {
                "PYTHONPATH": os.pathsep.join(sys.path),
                "EAGER": str(self.eager),
                "KEY": (self.key or b"").hex(),
                "OPENBLAS_NUM_THREADS": "1",
            },
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
                self._hear(json.loads(line))
                done += 1
            elif line.startswith("done"):
                return len(places)

    def _hear(self, found):
        with self._lock:
            self.found.append(found)
            self.heard(found)


def is_fault(found):
    """Return whether this must not happen.

    Of a flipped vector there is only a warning, if its caller gave it. An error of Python must have
    come with a warning of the damaged file: a large agent may read text that is no UTF-8 before it
    is compared.
    """
    result, said = found["result"], found.get("warnings", ())
    if result.startswith("death") or (result.startswith(UNSAID) and not said):
        return True
    if result == "wrong" and not any(LOST in each for each in said):
        return True
    again, said_again = found.get("again", ("same", []))
    return again != "same" or not all(LOST in each for each in said_again)


def kind_of(name):
    """Return what kind of file a place is in, for the table."""
    path = Path(name)
    if path.parent.name in ("columns", "graphs", "log"):
        return path.parent.name
    return path.parent.name.split("-")[0] + "/" if "segment" in name else path.name


def run(store, folder, count, seed=1, tell=print, key=None):
    """Try ``count`` places; return what must not have happened, and a table of what did."""
    places = places_in(store, count, seed)
    wrong, table = [], Counter()
    progress = Progress("openings with a flipped bit", 2 * count, tell)

    def heard(found):
        fault = is_fault(found)
        if fault:
            wrong.append(found)
            tell("FAILED " + json.dumps(found)[:2000])
        said = "warned" if found.get("warnings") else "silent"
        result = found["result"].split(":")[0]
        table[kind_of(found["place"][0]), f"{result}, {said}"] += 1
        progress.add(failed=fault)

    for eager, part in ((integrity.EAGER, places[::2]), (0, places[1::2])):
        jobs = [
            (mode, part[first : first + BATCH])
            for first in range(0, len(part), BATCH)
            for mode in ("ro", "rw")
        ]
        found = Flipping(store, folder, eager, heard, key).run(jobs, os.cpu_count() or 1)
        assert len(found) == 2 * len(part)
    progress.end(f" in {count:,} places")
    return wrong, table


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--places", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--encrypted", action="store_true", help="of a store of encrypted agents")
    options = parser.parse_args()
    memory = SHM if SHM.is_dir() else None
    key = bytes(range(32)) if options.encrypted else None
    with tempfile.TemporaryDirectory(prefix="recollex-flips-", dir=memory) as folder:
        store = Path(folder) / "store"
        with flipped_store.small_parts():
            flipped_store.make(store, key)
        wrong, table = run(store, Path(folder), options.places, options.seed, key=key)
    for (kind, result), count in sorted(table.items()):
        print(f"{kind:16} {result:28} {count:7,}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())

"""Kills writers at any moment: `python -m tests.faults.kills --kills 1000`.

What a writer acknowledged is there, and nothing is half there. A writer is a process that retains,
replaces, forgets and makes checkpoints from several threads, and forks meanwhile. It says so on a
pipe, before each call that takes something away and after each call that returned. It is killed
with SIGKILL, what is left is opened and compared. The children that it forked live on for a moment.
The writers of one chain share a store, so a recovery is recovered from.
"""

import argparse
import ctypes
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recollex
from recollex_engine.errors import ClosedError
from recollex_engine.writing import checkpoint
from recollex_engine.writing import checkpoint as graphs
from tests.faults.progress import Progress

D = 32
CONSTANTS = {
    (checkpoint, "TAIL_ROWS"): 48,
    (checkpoint, "SEGMENT_ROWS"): 512,
    (checkpoint, "LOG_BYTES"): 60_000,
    (graphs, "GRAPH_ROWS"): 256,
    (graphs, "GRAPH_STEP"): 128,
    (graphs, "GRAPH_MOST"): 512,
}
"""A checkpoint every few calls, several segments, graphs and log files within a second."""
CHAIN = 10
"""Writers that are killed in one store."""
HEARD = 40
"""A writer is killed after it said so many lines at most, and a moment later."""
PATIENCE = 300.0
"""Seconds after which a writer that says nothing counts as hanging."""
DURABILITIES = ("always", "interval", "off")
_SUBREAPER = 36


@contextmanager
def small_checkpoints() -> Iterator[None]:
    """Set `CONSTANTS`."""
    with pytest.MonkeyPatch.context() as patch:
        for (module, name), value in CONSTANTS.items():
            patch.setattr(module, name, value)
        yield


@dataclass
class Expected:
    """What the writers said."""

    versions: dict[str, int] = field(default_factory=dict)  # acknowledged and not forgotten
    forgotten: set[str] = field(default_factory=set)
    replacing: dict[str, int] = field(default_factory=dict)  # asked for, not acknowledged
    forgetting: list[set[str]] = field(default_factory=list)  # the same, call by call

    def hear(self, line: str) -> None:
        """Take in a line."""
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

    def check(self, memories: list[Any]) -> None:
        """Compare with what is there, and take it as what is expected from now on."""
        found = {memory.id: memory.text for memory in memories}
        assert len(found) == len(memories)
        assert not found.keys() & self.forgotten
        for call in self.forgetting:
            assert call <= found.keys() or not call & found.keys()  # all of it or nothing
        self.forgotten |= {id for call in self.forgetting for id in call} - found.keys()
        lost = self.versions.keys() - found.keys() - self.forgotten
        assert not lost, f"lost: {lost}"
        batches: dict[str, list[str]] = {}
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
            assert not whole - set(ids) - self.forgotten, f"half: {batch} has {ids}"
        for id in self.forgotten:
            self.versions.pop(id, None)
        self.forgetting, self.replacing = [], {}


def write(agent: Any, run: int, thread: int, say: Callable[[str], None]) -> None:
    """Write until the process is killed."""
    rng = random.Random(f"{run} {thread}")
    vectors = np.random.default_rng(thread).normal(size=(64, D)).astype(np.float32)
    mine: dict[str, int] = {}
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
            agent.retain_many(texts, id=ids, tags=["t"], embedding=vectors[first : first + count])
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


def fork() -> int:
    """Fork, and do not warn of threads: this is a test of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def fork_now_and_then(agent: Any, run: int, pipe: int) -> None:
    """Fork children that try to write with what they inherit, until the process is killed."""
    rng = random.Random(run)
    while True:
        time.sleep(rng.uniform(0, 0.05))
        child = fork()
        if child == 0:
            signal.alarm(10)
            try:
                agent.retain("A child was here.", embedding=np.ones(D, np.float32))
                os.write(pipe, b"failed: a forked child wrote\n")
            except ClosedError:
                pass
            except BaseException as error:
                os.write(pipe, f"failed: a forked child saw {error!r}\n".encode())
            os.close(pipe)
            time.sleep(rng.uniform(0, 0.2))  # it may outlive the writer
            os._exit(0)
        os.waitpid(child, 0) if rng.random() < 0.5 else None


def become_writer(
    path: Path, run: int, durability: Any, threads: int, forks: bool, pipe: int
) -> None:
    """Write with several threads in this process, which is a fresh child, until it is killed."""

    def say(line: str) -> None:
        os.write(pipe, line.encode() + b"\n")

    store = recollex.open(path, embedder=recollex.GivenVectors(D), durability=durability)
    agent = store.agent("a")
    say("open")
    threading.excepthook = lambda found: say(f"failed {found.exc_value!r}")
    works: list[tuple[Callable[..., None], tuple[Any, ...]]] = [
        (write, (agent, run, thread, say)) for thread in range(threads)
    ]
    if forks:
        works.append((fork_now_and_then, (agent, run, pipe)))
    running = [threading.Thread(target=work, args=arguments) for work, arguments in works]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


def kill_one(path: Path, run: int, durability: str, rng: random.Random, expected: Expected) -> int:
    """Let a writer work for a moment, kill it, and take in what it said; return how much."""
    ours, theirs = os.pipe()
    threads, forks = rng.choice((1, 3, 4)), rng.random() < 0.5
    child = fork()
    if child == 0:
        os.close(ours)
        try:
            become_writer(path, run, durability, threads, forks, theirs)
        except BaseException as error:
            os.write(theirs, f"failed {error!r}\n".encode())
        os._exit(1)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        lines = []
        hung = threading.Timer(PATIENCE, os.kill, (child, signal.SIGKILL))
        try:
            hung.start()
            if rng.random() < 0.75:  # else it may be killed while it opens and recovers
                lines += [pipe.readline() for _ in range(1 + rng.randrange(HEARD))]
            time.sleep(rng.uniform(0, 0.03))
        finally:
            assert not hung.finished.is_set(), f"it said nothing in {PATIENCE} s"
            hung.cancel()
            hung.join()
            os.kill(child, signal.SIGKILL)
        lines += pipe.readlines()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    said = [line.decode().strip() for line in lines if line]
    assert status == -signal.SIGKILL, (status, said[-3:])
    for line in said:
        if line and line != "open":
            expected.hear(line)
    with suppress(ChildProcessError):  # children of killed writers
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return len(said)


def inspect(path: Path, run: int, expected: Expected) -> Any:
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
        id = agent.retain(f"{run}-x-1-0/1: first words.", id=f"{run}-x-1-0/1", embedding=vector)
        expected.versions[id] = 1
        found = agent.recall("first words", query_embedding=vector, exact=True)
        assert found[0].id == id and not found.trace.errors
        return agent.stats()


def warm_up() -> None:
    """Load the kernels, so that writers are at work at once."""
    with (
        tempfile.TemporaryDirectory() as folder,
        recollex.open(folder, embedder=recollex.GivenVectors(D)) as store,
    ):
        agent = store.agent("warm")
        agent.retain_many([f"Some {n} words." for n in range(60)], embedding=np.eye(60, D) + 0.1)
        agent.checkpoint()


def storm(
    path: Path, durability: str, kills: int, seed: object, told: Callable[[], None] = lambda: None
) -> tuple[int, int, Any]:
    """Kill writers of one store; return how much they said, the segments, and the last stats."""
    rng = random.Random(f"{durability} {seed}")
    expected = Expected()
    said = segments = 0
    stats = None
    with small_checkpoints():
        for run in range(kills):
            said += kill_one(path, run, durability, rng, expected)
            stats = inspect(path, run, expected)
            segments = len(list(path.glob("agents/a/segment-*/postings-*")))
            told()
    return said, segments, stats


def main(arguments: list[str] | None = None) -> int:
    """Run; return 0 if nothing was lost."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", dest="first", type=int, default=0, help="the chain to begin at")
    options = parser.parse_args(arguments)
    with suppress(OSError):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)  # orphans are waited for here
    warm_up()
    progress = Progress("kills of writers", options.kills)
    said, chain = 0, options.first
    while progress.done < options.kills and progress.failed <= 20:
        durability = DURABILITIES[chain % len(DURABILITIES)]
        path = Path(tempfile.mkdtemp(prefix="recollex-kills-"))
        before = progress.done
        try:
            said += storm(path / "s", durability, CHAIN, f"{options.seed} {chain}", progress.add)[0]
            shutil.rmtree(path)
        except Exception as error:
            progress.add(int(progress.done == before), failed=1)
            print(f"FAILED chain {chain}, {durability}, kept in {path}: {error!r}", flush=True)
        chain += 1
    progress.end(f", {said:,} lines heard of them")
    return 1 if progress.failed else 0


if __name__ == "__main__":
    sys.exit(main())

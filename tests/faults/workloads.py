"""What the engine does to its files: small workloads, recorded."""

import os
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recollex
from recollex_engine.agents.cut import Cut
from recollex_engine.errors import RecollexError
from recollex_engine.log import writer as log_writer
from recollex_engine.log.reader import LogFollower
from recollex_engine.state import read_replica
from recollex_engine.writing import checkpoint, maintenance
from recollex_engine.writing import checkpoint as graphs
from tests.engine.faults.small_store import D, Model, fill, text, vectors
from tests.faults.digests import NOTHING, Digest, digest
from tests.faults.recorder import Event, Promise, Recording, Tree, recording

SMALL = {
    (checkpoint, "TAIL_ROWS"): 1 << 20,  # checkpoints are made where a workload says so
    (checkpoint, "SEGMENT_ROWS"): 16,
    (checkpoint, "LOG_BYTES"): 6_000,
    (maintenance, "CLOSING_TAIL"): 12,
    (graphs, "GRAPH_ROWS"): 1 << 20,
    (log_writer, "WORTH_COMPRESSING"): range(1_000, 1 << 20),
    (read_replica, "ERASING_SECONDS"): 0.02,  # no other process goes on with an erasure
}
"""Small segments and log files, so that a few memories have several of each."""

ENCRYPTED = "encrypted "
"""How the names of workloads begin whose agents are encrypted."""
KEY: bytes | None = None
"""The key of the agents of the workload that `small_files` has prepared."""

SMALL_GRAPHS = {"GRAPH_ROWS": 16, "GRAPH_STEP": 16, "GRAPH_MOST": 64}
SECRET = "Zanzibarina"
LATER = timedelta(days=36_500)


class OtherModel(Model):
    """A second model in miniature, whose vectors differ."""

    fingerprint = "other-miniature"

    def embed_query(self, text: str) -> Any:
        """Return another vector for each text."""
        return np.roll(super().embed_query(text), 5)


EMBEDDERS: dict[str, Callable[[], Any]] = {
    "given": lambda: recollex.GivenVectors(D),
    "model": Model,
    "other": OtherModel,
}


@dataclass
class Recorded:
    """What happened to the disk, and what each store held at the end of each operation.

    expected: by place, then by operation; at an operation that erased something, and before one,
    what was held before.
    """

    start: Tree
    events: list[Event]
    expected: dict[str, dict[int, Digest]]


class Work:
    """Stores that are worked with; after each step, what they now promise is noted."""

    def __init__(self, held: Recording, root: Path, durability: str, reads: bool = True) -> None:
        self.held = held
        self.root = root
        self.durability = durability
        self.reads = reads
        self.expected: dict[str, dict[int, Digest]] = {"s": {0: NOTHING}}
        self.durable = 0
        self.gone: tuple[bytes, ...] = ()
        self.embedder = "given"

    def open(self, embedder: str = "") -> None:
        """Open the store for writing."""
        self.embedder = embedder or self.embedder
        self.store = recollex.open(
            self.root / "s",
            embedder=EMBEDDERS[self.embedder](),
            durability=self.durability,
            key=KEY,
        )
        self.agent = self.store.agent("a")

    def step(self, act: Callable[[Any], object], *, flushes: bool = False) -> None:
        """Do something with the agent; ``flushes``: it makes everything durable in any mode."""
        act(self.agent)
        op = self.agent.stats().operations
        if flushes or self.durability == "always":
            self.durable = op
        self.promise(op)
        self.note(self.agent)

    def promise(self, op: int, **more: Any) -> None:
        """Promise operation ``op`` of the store in s."""
        self.held.promise(Promise("s", op, self.durable, self.gone, **more))

    def note(self, agent: Any, place: str = "s") -> None:
        """Note what an agent held at the end of each transaction that is new."""
        if not self.reads:
            return
        self.held.counts = False  # these calls are not the workload's
        expected = self.expected.setdefault(place, {0: NOTHING})
        known = max(expected)
        follower = LogFollower(agent.engine.folder / "log")
        shown = agent.stats().operations  # of a call that failed, the log may hold more
        for transaction in follower.read_new(shown):
            op = transaction.position.op
            if op > known:
                expected[op] = digest(type(agent)(Cut(agent.engine, op, transaction.recorded_at)))
        follower.close()
        self.held.counts = True

    def note_copy(self, place: str) -> None:
        """Note what the store in another place holds: it is durable, and whole or not there."""
        self.held.counts = False
        with recollex.open(
            self.root / place, embedder=EMBEDDERS[self.embedder](), read_only=True, key=KEY
        ) as store:
            agent = store.agent("a")
            op = agent.stats().operations
            self.expected[place] = {0: NOTHING, op: digest(agent)}
        self.held.counts = True
        self.held.promise(Promise(place, op, op))

    def close(self) -> None:
        """Close the store."""
        op = self.agent.stats().operations
        self.store.close()
        if self.durability == "interval":
            self.durable = op
        self.promise(op)

    def reopen(self, embedder: str = "") -> None:
        """Close the store and open it again."""
        self.close()
        self.open(embedder)


@contextmanager
def small_files(name: str = ""):
    """Make segments and log files small, for the workload of this name."""
    with pytest.MonkeyPatch.context() as patch:
        for (module, constant), value in SMALL.items():
            patch.setattr(module, constant, value)
        if name.startswith(ENCRYPTED):
            patch.setattr(sys.modules[__name__], "KEY", bytes(range(32)))
        if name.endswith("graphs"):
            for constant, value in SMALL_GRAPHS.items():
                patch.setattr(graphs, constant, value)
        yield patch


def write_mixed(work: Work) -> None:
    """Retain, replace, correct, forget and archive memories; facts and events too."""
    work.open()
    work.step(lambda agent: fill(agent, 0, 3))
    work.step(lambda agent: fill(agent, 3, 1))
    work.step(lambda agent: agent.retain("Another owl.", id="m1", embedding=vectors(50, 1)[0]))
    work.step(lambda agent: agent.facts.add("Ann", "lives in", "Oslo", id="f", evidence=["m0"]))
    work.step(lambda agent: agent.correct("m0", "Not so.", embedding=vectors(51, 1)[0], by="Bob"))
    work.step(lambda agent: agent.forget("m2", by="Ann", why="asked"))
    work.step(lambda agent: agent.facts.correct("f", object="Rome", by="Ann"))
    work.step(lambda agent: agent.events.add("Ann moved.", participants=("Ann",), facts="f"))
    work.step(lambda agent: agent.archive("m3"))
    work.step(lambda agent: fill(agent, 4, 8))


def checkpoint_and_rotate(work: Work) -> None:
    """Make checkpoints, full log files, their compression, and several segments."""
    work.open()
    for n in range(5):
        work.step(lambda agent, n=n: fill(agent, 11 * n, 9))
        work.step(lambda agent, n=n: fill(agent, 11 * n + 9, 2))
        work.step(lambda agent, n=n: agent.forget(f"m{11 * n + 3}"))
        work.step(lambda agent: agent.checkpoint(), flushes=True)


def close_and_reopen(work: Work) -> None:
    """Close the agent with its last log file compressed, and write to it again."""
    work.open()
    for n in range(4):
        work.step(lambda agent, n=n: fill(agent, 5 * n, 3 if n % 2 else 5))
        work.reopen()
        work.step(lambda agent, n=n: agent.forget(f"m{5 * n}"))


def change_durability(work: Work) -> None:
    """Leave vectors unflushed, and flush the log in a later process that only forgets."""
    work.open()
    for n, durability in enumerate((work.durability, "always", "off", "always", "interval")):
        if n:
            work.close()
            work.durability = durability
            work.open()
        work.step(
            lambda agent, n=n: agent.forget(f"m{3 * n - 2}") if n % 2 else fill(agent, 3 * n, 5)
        )
    work.step(lambda agent: agent.forget("m0"))


def fill_or_fail(agent: Any, first: int, count: int) -> None:
    """Retain memories; a refused call stores none of them."""
    with suppress(RecollexError):
        fill(agent, first, count)


def two_at_once(work: Work) -> None:
    """A second thread appends between the flush of the vectors and that of the log."""
    work.open()
    work.step(lambda agent: fill(agent, 0, 2))
    for n in range(1, 7):
        threads: list[threading.Thread] = []

        def append(path: str, n: int = n, threads: list[threading.Thread] = threads) -> None:
            if path.endswith("jsonl") and not threads:
                before = work.agent.engine.files.opened_writer.log.position.op
                thread = threading.Thread(target=fill_or_fail, args=(work.agent, 20 * n + 10, 6))
                threads.append(thread)
                thread.start()
                log = work.agent.engine.files.opened_writer.log
                until = time.monotonic() + 0.5  # a flush that follows a refused write locks it out
                while log.position.op == before and thread.is_alive():
                    if time.monotonic() > until:
                        break

        work.held.before_sync = append
        fill(work.agent, 20 * n, 2)
        work.held.before_sync = None
        for thread in threads:
            while thread.ident is None:  # the thread that flushes is about to start it
                pass
            thread.join()
        work.step(lambda agent: None)


def erase(work: Work) -> None:
    """Erase memories, a document, and later everything; checkpoints and rotation between."""
    work.open()
    work.step(lambda agent: fill(agent, 0, 14))
    secret = f"{SECRET} said that {SECRET}'s tea is cold."
    work.step(lambda agent: agent.retain(secret, id="secret", embedding=vectors(70, 1)[0]))
    work.step(lambda agent: agent.facts.add(SECRET, "drinks", "tea", evidence=["secret"]))
    work.step(lambda agent: fill(agent, 14, 6))
    work.step(lambda agent: agent.checkpoint(), flushes=True)
    work.step(lambda agent: fill(agent, 20, 2))
    work.gone = (SECRET.encode(), secret.lower().encode())
    work.step(lambda agent: agent.erase("secret", by="Ann", why="asked"), flushes=True)
    work.step(lambda agent: fill(agent, 22, 3))
    work.step(lambda agent: agent.checkpoint(), flushes=True)
    work.reopen()
    work.step(lambda agent: agent.erase(["m1", "m23"], by="Ann", why="asked"), flushes=True)
    work.step(lambda agent: fill(agent, 30, 1))


def retain_texts(agent: Any, first: int, count: int) -> None:
    """Retain memories whose vectors the model makes."""
    texts = [text(n) for n in range(first, first + count)]
    agent.retain_many(texts, id=[f"m{n}" for n in range(first, first + count)])


def reembed(work: Work) -> None:
    """Move the agent to another model, with and without a checkpoint, and back."""
    work.open("model")
    work.step(lambda agent: retain_texts(agent, 0, 14))
    work.step(lambda agent: agent.forget("m3"))
    work.step(lambda agent: agent.checkpoint(), flushes=True)
    work.step(lambda agent: retain_texts(agent, 14, 2))
    for name in ("other", "model"):
        work.close()
        recollex.reembed(work.root / "s", "a", embedder=EMBEDDERS[name](), key=KEY)
        work.open(name)
        work.step(lambda agent: None, flushes=True)
        work.step(lambda agent, n=name: retain_texts(agent, 20 + len(n), 1))


def snapshot(work: Work) -> None:
    """Copy the agent as of now and as of earlier, and replay its log, into other stores."""
    work.open("model")
    work.step(lambda agent: retain_texts(agent, 0, 9))
    then = work.agent.get("m0").recorded_at
    work.step(lambda agent: agent.forget("m2"))
    work.step(lambda agent: agent.facts.add("Ann", "lives in", "Oslo"))
    work.step(lambda agent: agent.checkpoint(), flushes=True)
    work.step(lambda agent: retain_texts(agent, 9, 12))
    for place, moment in (("now", datetime.now(UTC) + LATER), ("earlier", then)):
        work.agent.snapshot(min(moment, datetime.now(UTC)), work.root / place)
        work.note_copy(place)
    work.close()
    log, copy = work.root / "s/agents/a", work.root / "copy"
    recollex.replay(log, copy, agent_id="a", embedder=Model(), key=KEY)
    work.note_copy("copy")
    work.open()
    work.step(lambda agent: retain_texts(agent, 40, 1))


def restore(work: Work) -> None:
    """Embed again after the vectors were removed or shortened while the store was closed."""
    path = work.root / "s/agents/a/vectors.f16"
    work.open("model")
    work.step(lambda agent: retain_texts(agent, 0, 13))
    work.step(lambda agent: retain_texts(agent, 13, 5))
    for n, harm in enumerate(("removed", "shortened", "after a checkpoint")):
        work.close()
        op = max(work.expected["s"])
        work.promise(op, readable=False)  # until the vectors are there again
        if harm == "removed":
            path.unlink()
        else:
            os.truncate(path, path.stat().st_size - 7 * 2 * D)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*are lost; embedding their texts again")
            work.open()
        work.step(lambda agent: None, flushes=True)
        work.step(lambda agent, n=n: retain_texts(agent, 20 + 2 * n, 2))
        if harm == "shortened":
            work.step(lambda agent: agent.checkpoint(), flushes=True)


def build_graphs(work: Work) -> None:
    """Build and extend graphs in the background of checkpoints."""
    work.open()
    for n in range(5):
        work.step(lambda agent, n=n: fill(agent, 20 * n, 20))
        work.step(lambda agent: agent.checkpoint(), flushes=True)
    work.step(lambda agent: agent.forget("m30"))


WORKLOADS: dict[str, Callable[[Work], None]] = {
    "mixed": write_mixed,
    "checkpoints": checkpoint_and_rotate,
    "reopened": close_and_reopen,
    "durabilities": change_durability,
    "together": two_at_once,
    "erase": erase,
    "reembed": reembed,
    "snapshot": snapshot,
    "restore": restore,
    "graphs": build_graphs,
}
WORKLOADS |= {
    ENCRYPTED + name: WORKLOADS[name]
    for name in ("mixed", "checkpoints", "erase", "reembed", "snapshot", "restore", "graphs")
}


def record(root: Path, name: str, durability: str, *, reads: bool = True) -> Recorded:
    """Run a workload below ``root`` and return its recording.

    Without ``reads`` what the agent held after each operation is not read.
    """
    with small_files(name), recording(root) as held:
        work = Work(held, root, durability, reads)
        WORKLOADS[name](work)
        work.close()
    return Recorded(held.start, held.events, work.expected)

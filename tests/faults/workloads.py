"""What the engine does to its files: small workloads, recorded."""

import threading
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import recollex
from recollex_engine.log import writer as log_writer
from recollex_engine.writing import checkpoint, maintenance
from recollex_engine.writing import graph_building as graphs
from tests.engine.faults.small_store import D, fill, vectors
from tests.faults.checking import expected_of
from tests.faults.recorder import Recording, recording

SMALL = {
    (checkpoint, "TAIL_ROWS"): 1 << 20,  # checkpoints are made where a workload says so
    (checkpoint, "SEGMENT_ROWS"): 16,
    (checkpoint, "LOG_BYTES"): 6_000,
    (maintenance, "CLOSING_TAIL"): 12,
    (graphs, "GRAPH_ROWS"): 1 << 20,
    (log_writer, "WORTH_COMPRESSING"): range(1_000, 1 << 20),
}
"""Small segments and log files, so that a few memories have several of each."""


@dataclass
class Recorded:
    """A recording, and what an agent held at the end of each operation."""

    recording: Recording
    expected: dict[int, tuple[Any, ...]]


class Work:
    """An agent that is being worked with; after each step, what it may now promise is noted."""

    def __init__(self, held: Recording, path: Path, durability: str) -> None:
        self.held = held
        self.path = path
        self.durability = durability
        self.durable = 0
        self.open()

    def open(self) -> None:
        """Open the store for writing."""
        self.store = recollex.open(
            self.path, embedder=recollex.GivenVectors(D), durability=self.durability
        )
        self.agent = self.store.agent("a")

    def step(self, act: Callable[[Any], object], *, flushes: bool = False) -> None:
        """Do something with the agent; ``flushes``: it makes everything durable in any mode."""
        act(self.agent)
        op = self.agent.stats().operations
        if flushes or self.durability == "always":
            self.durable = op
        self.held.promise(op, self.durable)

    def close(self) -> None:
        """Close the store."""
        op = self.agent.stats().operations
        self.store.close()
        if self.durability == "interval":
            self.durable = op
        self.held.promise(op, self.durable)

    def reopen(self) -> None:
        """Close the store and open it again."""
        self.close()
        self.open()


@contextmanager
def small_files():
    """Make segments and log files small."""
    with pytest.MonkeyPatch.context() as patch:
        for (module, name), value in SMALL.items():
            patch.setattr(module, name, value)
        yield patch


def write_mixed(work: Work) -> None:
    """Retain, replace, forget and archive memories; add and correct facts."""
    work.step(lambda agent: fill(agent, 0, 3))
    work.step(lambda agent: fill(agent, 3, 1))
    work.step(lambda agent: agent.retain("Another owl.", id="m1", embedding=vectors(50, 1)[0]))
    work.step(lambda agent: agent.facts.add("Ann", "lives in", "Oslo"))
    work.step(lambda agent: agent.forget("m2"))
    work.step(lambda agent: agent.archive("m3"))
    work.step(lambda agent: fill(agent, 4, 8))


def checkpoint_and_rotate(work: Work) -> None:
    """Make checkpoints, full log files, their compression, and several segments."""
    for n in range(5):
        work.step(lambda agent, n=n: fill(agent, 11 * n, 9))
        work.step(lambda agent, n=n: fill(agent, 11 * n + 9, 2))
        work.step(lambda agent, n=n: agent.forget(f"m{11 * n + 3}"))
        work.step(lambda agent: agent.checkpoint(), flushes=True)


def close_and_reopen(work: Work) -> None:
    """Close the agent with its last log file compressed, and write to it again."""
    for n in range(4):
        work.step(lambda agent, n=n: fill(agent, 5 * n, 3 if n % 2 else 5))
        work.reopen()
        work.step(lambda agent, n=n: agent.forget(f"m{5 * n}"))


def two_at_once(work: Work) -> None:
    """A second thread appends between the flush of the vectors and that of the log."""
    work.step(lambda agent: fill(agent, 0, 2))
    for n in range(1, 7):
        threads = []

        def append(path: str, n: int = n, threads: list[threading.Thread] = threads) -> None:
            if path.endswith("jsonl") and not threads:
                before = work.agent.engine.files.opened_writer.log.position.op
                thread = threading.Thread(target=fill, args=(work.agent, 20 * n + 10, 6))
                threads.append(thread)
                thread.start()
                log = work.agent.engine.files.opened_writer.log
                while log.position.op == before:
                    pass

        work.held.before_sync = append
        fill(work.agent, 20 * n, 2)
        work.held.before_sync = None
        for thread in threads:
            thread.join()
        work.step(lambda agent: None)


WORKLOADS = {
    "mixed": write_mixed,
    "checkpoints": checkpoint_and_rotate,
    "reopened": close_and_reopen,
    "together": two_at_once,
}


def record(root: Path, name: str, durability: str, *, reads: bool = True) -> Recorded:
    """Run a workload below ``root`` and return its recording.

    Without ``reads`` the agent is not opened again to see what it held after each operation.
    """
    with small_files():
        with recording(root) as held:
            work = Work(held, root / "s", durability)
            WORKLOADS[name](work)
            work.close()
        if not reads:
            return Recorded(held, {})
        with recollex.open(root / "s", embedder=recollex.GivenVectors(D), read_only=True) as store:
            return Recorded(held, expected_of(store.agent("a")))

"""Opens a state that a crash left, for reading and for writing, and compares, verifies and asks."""

import shutil
import tempfile
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import recollex
from recollex_engine.agents.cut import Cut
from recollex_engine.log.reader import LogFollower
from tests.engine.faults.small_store import D, text, vectors
from tests.faults.recorder import Tree
from tests.faults.states import State

NOW = datetime(2030, 1, 1, tzinfo=UTC)
QUESTIONS = ("tea ink", "owl", "Memory 7 of Ann")
SHM = Path("/dev/shm")


def digest(agent: Any) -> tuple[Any, ...]:
    """Return what an agent holds and answers, to the bit."""
    held = tuple((memory.id, memory.text, memory.tags) for memory in agent.list(limit=100_000))
    asked = []
    for question, vector in zip(QUESTIONS, vectors(999, len(QUESTIONS)), strict=True):
        found = agent.recall(question, query_embedding=vector, now=NOW, exact=True)
        assert not found.trace.errors, found.trace.errors
        asked.append(tuple((memory.id, memory.score) for memory in found))
    facts = tuple(repr(fact) for fact in agent.facts.find())
    return held, tuple(asked), facts


NOTHING = ((), ((),) * len(QUESTIONS), ())


def expected_of(agent: Any) -> dict[int, tuple[Any, ...]]:
    """Return the digest at the end of each transaction of an agent that is open for writing."""
    expected = {0: NOTHING}
    follower = LogFollower(agent.engine.folder / "log")
    for transaction in follower.read_new():
        op = transaction.position.op
        cut = Cut(agent.engine, op, transaction.recorded_at)
        expected[op] = digest(type(agent)(cut))
    follower.close()
    return expected


@contextmanager
def laid_out(tree: Tree):
    """Yield a folder that holds ``tree``."""
    root = Path(tempfile.mkdtemp(prefix="recollex-faults-", dir=SHM if SHM.is_dir() else None))
    try:
        for path, data in tree.items():  # a folder comes before what is in it
            if data is None:
                (root / path).mkdir()
            else:
                (root / path).write_bytes(data)
        yield root
    finally:
        shutil.rmtree(root)


@dataclass
class Checker:
    """Checks states against the digests of the operations; remembers states that it has seen.

    counts: states, different states, and those opened with each warning.
    """

    expected: dict[int, tuple[Any, ...]]
    store: str = "s"
    agent: str = "a"
    embedder: Callable[[], Any] = lambda: recollex.GivenVectors(D)
    writes: bool = True
    seen: dict[int, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def count(self, what: str) -> None:
        """Add one to a count."""
        self.counts[what] = self.counts.get(what, 0) + 1

    def check(self, state: State) -> None:
        """Raise `AssertionError` or the error of the store, if a promise is broken."""
        self.count("states")
        key = hash(frozenset(state.tree.items()))
        op = self.seen.get(key)
        if op is None:
            self.count("different")
            with laid_out(state.tree) as root, warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                op = self.open(root)
            for each in {_kind(str(warning.message)) for warning in warned}:
                self.count(f"warned: {each}")
            self.seen[key] = op
        assert op >= state.least, f"lost: it holds operation {op}, promised was {state.least}"

    def open(self, root: Path) -> int:
        """Open the state both ways; return its last operation."""
        path = root / self.store
        with recollex.open(path, embedder=self.embedder(), read_only=True) as store:
            agent = store.agent(self.agent)
            op = agent.stats().operations
            assert op in self.expected, f"half: it ends at operation {op}"
            assert digest(agent) == self.expected[op], f"reader at operation {op}"
        with recollex.open(path, embedder=self.embedder()) as store:
            agent = store.agent(self.agent)
            again = agent.stats().operations
            assert again == op, f"the reader saw operation {op}, the writer {again}"
            assert digest(agent) == self.expected[op], f"writer at operation {op}"
            if (path / "agents" / self.agent / "log").exists():
                assert agent.verify().problems == ()
            if not self.writes:
                return op
            agent.retain(text(7) + " Afterwards.", id="after", embedding=vectors(7, 1)[0])
            found = agent.recall("Afterwards", query_embedding=vectors(7, 1)[0], exact=True)
            assert found[0].id == "after"
            held = digest(agent)
        with recollex.open(path, embedder=self.embedder(), read_only=True) as store:
            assert digest(store.agent(self.agent)) == held, "after one more write"
        return op


def _kind(message: str) -> str:
    for kind in ("columns are missing", "manifest is damaged", "index is missing", "cut off"):
        if kind in message:
            return kind
    return message[-120:]


def near(vector: Any) -> Any:
    """Return the vector as it is kept."""
    return np.asarray(vector, np.float16)

"""Opens a state that a crash left, for reading and for writing, and compares, verifies and asks."""

import gzip
import shutil
import tempfile
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import recollex
from recollex_engine.errors import CorruptError, ModelMismatchError
from recollex_engine.storage.encryption import open_key
from recollex_engine.writing.erasure import Intent
from tests.engine.faults.small_store import text, vectors
from tests.faults import workloads
from tests.faults.digests import Digest, digest
from tests.faults.recorder import Tree
from tests.faults.states import State
from tests.faults.workloads import EMBEDDERS

SHM = Path("/dev/shm")


@contextmanager
def empty_folder():
    """Yield a folder, in memory where there is some, that is removed afterwards."""
    root = Path(tempfile.mkdtemp(prefix="recollex-faults-", dir=SHM if SHM.is_dir() else None))
    try:
        yield root
    finally:
        shutil.rmtree(root)


@contextmanager
def laid_out(tree: Tree):
    """Yield a folder that holds ``tree``."""
    with empty_folder() as root:
        for path, data in tree.items():  # a folder comes before what is in it
            if data is None:
                (root / path).mkdir()
            else:
                (root / path).write_bytes(data)
        yield root


@contextmanager
def opened(path: Path, **options: Any):
    """Yield agent a of a store, with the model that its vectors are of."""
    for embedder in EMBEDDERS.values():
        with recollex.open(path, embedder=embedder(), key=workloads.KEY, **options) as store:
            try:
                agent = store.agent("a")
                last_op(agent)
            except ModelMismatchError:
                continue
            yield agent
            return
    raise AssertionError(f"{path} is of no model that was used")


def begun_erasure(folder: Path) -> int:
    """Return the operation of an erasure that was begun; 0 if none was."""
    cipher = open_key(folder, workloads.KEY) if (folder / "ERASE").exists() else None
    intent = Intent.read(folder)
    del cipher  # the intent of an encrypted agent is read as long as it is held
    return 0 if intent is None else intent.op


def last_op(agent: Any) -> int:
    """Return the last operation that an agent shows."""
    view = agent.engine.view()
    return 0 if view is None else int(view.op)


def assert_gone(root: Path, gone: tuple[bytes, ...]) -> None:
    """Raise if a file below ``root`` holds one of ``gone``, also compressed."""
    for path in root.rglob("*") if gone else ():
        if path.is_file():
            data = path.read_bytes()
            if path.suffix == ".gz":
                data = gzip.decompress(data)
            for each in gone:
                assert each not in data, f"erased, but {each!r} is in {path.relative_to(root)}"


@dataclass
class Checker:
    """Checks states against the digests of the operations; remembers states that it has seen.

    expected: as `Recorded.expected`. counts: states, different states, and those opened with each
    warning.
    """

    expected: dict[str, dict[int, Digest]]
    seen: dict[bytes, dict[str, int]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def count(self, what: str) -> None:
        """Add one to a count."""
        self.counts[what] = self.counts.get(what, 0) + 1

    def check(self, state: State) -> None:
        """Raise `AssertionError` or the error of the store, if a promise is broken."""
        self.count("states")
        key = state.content()
        ops = self.seen.get(key)
        if ops is None:
            self.count("different")
            with laid_out(state.tree) as root, warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                readable = all(promise.readable for promise in state.promises)
                ops = {
                    place: self.open(root / place, expected, readable)
                    for place, expected in self.expected.items()
                    if (root / place / "agents").exists()
                }
                for promise in state.promises:
                    assert_gone(root / promise.place, promise.gone)
            for each in {_kind(str(warning.message)) for warning in warned}:
                self.count(f"warned: {each}")
            self.seen[key] = ops
        for place in self.expected:
            op, least = ops.get(place, 0), state.least(place)
            assert op >= least, f"lost: {place} holds operation {op}, promised was {least}"

    def open(self, path: Path, expected: dict[int, Digest], readable: bool) -> int:
        """Open a store both ways; return the last operation that both see."""
        folder = path / "agents" / "a"
        begun = begun_erasure(folder)
        seen = None
        try:
            with opened(path, read_only=True) as agent:
                seen = last_op(agent)
                assert seen in expected, f"half: it ends at operation {seen}"
                found = digest(agent)
                if begun > seen:  # some of the erased may be gone already; the rest is whole
                    before, after = expected[seen], expected.get(seen + 1, expected[seen])
                    assert {*after[0]} <= {*found[0]} <= {*before[0]}, "beside an erasure"
                elif readable:  # a reader only warns of damaged vectors
                    assert found == expected[seen], f"reader at operation {seen}"
        except CorruptError as error:
            if readable and not (begun and "eras" in str(error)):
                raise
        with opened(path) as agent:
            op = last_op(agent)
            if seen is not None:  # a writer can embed the texts of lost vectors, and erases more
                assert seen <= op, f"the reader saw operation {seen}, the writer {op}"
            if op in expected or readable:  # else a restoration logged operations of its own
                assert op in expected, f"half: it ends at operation {op}"
                assert digest(agent) == expected[op], f"writer at operation {op}"
            if (folder / "log").exists():
                assert agent.verify().problems == ()
            vector = vectors(7, 1)[0]
            agent.retain(text(7) + " Afterwards.", id="after", embedding=vector)
            found = agent.recall("Afterwards", query_embedding=vector, exact=True)
            assert found[0].id == "after"
            held = digest(agent)
        with opened(path, read_only=True) as agent:
            assert digest(agent) == held, "after one more write"
        return op if seen is None else seen


def _kind(message: str) -> str:
    for kind in (
        "columns are missing",
        "manifest is damaged",
        "index is missing",
        "are lost; embedding",
        "cut off",
    ):
        if kind in message:
            return kind
    return message[-120:]

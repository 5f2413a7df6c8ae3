"""An import that was killed in the middle and run again gives the store of one that was not.

Each is killed with SIGKILL, by another process, after half of its texts were embedded: a small one
while it waits for that, a large one wherever it is by then.
"""

import hashlib
import os
import signal
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import recollex
from recollex.files.imports.formats import formats
from tests.bindings.files.imports.samples import SAMPLES

DIMENSION = 8


class Digests(recollex.GivenVectors):
    """An embedder that takes no time.

    told: a file that gets a byte for each text embedded. last: the text at which it waits. texts:
    how many it has embedded.
    """

    def __init__(self, told: int | None = None, last: int | None = None) -> None:
        super().__init__(DIMENSION)
        self.fingerprint = "digests-8"
        self._told = told
        self._left = last
        self.texts = 0

    def embed(
        self,
        texts: Sequence[str],
        threads: int = 1,
        progress: Callable[[int], None] | None = None,
    ) -> npt.NDArray[np.float32]:
        self.texts += len(texts)
        if self._told is not None:
            os.write(self._told, b"." * len(texts))
        if self._left is not None:
            self._left -= len(texts)
            if self._left <= 0:
                signal.pause()
        return np.array([self.embed_query(text) for text in texts], np.float32)

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        digest = hashlib.blake2b(text.encode(), digest_size=DIMENSION).digest()
        vector = np.frombuffer(digest, np.uint8).astype(np.float32) - 127.5
        return vector / np.float32(np.linalg.norm(vector))


def ingest(folder: Path, file: Path, batch: int, embedder: Digests | None = None) -> Any:
    with recollex.open(folder, embedder=embedder or Digests()) as store:
        return recollex.ingest(store.agent("ann"), file, batch=batch)


def held(folder: Path) -> dict[str, Any]:
    """Return all that a store holds but the times of recording, and what it finds."""
    with recollex.open(folder, embedder=Digests()) as store:
        agent = store.agent("ann")
        memories: list[dict[str, Any]] = []
        while page := agent.list(after=memories[-1]["id"] if memories else None, limit=1_000):
            memories += [memory.to_dict() for memory in page]
        for memory in memories:
            del memory["recorded_at"]
        found = [
            [(each.id, each.ranks) for each in agent.recall(question, limit=20)]
            for question in ("Who went to Lisbon by boat?", "Note 7", "bread in winter")
        ]
        facts = [
            (f.id, f.subject, f.predicate, f.object, f.valid, f.evidence)
            for f in agent.facts.find()
        ]
        return {
            "memories": memories,
            "found": found,
            "facts": facts,
            "events": [(each.id, each.summary, each.span) for each in agent.events.find()],
            "entities": [(each.name, each.types) for each in agent.facts.entities()],
            "versions": agent.stats().memories + agent.stats().forgotten,
        }


def kill(folder: Path, file: Path, batch: int, after: int, waits: bool) -> None:
    """Ingest in a child, and kill it when it has embedded ``after`` texts."""
    ours, theirs = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads
        child = os.fork()
    if child == 0:
        try:
            ingest(folder, file, batch, Digests(theirs, after if waits else None))
        finally:
            os._exit(0)
    os.close(theirs)
    seen = 0
    while seen < after and (said := os.read(ours, 1 << 16)):
        seen += len(said)
    os.kill(child, signal.SIGKILL)
    os.close(ours)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def check(tmp_path: Path, sample: str, count: int, batch: int, waits: bool) -> None:
    kind, name, write = SAMPLES[sample]
    file = tmp_path / "file" / name
    file.parent.mkdir()
    write(file, count)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    embedder = Digests()
    done = ingest(whole, file, batch, embedder)
    assert (done.format, done.stored, done.untimed) == (kind, count, 0)
    kill(broken, file, batch, embedder.texts // 2, waits)
    with recollex.open(broken, embedder=Digests()) as store:
        before = store.agent("ann").stats().memories
    assert 0 < before < count
    again = ingest(broken, file, batch)
    assert (again.stored, again.read) == (count - before, done.read)
    assert again.left_out == done.left_out
    assert held(broken) == held(whole)


def test_every_format_has_a_sample() -> None:
    assert {kind for kind, _, _ in SAMPLES.values()} == set(formats())


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_small_import_that_is_killed(tmp_path: Path, sample: str) -> None:
    check(tmp_path, sample, 120, 16, waits=True)


@pytest.mark.slow
@pytest.mark.parametrize("sample", SAMPLES)
def test_an_import_of_10_000_memories_that_is_killed(tmp_path: Path, sample: str) -> None:
    check(tmp_path, sample, 10_000, 128, waits=False)

"""A client that waits for long work at a server sees its progress."""

import io
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import pytest

import recollex
from tests.bindings.serving import Raw, serving
from tests.bindings.word_vectors import WordVectors

COUNT = 300


class Slow(WordVectors):
    """Says how far it is after each text, and pauses: for a second in `COUNT` of them."""

    def __init__(self, pause: Callable[[], None] = lambda: time.sleep(1 / COUNT)) -> None:
        super().__init__()
        self._pause = pause

    def embed(
        self,
        texts: Sequence[str],
        threads: int = 1,
        progress: Callable[[int], None] | None = None,
    ) -> npt.NDArray[np.float32]:
        rows = []
        for text in texts:
            self._pause()
            rows.append(self.embed_query(text))
            if progress is not None:
                progress(1)
        return np.array(rows, np.float32)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


TEXTS = [f"Ann saw boat number {n}." for n in range(COUNT)]


def test_progress_is_told_to_who_asks_and_not_too_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed: list[float] = []
    clock = SimpleNamespace(monotonic=lambda: sum(passed))
    monkeypatch.setattr("recollex.api.progress.time", clock)
    store = recollex.open(tmp_path / "memory", embedder=Slow(lambda: passed.append(1 / COUNT)))
    with serving(store) as server, Raw(server.addresses[0]) as client:
        id = client.send("retain_many", "alice", {"texts": TEXTS}, {"progress": True})
        told = []
        while (message := client.receive())[0] == 2:
            assert message[1] == "progress" and message[2][0] == id and message[2][2] == COUNT
            told.append(message[2][1])
        assert message[1] == id and len(message[3]) == COUNT
        assert 3 <= len(told) <= 10 and told == sorted(set(told)) and told[-1] <= COUNT
        id = client.send("retain_many", "bob", {"texts": TEXTS})
        assert client.receive()[:2] == [1, id]
        id = client.send("retain", "bob", {"text": "A short one."}, {"progress": True})
        assert client.receive()[:2] == [1, id]


def test_the_client_draws_the_bar_of_embedded_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = recollex.open(tmp_path / "memory", embedder=Slow())
    with serving(store) as server, recollex.connect(server.addresses[0]) as remote:
        alice = remote.agent("alice")
        monkeypatch.setattr(sys, "stderr", terminal := Terminal())
        alice.retain_many(TEXTS)
        shown = terminal.getvalue()
        assert "retaining" in shown and "memories" in shown
        assert any(f"{n}/{COUNT}" in shown for n in range(1, COUNT))
        terminal.truncate(0)
        stopped = SimpleNamespace(monotonic=lambda: 0.0)
        monkeypatch.setattr("recollex.api.progress.time", stopped)
        alice.retain("A short one.")
        assert terminal.getvalue().strip("\0") == ""

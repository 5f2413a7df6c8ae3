"""Models that differ by their names, the recalls with them, and a move to one of them."""

from datetime import UTC, datetime
from pathlib import Path

import numpy as np

import recollex
from recollex_engine.errors import ModelError

START = datetime(2024, 5, 1, tzinfo=UTC)
WORDS = "tea ink owl fig oak bay elm jam".split()  # noqa: SIM905
LONG = " And so on, for ever and ever." * 40


class Model(recollex.GivenVectors):
    """A text's vector depends on the text and the model's name alone; links are chosen by none."""

    def __init__(self, name: str, dimension: int, fails_after: int = 1 << 40) -> None:
        super().__init__(dimension, links=False)
        self.fingerprint = f"{name}@1"
        self.left = fails_after
        self.embedded: list[str] = []

    def embed(self, texts, threads=1, progress=None):
        self.left -= len(texts)
        if self.left < 0:
            raise ModelError("the model fell silent")
        self.embedded += texts
        if progress is not None:
            progress(len(texts))
        return np.array([self.embed_query(text) for text in texts], np.float32)

    def embed_query(self, text: str):
        total = np.full(self.dimension, 1e-3)
        for word in text.lower().replace(".", "").split():
            seed = list(f"{self.fingerprint} {word}".encode())
            total += np.random.default_rng(seed).normal(size=self.dimension)
        return (total / np.linalg.norm(total)).astype(np.float32)


MODELS = (("a", 32), ("b", 64), ("c", 32))


def answers(agent: recollex.Agent, now: datetime) -> list[object]:
    said: list[object] = []
    for query in ("Where is the tea", "owl and oak", "Ann said fig"):
        found = agent.recall(query, now=now, exact=True, explain=True)
        assert not found.trace.errors
        said.append(list(found))
    return said


def move(store: Path, model: Model) -> int:
    return recollex.reembed(store, "a", embedder=model)

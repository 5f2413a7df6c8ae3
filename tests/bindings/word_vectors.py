"""An embedder for tests: a text's vector is the sum of its words', each drawn by its hash."""

import hashlib
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

import recollex

DIMENSION = 64


class WordVectors(recollex.GivenVectors):
    def __init__(self) -> None:
        super().__init__(DIMENSION)
        self.fingerprint = "words-64"

    def embed(
        self,
        texts: Sequence[str],
        threads: int = 1,
        progress: Callable[[int], None] | None = None,
    ) -> npt.NDArray[np.float32]:
        return np.array([self.embed_query(text) for text in texts], np.float32)

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        total = sum((_of(word) for word in text.lower().split()), np.zeros(DIMENSION))
        norm = np.linalg.norm(total)
        return (total / norm if norm else _of("nothing")).astype(np.float32)


def _of(word: str) -> npt.NDArray[np.float64]:
    seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")
    drawn = np.random.default_rng(seed).normal(size=DIMENSION)
    return drawn / np.linalg.norm(drawn)

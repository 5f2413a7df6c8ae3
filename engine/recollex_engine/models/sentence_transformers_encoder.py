"""Encoders that only sentence-transformers can run: its runtime with our interface."""

import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine import fork
from recollex_engine.errors import ModelError
from recollex_engine.models.description import PAPER_THRESHOLDS, Thresholds, known_model
from recollex_engine.models.embedder import PackagedEmbedder, checked_texts, warn_of
from recollex_engine.models.session import library

PREFIX = "sentence-transformers:"
"""Put before a name or folder, it makes sentence-transformers run the model."""
INSTALL = "pip install 'recollex[sentence-transformers]'"
BATCH = 32
_QUERIES = 4096
_SPECIAL = 2  # tokens around every text


class SentenceTransformersEncoder:
    """A model that sentence-transformers has loaded, from a folder or the local cache.

    Texts run in batches, so the other texts of a batch may change a component by 1e-5. Prompts for
    questions and documents are the model's own.

    Threads: any number may call; runs happen one after another.
    """

    def __init__(self, name_or_folder: str) -> None:
        try:
            sentence_transformers = library("sentence_transformers")
        except ImportError as error:
            raise ModelError(
                f"{PREFIX}{name_or_folder}: sentence-transformers cannot be imported ({error}): "
                f"type\n  {INSTALL}"
            ) from error
        try:
            self._model: Any = sentence_transformers.SentenceTransformer(
                name_or_folder, local_files_only=True
            )
            self.dimension: int = int(self._model.get_sentence_embedding_dimension())
        except Exception as error:  # a file may raise any error
            raise ModelError(
                f"{PREFIX}{name_or_folder}: {type(error).__name__}: {error}; if it is not on this "
                f"machine, type\n  hf download {name_or_folder}"
            ) from error
        self.name: str = f"{PREFIX}{name_or_folder}"
        self.fingerprint: str = f"{self.name}@{_digest(self._model)}"
        known = known_model(name_or_folder)
        self.thresholds: Thresholds = known.thresholds if known else PAPER_THRESHOLDS
        self.max_length: int = int(getattr(self._model, "max_seq_length", None) or 1 << 30)
        self._running = fork.lock()
        self._query = lru_cache(maxsize=_QUERIES)(self._embed_query)

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """Return the vector of a query, float32[dimension], of length 1, read-only."""
        return self._query(checked_texts(text))

    def unread(self, text: str) -> int:
        """Return how many tokens of a query the model does not read. Cost: tokenizing it."""
        return max(0, self.count_tokens(text) + _SPECIAL - self.max_length)

    def embed(
        self,
        texts: Sequence[str],
        threads: int = 1,
        progress: Callable[[int], object] | None = None,
    ) -> npt.NDArray[np.float32]:
        """Return the vectors of passages, float32[len(texts), dimension], each of length 1.

        ``threads`` is ignored: torch has its own threads. A text longer than the library reads
        causes a `TruncationWarning`.
        """
        vectors = np.empty((len(texts), self.dimension), np.float32)
        order = sorted(range(len(texts)), key=lambda place: len(checked_texts(texts[place])))
        for first in range(0, len(order), BATCH):
            places = order[first : first + BATCH]
            with self._running:
                vectors[places] = self._encode(
                    "encode_document", [texts[place] for place in places]
                )
            if progress is not None:
                progress(len(places))
        long = [text for text in texts if len(text) > self.max_length]  # a token has a character
        warn_of(sum(self.unread(text) > 0 for text in long), self.max_length, self.name)
        return vectors

    def count_tokens(self, text: str) -> int:
        """Return how many tokens the text has, without special ones."""
        ids = self._model.tokenizer(checked_texts(text), add_special_tokens=False)["input_ids"]
        return len(ids)

    def _embed_query(self, text: str) -> npt.NDArray[np.float32]:
        with self._running:
            vector: npt.NDArray[np.float32] = self._encode("encode_query", [text])[0]
        vector.flags.writeable = False  # the next caller gets the same array
        return vector

    def _encode(self, way: str, texts: list[str]) -> npt.NDArray[np.float32]:
        encode = getattr(self._model, way, self._model.encode)  # older versions have no prompts
        found = encode(texts, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False)
        return np.array(found, np.float32)


def _digest(model: Any) -> str:
    """Return 12 hex digits that change with the model's weights."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(tensor.float().cpu().numpy()).data)
    return digest.hexdigest()[:12]


EMBEDDER = PackagedEmbedder(
    PREFIX,
    "",
    "sentence_transformers",
    INSTALL,
    lambda name: SentenceTransformersEncoder(name.removeprefix(PREFIX)),
)

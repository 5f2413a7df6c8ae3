"""The interface of an embedding model, and checks of the vectors that it returns."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from recollex_engine.errors import ModelError
from recollex_engine.models.description import Thresholds, check_dimension
from recollex_engine.models.truncation import unwarned
from recollex_engine.models.vocabulary import TokenIds

EmbeddingProgress = Callable[[int], None]
"""Called with the number of memories that are newly done."""


class QueryEmbedder(Protocol):
    """The part of a model that a recall needs."""

    @property
    def thresholds(self) -> Thresholds:
        """The similarities at which the arms cut off."""

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """Return float32[dimension] of length 1."""


class Embedder(QueryEmbedder, Protocol):
    """A model that turns texts into vectors."""

    @property
    def dimension(self) -> int:
        """The length of a vector."""

    @property
    def fingerprint(self) -> str:
        """Identifies the model and its weights; all vectors of an agent have one fingerprint."""

    def embed(
        self, texts: Sequence[str], threads: int = 1, progress: EmbeddingProgress | None = None
    ) -> npt.NDArray[np.float32]:
        """Return the vectors of passages: float32[n, dimension], each row of length 1."""

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens by the model's own tokenizer."""


class NamedEmbedder(Embedder, Protocol):
    """A model that `load_encoder` finds by its name."""

    @property
    def name(self) -> str:
        """The model's name."""

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of a text, without special ones."""


@dataclass(frozen=True, slots=True)
class PackagedEmbedder:
    """A row of `embedders.EMBEDDERS`: an embedder that another package runs.

    name: by which `load_encoder` knows it; one that ends with ":" stands before a model's name.
    about: its line of help, "" for one that is not listed. package: the module to import.
    install: what to type. load: makes it from the whole name.
    """

    name: str
    about: str
    package: str
    install: str
    load: Callable[[str], NamedEmbedder]

    def names(self, given: str) -> bool:
        """Return whether a name is this embedder's."""
        return given.startswith(self.name) if self.name.endswith(":") else given == self.name


def checked(load: Callable[[], Embedder]) -> Callable[[], Embedder]:
    """Return ``load`` with a check that the engine can compare the model's vectors.

    The returned function raises `InputError` unless the dimension is a multiple of 8 in [8, 8192].
    """
    last: list[Embedder] = []

    def loaded() -> Embedder:
        embedder = load()
        if not last or last[0] is not embedder:
            check_dimension(embedder.dimension, "the embedder's dimension")
            last[:] = [embedder]
        return embedder

    return loaded


def embed_all(
    embedder: Embedder,
    texts: Sequence[str],
    threads: int = 1,
    progress: EmbeddingProgress | None = None,
) -> npt.NDArray[np.float32]:
    """Return the embedder's vectors of passages, float32[len(texts), dimension].

    Raises `ModelError` if it returns another shape, or values that are not finite floats.
    """
    vectors = unwarned(embedder.embed, texts, threads, progress)
    return _checked_vectors(embedder, vectors, texts)


@dataclass(frozen=True, slots=True)
class TokenizedTexts:
    """The token ids of passages by an embedder's tokenizer, and the name of their vocabulary.

    ids: one array a passage. of: a function that returns the ids of a short text.
    """

    vocabulary: str
    ids: Sequence[TokenIds]
    of: Callable[[str], TokenIds]


def embed_with_pieces(
    embedder: Embedder,
    texts: Sequence[str],
    threads: int = 1,
    progress: EmbeddingProgress | None = None,
) -> tuple[npt.NDArray[np.float32], TokenizedTexts | None]:
    """Return the vectors of `embed_all`, and the token ids of the texts.

    The ids are None if the embedder does not return them. `Encoder` does; a caller's own class does
    only if it has a method ``embed_with_pieces``.
    """
    tell: Callable[..., tuple[object, list[TokenIds] | None]] | None
    tell = getattr(type(embedder), "embed_with_pieces", None)
    if tell is None:
        return embed_all(embedder, texts, threads, progress), None
    vectors, ids = unwarned(tell, embedder, texts, threads, progress)
    found = _checked_vectors(embedder, vectors, texts)
    if ids is None:
        return found, None
    source: Any = embedder
    return found, TokenizedTexts(source.vocabulary, ids, source.pieces)


def _checked_vectors(
    embedder: Embedder, vectors: object, texts: Sequence[str]
) -> npt.NDArray[np.float32]:
    found = np.asarray(vectors)
    expected = (len(texts), embedder.dimension)
    if found.shape != expected or found.dtype.kind != "f" or not _are_finite(found):
        what = f"{found.dtype} of shape {found.shape}" if found.shape != expected else "others"
        raise ModelError(
            f"{embedder.fingerprint} must return finite floats of shape {expected} for "
            f"{len(texts)} texts, got {what}"
        )
    return found.astype(np.float32, copy=False)


def _are_finite(vectors: npt.NDArray[Any]) -> bool:
    """Return whether no number is NaN or infinite; mostly their sum of squares tells it."""
    return math.isfinite(np.vdot(vectors, vectors)) or bool(np.isfinite(vectors).all())

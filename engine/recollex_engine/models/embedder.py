"""The interface of an embedding model, checks of its texts and vectors, and stand-ins."""

import hashlib
import math
import warnings
from collections.abc import Callable, Sequence
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, replace
from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import orjson
from numpy.typing import NDArray

from recollex_engine.errors import InputError, ModelError, ModelMismatchError
from recollex_engine.fork import cached_property
from recollex_engine.models.description import (
    PAPER_THRESHOLDS,
    Thresholds,
    check_dimension,
    check_thresholds,
)


# The texts that callers give to a model.
def checked_texts(text: str) -> str:
    """Return a text. Raises `InputError` unless it is a str."""
    if not isinstance(text, str):
        raise InputError(f"a text must be a str, got {type(text).__name__}")
    return text


def places_of(texts: Sequence[str]) -> dict[str, list[int]]:
    """Return the places of each different text, in the order in which they come first.

    Raises `InputError` for one that is no str.

    >>> places_of(["a", "b", "a"])
    {'a': [0, 2], 'b': [1]}
    """
    places: dict[str, list[int]] = {}
    for n, text in enumerate(texts):
        places.setdefault(checked_texts(text), []).append(n)
    return places


# What if a text is longer than a model reads? Its end is in no vector, and a warning says so.
Given = ParamSpec("Given")
Result = TypeVar("Result")

ADVICE = "cut it shorter; Encoder.truncated(text) tells beforehand"


class TruncationWarning(UserWarning):
    """An embedded text is longer than the model reads: its vector represents only its beginning."""


_cut_by_us: ContextVar[bool] = ContextVar("cut_by_us", default=False)


def unwarned(work: Callable[Given, Result], *args: Given.args, **more: Given.kwargs) -> Result:
    """Return ``work(*args, **more)``, whose texts are passages that the caller cannot cut shorter.

    It gives no `TruncationWarning`. It runs in a copy of the context, so an interrupt at any moment
    leaves the caller's warnings on.
    """
    context = copy_context()
    context.run(_cut_by_us.set, True)
    return context.run(work, *args, **more)


def warn_of(count: int, longest: int, model: str) -> None:
    """Warn if ``count``, the texts of a call with more than ``longest`` tokens, is not 0.

    The message is the same each time, so that Python shows it once.
    """
    if count and not _cut_by_us.get():
        warnings.warn(
            f"a text is longer than the {longest} tokens that {model} reads: its end is in no "
            f"vector, and only its words find it; {ADVICE}",
            TruncationWarning,
            stacklevel=3,
        )


# Names of vocabularies: two tokenizers with the same name give every text the same ids.
TokenIds: TypeAlias = NDArray[np.uint16]
"""The WordPiece ids of a text, uint16[n], without special tokens."""

MOST_PIECES = 512
"""The most ids that are stored for a text; BERT has no more positions. A text with exactly this
many may have more."""

_WORDS = 1 << 16
_MAKING = ("model", "normalizer", "pre_tokenizer", "added_tokens")
_BERT = ("WordPiece", "BertNormalizer", "BertPreTokenizer")


def vocabulary_name(tokenizer: Any) -> str | None:
    """Return the name of a tokenizer's vocabulary: "wordpiece-" and 16 hex digits, or None.

    The digits are a hash of all that the ids of a text depend on: the words and their numbers, the
    rules that normalise and split a text, and added tokens. Special tokens around a text,
    truncation and padding do not count.

    None if ids of parts divided by a space cannot be concatenated, or ids do not fit in 16 bits:
    the tokenizer is not BERT's WordPiece, has more than 65,536 words, or an added token contains a
    space. Cost: 10 ms.
    """
    parts = tokenizer.model, tokenizer.normalizer, tokenizer.pre_tokenizer
    if tuple(type(part).__name__ for part in parts) != _BERT:
        return None
    values = orjson.loads(tokenizer.to_str())
    made_of = {name: values[name] for name in _MAKING}
    added = made_of["added_tokens"]
    if any(c.isspace() for token in added for c in token["content"]):
        return None
    numbers = [*made_of["model"]["vocab"].values(), *(token["id"] for token in added)]
    if max(numbers, default=0) >= _WORDS:
        return None
    said = orjson.dumps(made_of, option=orjson.OPT_SORT_KEYS)
    return f"wordpiece-{hashlib.sha256(said).hexdigest()[:16]}"


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


# An embedder for callers who give every vector themselves.
class GivenVectors:
    """Takes the place of a model: every retain and recall must give its own vector.

    dimension: the length of the vectors. thresholds: the similarities at which the arms cut off; by
    default those of the papers. links: whether a memory is linked to similar earlier ones.

    >>> GivenVectors(384).fingerprint
    'given-384'
    """

    def __init__(
        self,
        dimension: int,
        *,
        thresholds: Thresholds = PAPER_THRESHOLDS,
        links: bool = True,
    ) -> None:
        check_dimension(dimension, "dimension")
        check_thresholds(thresholds)
        if not isinstance(links, bool):
            raise InputError(f"links must be True or False, got {links!r}")
        self.dimension = dimension
        self.thresholds: Thresholds = thresholds if links else replace(thresholds, link=None)
        self.fingerprint: str = f"given-{dimension}"

    def embed(
        self,
        texts: Sequence[str],
        threads: int = 1,
        progress: Callable[[int], None] | None = None,
    ) -> npt.NDArray[np.float32]:
        """Raise `ModelError`: there is no model."""
        raise ModelError(self.text_without_vector(len(texts)))

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """Raise `ModelError`: there is no model."""
        raise ModelError(self.question_without_vector())

    def text_without_vector(self, count: int) -> str:
        """Return what to say of ``count`` texts without vectors."""
        return (
            f"{count} text{'s' * (count != 1)} came without vectors and this store was opened with "
            "GivenVectors: pass embedding=, or open it with a model"
        )

    def question_without_vector(self) -> str:
        """Return what to say of a question without a vector."""
        return (
            "the query came without a vector and this store was opened with GivenVectors: pass "
            "query_embedding=, or open it with a model"
        )

    def count_tokens(self, text: str) -> int:
        """Return the number of words; without a model they count as tokens."""
        return len(text.split())


def makes_vectors(embedder: object) -> bool:
    """Return whether an embedder has a model; a subclass of `GivenVectors` may have one."""
    return getattr(type(embedder), "embed", None) is not GivenVectors.embed


def is_of_bytes(embedder: Any) -> bool:
    """Return whether a token that an embedder counts stands for a byte or more of a text in UTF-8.

    A word does, and a piece of BERT's WordPiece, which is a character or more of a text that its
    normalizer gives no more characters than bytes. Of other models it is not known.
    """
    if getattr(type(embedder), "count_tokens", None) is GivenVectors.count_tokens:
        return True
    return hasattr(type(embedder), "embed_with_pieces") and embedder.vocabulary is not None


# A model that is loaded only if texts must be embedded; until then its name stands in for it.
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

"""An embedder for callers who give every vector themselves."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.errors import InputError, ModelError
from recollex_engine.models.description import (
    PAPER_THRESHOLDS,
    Thresholds,
    check_dimension,
    check_thresholds,
)


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

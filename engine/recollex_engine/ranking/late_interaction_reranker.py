"""The second stage that MemoTrace calls ColBERT: each token of a question finds its best token."""

from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.checks import check_count
from recollex_engine.models.description import DEFAULT_MODEL
from recollex_engine.models.token_encoder import load_token_encoder
from recollex_engine.ranking.candidates import Candidates
from recollex_engine.ranking.reranking import REPLACING, Combination
from recollex_kernels.fusing.maxsim import maxsim


@dataclass(frozen=True, slots=True)
class LateInteraction:
    """Compares the tokens of the question with those of each memory (see `maxsim`).

    Token vectors are the embedder's last hidden states in eight bits. They are made when first
    needed and remembered in memory, not stored: 384 bytes a token, 14 kB for a memory of 36 tokens,
    which is 14 times what its vector takes. Of a long memory its best passage is read.

    Off in every preset. Measured on LoCoMo with all-MiniLM-L6-v2, which was not trained for it
    (bench/tables/late_interaction.py): in the place of their scores it lifts R@10 of the dense arm
    from .484 to .642 and of MemoTrace's two arms from .592 to .682; the default's list, which knows
    more of a memory, it takes from .827 to .687 in its place and leaves at .827 otherwise. One bit
    a component found as much as eight.

    Cost for 100 memories of 36 tokens: 0.6 ms where they are remembered, 0.3 s of a thread else.

    >>> LateInteraction().name
    'late interaction, all-MiniLM-L6-v2'
    """

    model: str | Path = DEFAULT_MODEL
    threads: int = 1
    combination: Combination = REPLACING
    independent: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_count(self.threads, "threads", 1, 1024)

    @property
    def name(self) -> str:
        """Says what looked, and with which model."""
        return f"late interaction, {self.model}"

    def scores(self, candidates: Candidates) -> npt.NDArray[np.float64]:
        """Return the mean cosine of the question's tokens to their best: float64[n], in [0, 1].

        Raises:
            ModelError: the model cannot be found, loaded or verified.

        """
        encoder = load_token_encoder(self.model)
        query = encoder.query(candidates.query)
        texts = encoder.passages(candidates.texts, self.threads)
        starts = np.array([0, *accumulate(map(len, texts))], np.int64)
        found = np.empty(len(texts), np.float64)
        empty = np.empty((0, encoder.dimension), np.int8)
        maxsim(query, np.concatenate([empty, *texts]), starts, found)
        return np.clip(found, 0, 1)

"""The reranker that MemoTrace calls ColBERT: each token of a question finds its best token."""

from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.checks import check_count, check_model
from recollex_engine.models.description import DEFAULT_MODEL
from recollex_engine.models.token_encoder import load_token_encoder
from recollex_engine.ranking.candidates import Candidates
from recollex_engine.ranking.reranking import REPLACING, Combination, check_combination
from recollex_kernels.fusing.reranking import maxsim


@dataclass(frozen=True, slots=True)
class LateInteraction:
    """Compares the tokens of the question with those of each memory (see `maxsim`).

    Token vectors are the embedder's last hidden states in eight bits. They are computed when first
    needed and cached in memory, not stored: 384 bytes per token, 14 kB for a memory of 36 tokens,
    which is 14 times the size of its vector. Of a long memory, the best passage is read.

    It is off in every preset. Measured on LoCoMo with all-MiniLM-L6-v2, which was not trained for
    it (bench/tables/late_interaction.py): if it replaces the scores, R@10 of the dense arm rises
    from 0.484 to 0.642, and that of MemoTrace's two arms from 0.592 to 0.682. The default's list
    uses more properties of a memory: its R@10 falls from 0.827 to 0.687 if the scores are replaced,
    and stays at 0.827 with the other combinations. One bit per component found as much as eight.

    Cost for 100 memories of 36 tokens: 0.6 ms if their token vectors are cached, else 0.3 s of one
    thread.

    >>> LateInteraction().name
    'late interaction, all-MiniLM-L6-v2'
    """

    model: str | Path = DEFAULT_MODEL
    threads: int = 1
    combination: Combination = REPLACING
    independent: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_model(self.model)
        check_count(self.threads, "threads", 1, 1024)
        check_combination(self.combination)

    @property
    def name(self) -> str:
        """The method and the model."""
        return f"late interaction, {self.model}"

    def scores(self, candidates: Candidates) -> npt.NDArray[np.float64]:
        """Return the mean over the question's tokens of the best cosine: float64[n], in [0, 1].

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

"""A reranker that reads the question together with each text: a cross-encoder."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, get_args

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.checks import check_count, check_flag, check_model
from recollex_engine.errors import InputError
from recollex_engine.models.backends import Auto, Precision
from recollex_engine.models.cross_encoder import (
    DEFAULT_CROSS_ENCODER,
    has_cross_encoder,
    load_cross_encoder,
)
from recollex_engine.models.pairs import StoredPieces
from recollex_engine.ranking.candidates import Candidates
from recollex_engine.ranking.reranking import REPLACING, Combination, check_combination
from recollex_engine.state.word_pieces import find_pieces


@dataclass(frozen=True, slots=True)
class CrossEncoderReranker:
    """Reads the question together with each text, as TEMPR 3.3 and Memora 3.3.2 do.

    The text is "[Date: November 06, 2025 (2025-11-06)] <context>: <text>" if ``dated``; of a long
    memory, its best passage. Scores are sigmoids and replace the fused ones. If a text's word
    pieces were stored by a tokenizer of the same vocabulary, they are used again (see
    `word_pieces`).

    model: a name or folder, see `load_cross_encoder`; it is loaded when first needed. precision:
    "int8", "fp32", "bf16" (OpenVINO), "fp16" (a GPU), or "auto" for the fastest on this machine.
    threads: limit of the pairs, or batches of pairs, that run at once. optional: where the weights
    are not on this machine the list stays as it was (``trace.judged`` is 0) and nothing is
    downloaded; otherwise the trace reports an error. They are looked for once a process.
    `independent`: a pair's score depends on no other pair. So with a combination that adds or
    multiplies, `rerank` need not score the candidates that cannot be shown.

    >>> CrossEncoderReranker().name
    'cross-encoder/ms-marco-MiniLM-L-6-v2'
    """

    model: str | Path = DEFAULT_CROSS_ENCODER
    precision: Precision | Auto = "int8"
    threads: int = 1
    dated: bool = True
    optional: bool = False
    combination: Combination = REPLACING
    independent: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_model(self.model)
        if self.precision not in (known := (*get_args(Precision), *get_args(Auto))):
            raise InputError(f"precision must be one of {', '.join(known)}, got {self.precision!r}")
        check_count(self.threads, "threads", 1, 1024)
        check_flag(self.dated, "dated")
        check_flag(self.optional, "optional")
        check_combination(self.combination)

    @property
    def name(self) -> str:
        """The model's name or folder."""
        return str(self.model)

    @property
    def available(self) -> bool:
        """Whether it can run: always, unless it is ``optional`` and its weights are missing."""
        return not self.optional or has_cross_encoder(self.model)

    def scores(self, candidates: Candidates) -> npt.NDArray[np.float64]:
        """Return how well each memory answers the question: float64[n], in [0, 1].

        Raises:
            ModelError: the model cannot be found, loaded or verified.

        """
        encoder = load_cross_encoder(self.model, self.precision)
        texts = candidates.dated_texts if self.dated else candidates.texts
        stored = None
        if (
            pieces := find_pieces(candidates.view, candidates.rows, encoder.vocabulary)
        ) is not None:
            headings = candidates.headings if self.dated else [""] * len(texts)
            stored = StoredPieces(pieces.ids, pieces.starts, pieces.ends, headings)
        found = encoder.score_pairs(candidates.query, texts, self.threads, stored)
        if found.truncated:
            told = candidates.trace.truncated
            told["rerank"] = told.get("rerank", 0) + found.truncated
        return found.scores

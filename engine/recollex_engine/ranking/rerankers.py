"""Rerankers of this process: a caller's function, heuristics, cross-encoders, late interaction.

Rerankers that read no text: Memora's heuristic as printed, and a corrected one.
They score by columns: a memory's age, its number of accesses, its scores in the arms.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import ClassVar, get_args

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.checks import (
    MAX_NAME,
    check_count,
    check_flag,
    check_model,
    check_number,
    check_text,
)
from recollex_engine.errors import InputError, RecollexError, RerankError
from recollex_engine.models.backends import Auto, Precision
from recollex_engine.models.cross_encoder import (
    DEFAULT_CROSS_ENCODER,
    has_cross_encoder,
    load_cross_encoder,
)
from recollex_engine.models.description import DEFAULT_MODEL
from recollex_engine.models.pairs import StoredPieces
from recollex_engine.models.token_encoder import load_token_encoder
from recollex_engine.ranking.reranking import (
    MULTIPLYING,
    REPLACING,
    Candidates,
    Combination,
    check_combination,
    checked_scores,
)
from recollex_engine.state.accesses import tally
from recollex_engine.state.word_pieces import find_pieces
from recollex_kernels.fusing.reranking import boosts, maxsim, memora_heuristic

Scoring = Callable[[str, list[str]], Sequence[float] | npt.NDArray[np.floating]]
"""Given the question and the texts, it returns a number for each text, higher for better."""


@dataclass(frozen=True, slots=True)
class FunctionReranker:
    """Calls a function of the caller: ``function(query, texts)`` returns a number for each text.

    The numbers may have any size; higher is better. dated: whether the texts begin with a date, as
    in TEMPR 3.3. If several threads recall at once, they call the function at once.

    >>> FunctionReranker(lambda query, texts: [len(text) for text in texts], name="length").name
    'length'
    """

    function: Scoring
    dated: bool = False
    name: str = "function"
    combination: Combination = REPLACING

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(f"function must be callable as f(query, texts), got {self.function!r}")
        check_flag(self.dated, "dated")
        check_text(self.name, "name", MAX_NAME)
        check_combination(self.combination)

    def scores(self, candidates: Candidates) -> npt.NDArray[np.float64]:
        """Return the function's numbers, float64[n], finite.

        Raises:
            RerankError: the function failed, or its answer is not one finite number a text.

        """
        texts = candidates.dated_texts if self.dated else candidates.texts
        try:
            found = self.function(candidates.query, list(texts))
        except RecollexError:
            raise
        except Exception as error:
            raise RerankError(self.name, f"{type(error).__name__}: {error}") from error
        return checked_scores(found, len(texts), self.name)


@dataclass(frozen=True, slots=True)
class Heuristic:
    """Boosts recent memories among the relevant ones: the corrected heuristic.

    Equation (after Memora 3.3.1); `combination` multiplies the fused score by 1 + boost:
        boost = recency * max(0, 1 - log(1 + days_old) / log(1 + 365))
                + frequency * min(1, access_count / 100)
    So a memory of today counts at most 1.2 times as much as an equal one of a year ago, and an
    irrelevant memory stays where it is. Memora's own term, log(1 + days_old) / log(1 + 365), is
    called a recency boost but grows with age; see `MemoraHeuristic`.

    Access counts are those before the recall's ``now``, so before a cut's time. They are 0 in a
    store that counts none (`recollex.open(count_accesses=)`).

    Cost: under 10 us for 100 memories.

    >>> Heuristic(recency=0.5).name
    'heuristic-corrected'
    """

    recency: float = 0.2
    frequency: float = 0.1
    name: ClassVar[str] = "heuristic-corrected"
    combination: ClassVar[Combination] = MULTIPLYING

    def __post_init__(self) -> None:
        check_number(self.recency, "recency", 0, 1000)
        check_number(self.frequency, "frequency", 0, 1000)

    def scores(self, candidates: Candidates) -> npt.NDArray[np.float64]:
        """Return each memory's boost, in [0, recency + frequency]: float64[n]."""
        times = candidates.said_at
        return boosts(times, _accesses(candidates), candidates.now, self.recency, self.frequency)


@dataclass(frozen=True, slots=True)
class MemoraHeuristic:
    """Memora's heuristic reranker exactly as its section 3.3.1 prints it.

    Equation:
        score = 0.6 semantic_norm + 0.4 bm25_norm
                + 0.2 log(1 + days_old) / log(1 + 365) + 0.1 min(1, access_count / 100)

    The paper calls the third term a recency boost with a half-life of a year. It is neither: it
    grows with age, from 0 today to 0.2 after a year and on without bound. `Heuristic` is corrected.

    The paper does not define "normalized". Here a norm is the arm's score divided by the arm's
    greatest score in the list; it is 0 for a memory that is not in the arm's list. Access counts
    are those before the recall's ``now``, so before a cut's time; 0 in a store that counts none.
    """

    semantic: float = 0.6
    keyword: float = 0.4
    recency: float = 0.2
    frequency: float = 0.1
    name: ClassVar[str] = "heuristic"
    combination: ClassVar[Combination] = REPLACING

    def __post_init__(self) -> None:
        for field in ("semantic", "keyword", "recency", "frequency"):
            check_number(getattr(self, field), field, 0, 1000)

    def scores(self, candidates: Candidates) -> npt.NDArray[np.float64]:
        """Return the printed score of each memory: float64[n]."""
        return memora_heuristic(
            candidates.arm("semantic"),
            candidates.arm("keyword"),
            candidates.said_at,
            _accesses(candidates),
            candidates.now,
            self.semantic,
            self.keyword,
            self.recency,
            self.frequency,
        )


def _accesses(candidates: Candidates) -> npt.NDArray[np.int64]:
    """Return how often each memory had been returned by then: 0 where nothing is counted."""
    return tally(candidates.view, candidates.memories, "returned", candidates.now).counts


# A reranker that reads the question together with each text: a cross-encoder.
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


# The reranker that MemoTrace calls ColBERT: each token of a question finds its best token.
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

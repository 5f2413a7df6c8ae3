"""How do the arms' lists become one? By their ranks or by their scores.

`ReciprocalRank` is the papers' choice and uses only ranks. `ScoreSum` adds the arms' scores, each
scaled by its list. `contextual_fusion.Contextual`, the default, scores every candidate by every arm
and by the memories around it. All three are a `Fusion`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from recollex_engine.dates.time_range import TimeRange
from recollex_engine.domain.checks import check_kind, check_number
from recollex_engine.errors import InputError
from recollex_engine.models.description import Thresholds
from recollex_engine.ranking.arm_table import ARMS
from recollex_engine.ranking.arms import ArmList, KeywordResult
from recollex_engine.ranking.confidence import Signs
from recollex_engine.state.view import View
from recollex_engine.text.analyzer import Analyzer
from recollex_engine.text.question_cues import Cues
from recollex_kernels.fusing.reciprocal_rank import rrf

Cited: TypeAlias = tuple[npt.NDArray[np.uint32], npt.NDArray[np.float32]]
"""The memories that facts cite, best first, each once; the share of each, see `cited_by_facts`."""


@dataclass(
    slots=True, kw_only=True
)  # made in each recall: a frozen class costs three times as long
class Evidence:
    """The input of a fusion: the arms' lists, and all else that it may use.

    lists: arm -> its list, in the order of `ARMS`. words: the keyword arm's scores of all memories,
    None if it did not run. query: the question's vector, None if there is none. allowed:
    uint8[memories], the memories that may be returned; those around them may be any open memory.
    analyzer: of the agent's language. found: the time that the question names. budget: limit of an
    arm's list. cited: None if no fact cites an
    allowed memory.
    """

    view: View
    lists: Mapping[str, ArmList]
    words: KeywordResult | None
    query: npt.NDArray[np.float32] | None
    allowed: npt.NDArray[np.uint8]
    analyzer: Analyzer
    cues: Cues
    found: TimeRange | None
    now: int
    thresholds: Thresholds
    budget: int
    cited: Cited | None


@dataclass(slots=True)
class Fused:
    """One list, best first: memories uint32[n], scores float64[n].

    parts: name -> float64[n], what each part added to the score, if the fusion is a sum of parts;
    it may be computed when accessed. lists: arm -> the list that the fusion itself made in place of
    that arm. signs: of whether there is an answer; None if the fusion computes none.
    """

    memories: npt.NDArray[np.uint32]
    scores: npt.NDArray[np.float64]
    parts: Mapping[str, npt.NDArray[np.float64]] = field(default_factory=dict)
    lists: Mapping[str, ArmList] = field(default_factory=dict)
    signs: Signs | None = None


class Fusion(Protocol):
    """Makes one list of the arms' lists.

    associates: whether it spreads activation itself, so that the graph arm need not run.
    """

    @property
    def associates(self) -> bool:
        """Whether the fusion takes the graph arm's place."""

    def fuse(self, evidence: Evidence) -> Fused:
        """Return the union of the lists, best first. Ties: the newer memory."""


@dataclass(frozen=True, slots=True)
class ReciprocalRank:
    """Reciprocal rank fusion (TEMPR 3.2, Memora 3.2): sum over arms of weight / (k + rank).

    weights: arm -> weight; an arm that is not named has 1, the papers' weight for every arm.

    >>> ReciprocalRank().k
    60.0
    """

    k: float = 60.0
    weights: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_number(self.k, "k", 0, 1e6)
        check_weights(self.weights)

    @property
    def associates(self) -> bool:
        """Return False."""
        return False

    def fuse(self, evidence: Evidence) -> Fused:
        """Return the union by reciprocal rank."""
        return self.fuse_lists(evidence.lists)

    def fuse_lists(self, by_arm: Mapping[str, ArmList]) -> Fused:
        """Return the union of lists by reciprocal rank; by_arm: arm -> list."""
        if len(by_arm) == 1:
            ((name, only),) = by_arm.items()
            if name not in self.weights:  # the list keeps its order
                return Fused(only.memories, _by_rank(self.k, len(only.memories)).copy())
        if not by_arm:
            return Fused(np.empty(0, np.uint32), np.empty(0, np.float64))
        lists = [ranked.memories for ranked in by_arm.values()]
        sizes = np.array([len(memories) for memories in lists], np.int64)
        table = np.zeros((len(lists), max(1, int(sizes.max()))), np.uint32)
        for arm, memories in enumerate(lists):
            table[arm, : len(memories)] = memories
        weights = np.array([self.weights.get(name, 1.0) for name in by_arm])
        return Fused(*rrf(table, sizes, weights, self.k))


@lru_cache(maxsize=16)
def _by_rank(k: float, count: int) -> npt.NDArray[np.float64]:
    """Return 1 / (k + rank) of the ranks from 1 to ``count``; the array is shared."""
    return 1.0 / (k + np.arange(1.0, count + 1))


@dataclass(frozen=True, slots=True)
class ScoreSum:
    """A weighted sum of the arms' own scores, each standardised over its list (z-score fusion).

    Equation, over the arms a whose list holds m:
        score(m) = sum of weights[a] * (s_a(m) - min of the list) / standard deviation of the list

    The lowest score of a list adds 0, as does a list that does not hold the memory, so the length
    of a list does not matter. A list of equal scores adds its weight.

    >>> ScoreSum().weights["keyword"]
    1.0
    """

    weights: Mapping[str, float] = field(
        default_factory=lambda: {name: arm.weight for name, arm in ARMS.items()}
    )

    def __post_init__(self) -> None:
        check_weights(self.weights)

    @property
    def associates(self) -> bool:
        """Return False."""
        return False

    def fuse(self, evidence: Evidence) -> Fused:
        """Return the union by summed scores."""
        return self.fuse_lists(evidence.lists)

    def fuse_lists(self, by_arm: Mapping[str, ArmList]) -> Fused:
        """Return the union of lists by summed scores; by_arm: arm -> list."""
        lists = by_arm.values()
        if not lists:
            return Fused(np.empty(0, np.uint32), np.empty(0, np.float64))
        memories = np.unique(np.concatenate([ranked.memories for ranked in lists]))  # ascending
        parts: dict[str, npt.NDArray[np.float64]] = {}
        for name, ranked in by_arm.items():
            part = np.zeros(len(memories))
            if len(ranked.memories):
                scores = ranked.scores.astype(np.float64)
                spread = float(scores.std())
                scaled = (scores - scores.min()) / spread if spread > 0 else np.ones(len(scores))
                weight = self.weights.get(name, 1.0)
                part[np.searchsorted(memories, ranked.memories)] = weight * scaled
            parts[name] = part
        return sum_of_parts(memories, parts)


def sum_of_parts(memories: npt.NDArray[np.uint32], parts: Mapping[str, npt.NDArray[Any]]) -> Fused:
    """Return ``memories``, which are ascending, by the sum of ``parts``, added in their order.

    Ties: the newer memory.
    """
    scores = np.zeros(len(memories))
    for part in parts.values():
        scores += part
    order = len(memories) - 1 - np.argsort(-scores[::-1], kind="stable")
    return Fused(memories[order], scores[order], {name: p[order] for name, p in parts.items()})


def check_weights(weights: Mapping[str, float]) -> None:
    """Raise `InputError` unless ``weights`` maps arms to numbers of at least 0."""
    check_kind(weights, "weights", Mapping, "{'keyword': 2.0}")
    for name, weight in weights.items():
        if name not in ARMS:
            raise InputError(f"weights names the arm {name!r}: arms are {', '.join(ARMS)}")
        check_number(weight, f"weights[{name!r}]", 0, 1e6)

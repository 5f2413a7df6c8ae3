"""How do the arms' lists become one? By their ranks or by their scores.

`ReciprocalRank` is the papers' choice and uses only ranks. `ScoreSum` adds the arms' scores, each
scaled by its list. `contextual_fusion.Contextual`, the default, scores every candidate by every arm
and by the memories around it. All three are a `Fusion`.

Which times matter to this question? The times of the best memories of the list itself (SATF).
No words are read. If the best memories are close together in time, the question is about that time,
and the scores of other memories of that time are raised. The paper names a confidence threshold
(gamma) and a window fraction in its section 4.5 and defines neither; they are defined here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, Protocol, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import DAY
from recollex_engine.dates.time_range import TimeRange
from recollex_engine.domain.checks import check_count, check_kind, check_number
from recollex_engine.errors import InputError
from recollex_engine.models.description import Thresholds
from recollex_engine.ranking.arm_table import ARMS
from recollex_engine.ranking.arms import ArmList, KeywordResult
from recollex_engine.ranking.confidence import Signs
from recollex_engine.state.view import View
from recollex_engine.text.analyzer import Analyzer
from recollex_engine.text.question_cues import Cues
from recollex_kernels.fusing.reciprocal_rank import rrf
from recollex_kernels.fusing.satf import self_anchor

Base = Literal["ranks", "scores"]


@dataclass(frozen=True, slots=True)
class SelfAnchored:
    """A list after self-anchoring.

    order: int64[n], the places in the given list, best first. scores: float64[n] in that order.
    activated: whether the gate opened; if not, order and scores are the given ones. concentration:
    in [0, 1], the value that was compared with the gate. width: the standard deviation that was
    used, in microseconds.
    """

    order: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]
    activated: bool
    concentration: float
    width: int


@dataclass(frozen=True, slots=True)
class SelfAnchoring:
    """Raises the scores of memories whose time is that of the best ones, and removes no memory.

    Equations 2 to 4 (SATF 3.3 and 3.4), ranks i from 1, t_i when memory i was said:
        A(t) = sum over i = 1..anchors of  1/i * exp(-(t - t_i)^2 / (2 width^2))
        s'_i = s_i * (1 + strength * A(t_i) / max_j A(t_j))

    anchors (N), width_days (sigma) and strength (alpha) are the paper's 30, 15 and 10.

    base: what s_i is. "ranks" is the paper's 1/i, which ignores the scores. "scores" is the given
    score scaled to [0, 1] over the list, (s - min) / (max - min); so scores may be cosines, z-sums
    or ranks, and may be below zero. The last of the list then has 0 and stays last; if all scores
    are equal, each is 1.

    window_fraction: if given, the width is that fraction of the time from the agent's first memory
    to its last, instead of width_days: for memories of half a year, 0.08 gives 15 days. If all
    memories of an agent have the same time, width_days is used.

    gate (gamma): the list is unchanged unless its concentration reaches the gate, so a gate of 0 is
    always open. Concentration is the share P of rank weight at the peak t* of A, less the share B
    that the times of the list would give there without any ranks, scaled so that its maximum is 1:
        P = A(t*) / (1 + 1/2 + ... + 1/N)
        B = mean over all memories j of the list of exp(-(t_j - t*)^2 / (2 width^2))
        concentration = (P - B) / (1 - B),  at least 0
    The first rank alone holds a quarter of the weight of 30 ranks, so a list without any order in
    time has a concentration of about 0.2, not 0.

    Ties keep the given order. Cost: under 10 us for 100 memories.

    >>> SelfAnchoring(gate=0.3).width_days
    15.0
    """

    anchors: int = 30
    width_days: float = 15.0
    strength: float = 10.0
    gate: float = 0.0
    window_fraction: float | None = None
    base: Base = "ranks"

    def __post_init__(self) -> None:
        check_count(self.anchors, "anchors", 1, 100_000)
        check_number(self.width_days, "width_days", 1 / 86_400, 1e6)
        check_number(self.strength, "strength", 0, 1e6)
        check_number(self.gate, "gate", 0, 1)
        if self.window_fraction is not None:
            check_number(self.window_fraction, "window_fraction", 1e-6, 1e3)
        if self.base not in get_args(Base):
            raise InputError(f"base must be 'ranks' or 'scores', got {self.base!r}")

    def apply(
        self, view: View, memories: npt.NDArray[np.uint32], scores: npt.NDArray[np.float64]
    ) -> SelfAnchored:
        """Return the list anchored in its own times; it may be any arm's list or the fused one.

        memories uint32[n] best first, scores float64[n] or float32[n], finite.
        """
        width = self.width_in(view)
        order, boosted, concentration = self_anchor(
            view.buffer("said_at")[memories],
            np.asarray(scores, np.float64),
            self.anchors,
            float(width),
            self.strength,
            self.gate,
            self.base == "ranks",
        )
        activated = len(memories) > 0 and concentration >= self.gate
        return SelfAnchored(order, boosted, activated, concentration, width)

    def width_in(self, view: View) -> int:
        """Return the standard deviation for an agent's view, in microseconds."""
        if self.window_fraction is not None and view.memories:
            said_at = view.buffer("said_at")
            order = view.timeline.order
            span = int(said_at[order[-1]]) - int(said_at[order[0]])
            if span > 0:
                return max(1, round(self.window_fraction * span))
        return round(self.width_days * DAY)


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

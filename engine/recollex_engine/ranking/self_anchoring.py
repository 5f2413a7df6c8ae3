"""Which times matter to this question? The times of the best memories of the list itself (SATF).

No words are read. If the best memories are close together in time, the question is about that time,
and the scores of other memories of that time are raised. The paper names a confidence threshold
(gamma) and a window fraction in its section 4.5 and defines neither; they are defined here.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import DAY
from recollex_engine.domain.checks import check_count, check_number
from recollex_engine.errors import InputError
from recollex_engine.state.view import View
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

"""What did a pipeline choose, and why? A list of memories before any of them is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from recollex_engine.ranking.arms import Ranked
from recollex_kernels.fusing.ranks import ranks_in

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Why(NamedTuple):
    """How a memory came into a recall: its score, its best passage, its scores by arm.

    passage_only: the passage stands for the text, because the whole would not fit the budget.
    parts, collapsed: as in `Memory`, the collapsed by their ordinals.
    """

    score: float = 0.0
    row: int | None = None
    passage_only: bool = False
    scores: Mapping[str, float] = _NOTHING
    parts: Mapping[str, float] = _NOTHING
    collapsed: tuple[int, ...] = ()


@dataclass(frozen=True)
class Ranking:
    """What a pipeline chose, best first, before any memory is read.

    memories uint32[n], scores float64[n]; lists: arm -> its own list, by which ranks are told;
    cut: place -> the one passage that is returned for a memory too long for the budget; collapsed:
    memory -> those that say the same and were folded into it; parts: memory -> what each part of
    the fused score added, where the caller wants an explanation.
    """

    memories: npt.NDArray[np.uint32]
    scores: npt.NDArray[np.float64]
    lists: dict[str, Ranked]
    cut: dict[int, int] = field(default_factory=dict)
    collapsed: dict[int, tuple[int, ...]] = field(default_factory=dict)
    parts: dict[int, dict[str, float]] = field(default_factory=dict)

    @classmethod
    def empty(cls) -> "Ranking":
        """Return a choice of nothing."""
        return cls(np.empty(0, np.uint32), np.empty(0), {})

    def explained(
        self, fused: npt.NDArray[np.uint32], parts: Mapping[str, npt.NDArray[np.float64]]
    ) -> "Ranking":
        """Return the ranking with what each part of the score of ``fused`` added."""
        if not parts:  # a fusion by ranks adds none
            return self
        memories = self.memories.tolist()
        order = {memory: place for place, memory in enumerate(fused.tolist())}
        places = [order[memory] for memory in memories]
        lines = zip(*(part[places].tolist() for part in parts.values()), strict=True)
        told = {
            memory: dict(zip(parts, line, strict=True))
            for memory, line in zip(memories, lines, strict=True)
        }
        return replace(self, parts=told)

    @cached_property
    def ranks(self) -> dict[str, npt.NDArray[np.uint32]]:
        """Arm -> the rank in it of each memory that was chosen, from 1; 0 where it is not in it."""
        return {
            name: ranks_in(self.memories, ranked.memories)
            for name, ranked in self.lists.items()
            if len(ranked.memories)
        }

    @cached_property
    def _place(self) -> dict[int, int]:
        return {memory: place for place, memory in enumerate(self.memories.tolist())}

    def best_row(self, memory: int) -> int | None:
        """Return the passage that ranked best in an arm that ranks passages; ties to semantic."""
        place = self._place.get(memory)
        if place is None:
            return None
        best: tuple[int, bool, int] | None = None
        for name, ranks in self.ranks.items():
            rank, rows = ranks.item(place), self.lists[name].rows
            if rank and len(rows):
                offer = (rank, name != "semantic", int(rows[rank - 1]))
                best = offer if best is None else min(best, offer)
        return None if best is None else best[2]

    def why(self, several: Sequence[bool], explain: bool) -> list[Why]:
        """Return how each memory came here; ``several`` says which have more than one passage."""
        found = []
        for place, (memory, score) in enumerate(
            zip(self.memories.tolist(), self.scores.tolist(), strict=True)
        ):
            row = self.cut.get(place)
            best = self.best_row(memory) if several[place] and row is None else row
            scores = {
                name: self.lists[name].scores.item(rank - 1)
                for name, ranks in self.ranks.items()
                if explain and (rank := ranks.item(place))
            }
            parts, folded = self.parts.get(memory, {}), self.collapsed.get(memory, ())
            found.append(Why(score, best, row is not None, scores, parts, folded))
        return found

"""The memories that a recall chose, best first, before any of them is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from recollex_engine.fork import cached_property
from recollex_engine.ranking.arms import ArmList
from recollex_kernels.fusing.reciprocal_rank import ranks_in


@dataclass  # made in each recall: a frozen class costs three times as long
class Ranking:
    """The memories that a recall chose, best first, before any memory is read.

    memories uint32[n], scores float64[n].
    lists: arm -> the arm's own list, from which ranks are computed.
    cut: place -> the passages that are returned of a memory too long for the token budget, the
    best one first.
    collapsed: memory -> the memories that say the same and were folded into it.
    parts: memory -> what each part of the fused score added, if an explanation is wanted.
    """

    memories: npt.NDArray[np.uint32]
    scores: npt.NDArray[np.float64]
    lists: dict[str, ArmList]
    cut: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    collapsed: dict[int, tuple[int, ...]] = field(default_factory=dict)
    parts: dict[int, dict[str, float]] = field(default_factory=dict)

    @classmethod
    def empty(cls) -> "Ranking":
        """Return a ranking without memories."""
        return cls(np.empty(0, np.uint32), np.empty(0), {})

    def explained(
        self, fused: npt.NDArray[np.uint32], parts: Mapping[str, npt.NDArray[np.float64]]
    ) -> "Ranking":
        """Return the ranking with its scores' ``parts``, given in the order of ``fused``."""
        if not parts:  # a fusion by ranks has none
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

    def kept(self, places: Sequence[int]) -> "Ranking":
        """Return the ranking of the memories at ``places``, which ascend."""
        cut = {new: self.cut[old] for new, old in enumerate(places) if old in self.cut}
        memories = self.memories[list(places)]
        scores = self.scores[list(places)]
        return Ranking(memories, scores, self.lists, cut, self.collapsed, self.parts)

    @cached_property
    def ranks(self) -> dict[str, npt.NDArray[np.uint32]]:
        """Arm -> the rank of each chosen memory in its list, from 1; 0 if it is not in the list."""
        return {
            name: ranks_in(self.memories, ranked.memories)
            for name, ranked in self.lists.items()
            if len(ranked.memories)
        }

    @cached_property
    def _place(self) -> dict[int, int]:
        return {memory: place for place, memory in enumerate(self.memories.tolist())}

    def best_row(self, memory: int) -> int | None:
        """Return the passage that ranked best in an arm that ranks passages; ties: semantic."""
        place = self._place.get(memory)
        if place is None:
            return None
        best: tuple[int, bool, int] | None = None
        for name, ranks in self.ranks.items():
            rank = ranks.item(place)
            rows = self.lists[name].rows
            if rank and len(rows):
                offer = (rank, name != "semantic", int(rows[rank - 1]))
                best = offer if best is None else min(best, offer)
        return None if best is None else best[2]

"""Why did a recall return this memory? Its score, its best passage, its score in each arm."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from recollex_engine.ranking.ranking import Ranking

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Explanation(NamedTuple):
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


def explanations(ranking: Ranking, several: Sequence[bool], explain: bool) -> list[Explanation]:
    """Return how each memory came here; ``several`` says which have more than one passage."""
    found = []
    for place, (memory, score) in enumerate(
        zip(ranking.memories.tolist(), ranking.scores.tolist(), strict=True)
    ):
        row = ranking.cut.get(place)
        best = ranking.best_row(memory) if several[place] and row is None else row
        scores = {
            name: ranking.lists[name].scores.item(rank - 1)
            for name, ranks in ranking.ranks.items()
            if explain and (rank := ranks.item(place))
        }
        parts, folded = ranking.parts.get(memory, {}), ranking.collapsed.get(memory, ())
        found.append(Explanation(score, best, row is not None, scores, parts, folded))
    return found

"""Why did a recall return this memory? Its score, its best passage, its score in each arm."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from recollex_engine.ranking.ranking import Ranking

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_NO_ROWS: tuple[int, ...] = ()


class Explanation(NamedTuple):
    """Why a recall returned a memory: its score, its best passage, its scores in each arm.

    row: the best passage; None if the memory has only one, or if no arm ranked its passages.
    scores: arm -> the arm's score, if an explanation was asked for. parts: name -> what this part
    added to the fused score. collapsed: the memories that were folded into this one.
    """

    score: float = 0.0
    row: int | None = None
    scores: Mapping[str, float] = _NOTHING
    parts: Mapping[str, float] = _NOTHING
    collapsed: tuple[int, ...] = ()


def explanations(ranking: Ranking, several: Sequence[bool], explain: bool) -> list[Explanation]:
    """Return why each memory of a ranking is in it.

    several: for each memory, whether it has more than one passage. explain: whether the arms'
    scores are wanted.
    """
    found = []
    for place, (memory, score) in enumerate(
        zip(ranking.memories.tolist(), ranking.scores.tolist(), strict=True)
    ):
        rows = ranking.cut.get(place, _NO_ROWS)
        best = rows[0] if rows else (ranking.best_row(memory) if several[place] else None)
        scores = {
            name: ranking.lists[name].scores.item(rank - 1)
            for name, ranks in ranking.ranks.items()
            if explain and (rank := ranks.item(place))
        }
        parts = ranking.parts.get(memory, {})
        folded = ranking.collapsed.get(memory, ())
        found.append(Explanation(score, best, scores, parts, folded))
    return found

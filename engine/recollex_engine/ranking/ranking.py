"""The memories that a recall chose, best first: which fit the budget, and why each is there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.prompt_lines import LineCosts
from recollex_engine.domain.question import UNBOUNDED
from recollex_engine.domain.schema import NONE
from recollex_engine.domain.trust import LEVELS
from recollex_engine.fork import cached_property
from recollex_engine.ranking.arms import ArmList
from recollex_engine.state.view import View
from recollex_kernels.fusing.reciprocal_rank import ranks_in
from recollex_kernels.fusing.token_budget import fill


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


# Why did a recall return this memory? Its score, its best passage, its score in each arm.
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


# Which memories fit into the caller's token budget?
def within_budget(
    view: View,
    ranking: Ranking,
    max_tokens: int,
    stop: bool,
    costs: LineCosts,
    limit: int | None = None,
) -> tuple[Ranking, int]:
    """Return the memories that fit ``max_tokens`` in rank order, and the tokens they take.

    A memory takes its line in a prompt: ``costs`` of its date, and of the mark of its source if a
    memory that is returned has a source. limit: the most memories.

    If a memory is too long for the remaining tokens, only its best passage is returned. If the
    passage is too long as well, the memory is left out, and later ones may fit. With ``stop`` the
    list ends at the first memory that does not fit whole (TEMPR 3.4). Cost: O(memories), and 1 us
    for each memory with several passages.
    """
    size = len(ranking.memories)
    most = size if limit is None else min(limit, size)
    passages = _NONE if stop else _passages(view, ranking)
    places = np.empty(most, _U32)
    rows = np.empty(most if len(passages) else 0, _U32)
    out = places, rows
    count, total, sourced = _fill(view, ranking, passages, costs.dates, max_tokens, stop, out)
    if sourced:
        heads = _marked(view, ranking.memories, costs)
        count, total, _ = _fill(view, ranking, passages, heads, max_tokens, stop, out)
    kept = min(count, most)
    if kept == size and not len(rows):
        return ranking, total
    memories = ranking.memories
    scores = ranking.scores
    if kept < size:
        places = places[:kept]
        memories = memories[places]
        scores = scores[places]
    if sourced and count > kept:  # perhaps none of these has a source
        first = Ranking(memories, scores, ranking.lists, {}, ranking.collapsed)
        return within_budget(view, first, max_tokens, stop, costs)
    cut = {}
    if len(rows):
        cut = {place: (int(rows[place]),) for place in np.flatnonzero(rows[:kept] != NONE).tolist()}
    fitting = Ranking(memories, scores, ranking.lists, cut, ranking.collapsed, ranking.parts)
    return fitting, total


def tokens_of(view: View, ranking: Ranking, costs: LineCosts) -> int:
    """Return the tokens that all memories of a ranking take; see `within_budget`."""
    return within_budget(view, ranking, UNBOUNDED, True, costs)[1]


def least_tokens(view: View, memories: npt.NDArray[np.uint32]) -> int:
    """Return the tokens of the shortest passage of ``memories``; max int64 without memories."""
    least = np.iinfo(np.int64).max
    if not len(memories):
        return int(least)
    first_row = view.buffer("first_row")
    places = memories.astype(np.int64)
    rows = np.concatenate(
        [np.arange(first_row[place], first_row[place + 1]) for place in places.tolist()]
    )
    return int(min(view.buffer("passage_tokens")[rows].min(), view.buffer("tokens")[places].min()))


_NONE = np.empty(0, np.uint32)
_U32 = np.dtype(np.uint32)  # np.empty takes half as long with a dtype


def _fill(
    view: View,
    ranking: Ranking,
    passages: npt.NDArray[np.uint32],
    heads: npt.NDArray[np.uint32],
    max_tokens: int,
    stop: bool,
    out: tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]],
) -> tuple[int, int, bool]:
    """Do `fill` for a ranking of the view."""
    buffers = view.buffers
    return fill(
        ranking.memories,
        buffers["tokens"],
        passages,
        buffers["passage_tokens"],
        buffers["source"],
        heads,
        max_tokens,
        stop,
        *out,
    )


def _marked(
    view: View, memories: npt.NDArray[np.uint32], costs: LineCosts
) -> npt.NDArray[np.uint32]:
    """Return the tokens of each memory's date and mark: uint32[n]."""
    levels = len(LEVELS)
    stamps = view.buffer("source")[memories].astype(np.int64) * levels
    stamps += view.buffer("trust")[memories]
    label = view.columns.label
    different, places = np.unique(stamps, return_inverse=True)
    marked = [
        costs.marked(label(stamp // levels), LEVELS[stamp % levels]) for stamp in different.tolist()
    ]
    return np.array(marked, np.uint32)[places]


def _passages(view: View, ranking: Ranking) -> npt.NDArray[np.uint32]:
    """Return the best passage of each memory that has several; empty if no memory has several."""
    if view.rows == view.memories:
        return _NONE
    first_row = view.buffer("first_row")
    memories = ranking.memories.astype(np.int64)
    several = np.flatnonzero(first_row[memories + 1] - first_row[memories] > 1)
    if not len(several):
        return _NONE
    passages = np.full(len(memories), NONE, np.uint32)
    passages[several] = [_passage(view, ranking, memory) for memory in memories[several].tolist()]
    return passages


def _passage(view: View, ranking: Ranking, memory: int) -> int:
    """Return the row of a memory that ranked best in an arm; its first row if no arm ranked it."""
    row = ranking.best_row(memory)
    return int(view.buffer("first_row")[memory]) if row is None else row

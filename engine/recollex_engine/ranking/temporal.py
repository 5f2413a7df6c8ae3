"""What happened then? The temporal arms of TEMPR and of Memora (section 3.1.4 of both).

Both take memories that overlap the range and are similar to the question, score them by how near
their middle is to the middle of the range, and spread the scores along time links inside the range.
They differ in the rest:

                                 TEMPR                        Memora
    the range is found by        a language model             `dateparser`
    enters if                    cosine >= 0.4                 cosine >= 0.4
    score                        1 - distance / radius        1 - distance / length
      at the range's ends        0                            0.5
    spreads over                 time links alone             time links "preferentially"
    a hop keeps                  0.7                           (0.8, its 3.1.3; not said here)
    a reached memory needs       cosine >= 0.4, to go on       cosine >= 0.3, to be kept

`temporal` is TEMPR's arm and the default, `memora_temporal` is Memora's. Memora does not define
"preferentially"; here both spread over time links alone.
"""

import numpy as np
import numpy.typing as npt

from recollex_engine.dates.time_range import EARLIEST, LATEST, TimeRange
from recollex_engine.models.description import Thresholds
from recollex_engine.ranking.arms import ANY_COSINE, ArmList, scan
from recollex_engine.ranking.spreading import DECAY, activate
from recollex_engine.state.view import View
from recollex_kernels.vectors.codes import cosines

TEMPORAL_DECAY = 0.7
"""The factor of a temporal score per hop (TEMPR 3.1.4)."""


def temporal(
    view: View,
    query: npt.NDArray[np.float32],
    found: TimeRange,
    allowed: npt.NDArray[np.uint8],
    thresholds: Thresholds,
    budget: int,
) -> ArmList:
    """Rank memories of a time range by nearness to its middle (TEMPR 3.1.4).

    Entry points are the memories in range with cosine >= the model's temporal threshold; scores
    spread along time links inside the range, decaying by 0.7, to memories above the same threshold.
        score = 1 - |middle of the event - middle of the range| / half the range, at least 0
    """
    inside, entries = _in_range(view, query, found, allowed, thresholds.temporal, budget)
    return _spread(
        view,
        query,
        found,
        inside,
        entries,
        budget,
        reach=0.5,
        decay=TEMPORAL_DECAY,
        min_cosine=thresholds.temporal,
    )


def memora_temporal(
    view: View,
    query: npt.NDArray[np.float32],
    found: TimeRange,
    allowed: npt.NDArray[np.uint8],
    thresholds: Thresholds,
    budget: int,
) -> ArmList:
    """Rank memories of a time range as Memora does (Memora 3.1.4).

    Entry points are those of `temporal`. Scores spread along time links inside the range, decaying
    by 0.8 (Memora 3.1.3), through memories of any cosine. ``budget`` memories are visited, and
    those with cosine >= the model's semantic threshold (the paper's 0.3) are kept.
        score = 1 - |middle of the event - middle of the range| / the range, at least 0
    """
    inside, entries = _in_range(view, query, found, allowed, thresholds.temporal, budget)
    spread = _spread(
        view,
        query,
        found,
        inside,
        entries,
        budget,
        reach=1.0,
        decay=DECAY,
        min_cosine=ANY_COSINE,
    )
    kept = _similarity(view, spread.memories, query) >= np.float32(thresholds.semantic)
    return ArmList(spread.memories[kept], spread.scores[kept], spread.rows)


def _in_range(
    view: View,
    query: npt.NDArray[np.float32],
    found: TimeRange,
    allowed: npt.NDArray[np.uint8],
    floor: float,
    budget: int,
) -> tuple[npt.NDArray[np.uint8], ArmList]:
    """Return the mask of allowed memories whose event overlaps the range, and the entry points."""
    start = view.of_memories("event_start")
    end = view.of_memories("event_end")
    inside = view.columns.event_times.overlapping(start, end, found.start, found.end, allowed)
    return inside, scan(view, 0, view.rows, query, inside, floor, budget)


def _spread(
    view: View,
    query: npt.NDArray[np.float32],
    found: TimeRange,
    inside: npt.NDArray[np.uint8],
    entries: ArmList,
    budget: int,
    *,
    reach: float,
    decay: float,
    min_cosine: float,
) -> ArmList:
    """Rank the entry points by nearness, and what time links inside the range lead to.

    reach: the distance from the middle at which nearness is 0, as a share of the range's length.
    """
    if not len(entries.memories):
        return ArmList.empty()
    distance, length = _distances(view, found, entries.memories)
    nearness: npt.NDArray[np.float32] = np.maximum(1 - distance / (reach * length), 0).astype(
        np.float32
    )
    memories, scores = activate(
        view,
        entries.memories,
        nearness,
        entries,
        query,
        inside,
        decay=decay,
        min_cosine=min_cosine,
        budget=budget,
        edges=False,
    )
    return ArmList(memories, scores, np.empty(0, np.uint32))


def _distances(
    view: View, found: TimeRange, memories: npt.NDArray[np.uint32]
) -> tuple[npt.NDArray[np.float64], float]:
    """Return the distances of the events' middles from the range's middle, and its length."""
    start = view.of_memories("event_start")
    end = view.of_memories("event_end")
    first, last = _closed(view, found)
    middle = first / 2 + last / 2
    distance: npt.NDArray[np.float64] = np.abs(start[memories] / 2 + end[memories] / 2 - middle)
    return distance, float(last - first)


def _closed(view: View, found: TimeRange) -> tuple[int, int]:
    """Return the range; an open end ("before 2020") is moved to the agent's first or last event.

    Otherwise the range's middle, by which memories are ranked, would be a thousand years away.
    """
    first = found.start
    last = found.end
    if first != EARLIEST and last != LATEST:
        return first, last
    start = view.of_memories("event_start")
    end = view.of_memories("event_end")
    earliest, latest = view.columns.event_times.bounds(start, end)
    if first == EARLIEST:
        first = min(earliest, last - 1)
    if last == LATEST:
        last = max(latest, first + 1)
    return first, last


def _similarity(
    view: View, memories: npt.NDArray[np.uint32], query: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """Return the cosine of each memory's best passage."""
    if not len(memories):
        return np.empty(0, np.float32)
    first_row = view.buffer("first_row")
    places = memories.astype(np.int64)
    starts = first_row[places].astype(np.int64)
    sizes = first_row[places + 1].astype(np.int64) - starts
    offsets = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    rows = np.repeat(starts - offsets, sizes) + np.arange(int(sizes.sum()))
    scores = np.empty(len(rows), np.float32)
    cosines(view.vectors, rows.astype(np.uint32), query, scores)
    best: npt.NDArray[np.float32] = np.maximum.reduceat(scores, offsets)
    return best

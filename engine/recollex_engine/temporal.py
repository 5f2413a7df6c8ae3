"""What happened then? The temporal arm (TEMPR, section 3.1.4)."""

import numpy as np
import numpy.typing as npt

from recollex_engine.arms import Ranked, activate, scan
from recollex_engine.dates import EARLIEST, LATEST, TimeRange
from recollex_engine.models.description import Thresholds
from recollex_engine.view import View
from recollex_kernels.filters import mask_overlap

TEMPORAL_DECAY = 0.7
"""Of a temporal score, a hop (TEMPR 3.1.4)."""


def temporal(
    view: View,
    query: npt.NDArray[np.float32],
    found: TimeRange,
    allowed: npt.NDArray[np.uint8],
    thresholds: Thresholds,
    budget: int,
) -> Ranked:
    """Rank memories of a time range by nearness to its middle (TEMPR 3.1.4).

    Entry points are the memories in range with cosine >= the model's temporal threshold; scores
    spread along time links inside the range, decaying by 0.7.
        score = 1 - |middle of the event - middle of the range| / half the range, at least 0
    """
    inside = allowed.copy()
    start, end = view.of_memories("event_start"), view.of_memories("event_end")
    mask_overlap(start, end, found.start, found.end, inside)
    entries = scan(view, 0, view.rows, query, inside, thresholds.temporal, budget)
    if not len(entries.memories):
        return Ranked.empty()
    first, last = _closed(found, start, end)
    middle = first / 2 + last / 2
    events = start[entries.memories] / 2 + end[entries.memories] / 2
    far = np.abs(events - middle) / ((last - first) / 2)
    nearness: npt.NDArray[np.float32] = np.maximum(1 - far, 0).astype(np.float32)
    memories, scores = activate(
        view,
        entries.memories,
        nearness,
        query,
        inside,
        TEMPORAL_DECAY,
        thresholds.temporal,
        budget,
        edges=False,
    )
    return Ranked(memories, scores, np.empty(0, np.uint32))


def _closed(
    found: TimeRange, start: npt.NDArray[np.int64], end: npt.NDArray[np.int64]
) -> tuple[int, int]:
    """Return the range with an end that is open ("before 2020") moved to the agent's own.

    Else its middle, by which memories are ranked, would lie a thousand years away.
    """
    first, last = found.start, found.end
    if first == EARLIEST:
        first = min(int(start.min()), last - 1)
    if last == LATEST:
        last = max(int(end.max()), first + 1)
    return first, last

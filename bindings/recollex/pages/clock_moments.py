"""At which times did something change? The moments of both clocks, for a slider over them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import OPEN_END
from recollex_engine.domain.intervals import OPEN_START
from recollex_engine.facts.fact_view import FactView
from recollex_engine.state.view import View

Micros = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ClockMoments:
    """Moments in microseconds UTC, ascending, and how many memories each shows.

    recorded: times at which something was recorded; known: the memories recorded by then, closed
    ones included. world: times at which something began or ended in the world; so: the memories of
    the present that were so then.
    """

    recorded: tuple[int, ...] = ()
    known: tuple[int, ...] = ()
    world: tuple[int, ...] = ()
    so: tuple[int, ...] = ()


def clock_moments(view: View | None, most: int = 400) -> ClockMoments:
    """Return up to ``most`` moments of each clock: all of them if there are no more.

    Of more, every n-th is returned, the first and the last among them. Cost: that of sorting the
    times of all memories and facts, 30 ms for 100,000 memories.
    """
    if view is None:
        return ClockMoments()
    times = view.buffer("op_recorded_at")[: view.op]
    counts = view.buffer("op_memories")
    recorded = _some(np.unique(times), most)
    last = np.searchsorted(times, recorded, "right") - 1
    opened = view.open == 1
    start = np.sort(view.of_memories("event_start")[opened])
    end = np.sort(view.of_memories("valid_end")[opened])
    facts = FactView(view.columns, view.op)
    versions = facts.all()
    ends = [
        start,
        end,
        *(facts.array(name)[versions] for name in ("fact_start", "fact_end")),
    ]
    moments = np.unique(np.concatenate([each.astype(np.int64) for each in ends]))
    world = _some(moments[(moments != OPEN_START) & (moments != OPEN_END)], most)
    begun = np.searchsorted(start, world, "right")
    return ClockMoments(
        tuple(recorded.tolist()),
        tuple(counts[last].tolist()),
        tuple(world.tolist()),
        tuple((begun - np.searchsorted(end, world, "right")).tolist()),
    )


def _some(moments: Micros, most: int) -> Micros:
    """Return ``most`` of the moments, evenly by their number; the first and the last always."""
    if len(moments) <= most:
        return moments
    return moments[np.linspace(0, len(moments) - 1, most).astype(np.int64)]

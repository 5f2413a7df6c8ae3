"""What the studio asks of an agent beyond the methods of `recollex.Agent`.

Each function takes an agent, or the agent as of a recorded time, and returns JSON values. Its row
lets the service call it as it calls a method; clients of the protocol cannot name it.
"""

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex.api.agent import Agent
from recollex.api.arguments import checked_id, optional_micros
from recollex.api.proxies import Method
from recollex.pages import graph_drawing
from recollex_engine.agents.cut import Cut
from recollex_engine.agents.logbook import Difference, differing, entries_of, newest_entries
from recollex_engine.agents.stats import health
from recollex_engine.clock import OPEN_END, from_micros
from recollex_engine.domain.intervals import OPEN_START
from recollex_engine.errors import InputError, UnknownIdError
from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.facts import MANY_VALUED
from recollex_engine.recall.lookups import history_ordinals, near_memories, ordinal
from recollex_engine.state.view import View

# At which times did something change? The moments of both clocks, for a slider over them.
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


VERSIONS = 20
"""Versions of a memory whose log entries are looked up, the newest; each reads a part of a file."""


class Read(Method[..., Any]):
    """The row of a function of this module, which is no method of an agent."""

    def bound(self, of: Any) -> Callable[..., Any]:
        """Return the function for one agent."""
        return partial(self.function, of)


def moments(agent: Agent, most: int = 400) -> dict[str, Any]:
    """Return the moments of both clocks, as ISO 8601, and how many memories each shows."""
    found = clock_moments(agent.engine.view(), most)
    return {
        "recorded": {"moments": _written(found.recorded), "memories": list(found.known)},
        "world": {"moments": _written(found.world), "memories": list(found.so)},
    }


def neighbours(
    agent: Agent, id: str, limit: int = 10, as_world: datetime | None = None
) -> dict[str, Any]:
    """Return the memories next to one in the graph; see `near_memories.NearMemories`."""
    view = agent.engine.view()
    checked = checked_id(id)
    if view is None:
        raise UnknownIdError(checked, agent.name)
    number = ordinal(view, checked, agent.name)
    near = near_memories(view, number, limit, optional_micros(as_world, "as_world"))
    return {
        "alike": [{"memory": memory.to_dict(), "cosine": cosine} for memory, cosine in near.alike],
        "named": [
            {"entity": name, "memories": [each.to_dict() for each in memories]}
            for name, memories in near.named
        ],
        "in_time": [
            {"memory": memory.to_dict(), "seconds": seconds} for memory, seconds in near.in_time
        ],
    }


def origins(agent: Agent, id: str) -> dict[str, Any]:
    """Return the log entries that recorded the versions of a memory, the oldest first.

    Of the newest `VERSIONS`; without payloads, which hold texts that the versions have.
    """
    view = agent.engine.view()
    versions = history_ordinals(view, checked_id(id), agent.name)[-VERSIONS:]
    assert view is not None  # else it has no versions
    ops = view.buffer("op")[versions].tolist()
    return {"entries": [e.to_dict() | {"payload": None} for e in entries_of(agent.engine, ops)]}


def newest_log(
    agent: Agent, before: int | None = None, limit: int = 50, op: str | None = None
) -> dict[str, Any]:
    """Return the last operations, the newest first; before: only those with a lower number."""
    kinds = None if op is None else [op]
    found = newest_entries(agent.engine, before, limit, kinds)
    return {"entries": [each.to_dict() for each in found]}


def compare(
    agent: Agent,
    earlier: datetime | None = None,
    later: datetime | None = None,
    earlier_world: datetime | None = None,
    later_world: datetime | None = None,
    limit: int = 100,
) -> dict[str, Any]:
    """Return what two cuts of both clocks do not have in common; None stands for now.

    limit: the most of each list; ``counts`` has how many there are. Raises `InputError` if
    ``earlier`` is after ``later``.
    """
    first = optional_micros(earlier, "earlier")
    end = optional_micros(later, "later")
    if end is not None and (first is None or first > end):
        raise InputError(
            f"earlier must not be after later, got {earlier or 'now'} and {later}: swap them"
        )
    worlds = (
        optional_micros(earlier_world, "earlier_world"),
        optional_micros(later_world, "later_world"),
    )
    before, after = (
        (agent.engine if at is None else Cut.at(agent.engine, at)).view() for at in (first, end)
    )
    found = differing(before, after, worlds)
    shown = Difference() if found is None else found.read(limit)
    counts = dict.fromkeys(Difference.__slots__, 0) if found is None else found.counts
    return {"counts": counts, **shown.to_dict()}


def drawing(agent: Agent, query: str | None = None, limit: int = 400) -> dict[str, Any]:
    """Return what the page draws of an agent's graph; see `graph_drawing`.

    query: draw only what a recall of it packs (see `recollex.Packing`). limit: without a query, the
    most facts and events, newest first, with the entities that they need, and the most memories.
    """
    view = agent.engine.view()
    facts = agent.facts.view()
    if view is None:
        chosen = graph_drawing.Chosen()
    elif query is None:
        chosen = graph_drawing.newest(view, facts, limit)
    else:
        graph = agent.recall(query, pack="subgraph").subgraph
        assert graph is not None
        columns = view.columns
        memories = [columns.newest(memory.id, view.memories, view.op) for memory in graph.memories]
        chosen = graph_drawing.Chosen(
            _known(columns.dictionary["fact_ids"].get(fact.id) for fact in graph.facts),
            _known(columns.dictionary["event_ids"].get(event.id) for event in graph.events),
            _known(memories),
        )
    drawn = graph_drawing.draw(view, facts, chosen)
    return drawn | {"many_valued": list(MANY_VALUED)}


def _known(numbers: Iterable[int | None]) -> set[int]:
    return {number for number in numbers if number is not None}


def agent_health(agent: Agent) -> dict[str, Any]:
    """Return how an agent is kept, and how much it holds."""
    view = agent.engine.view()
    folder = agent.engine.folder
    return {
        **dataclasses.asdict(health(view, folder)),
        "stats": dataclasses.asdict(agent.stats()),
    }


def _written(moments: Sequence[int]) -> list[str]:
    return [from_micros(each).isoformat() for each in moments]


MOMENTS = Read(moments)
NEIGHBOURS = Read(neighbours)
ORIGINS = Read(origins)
NEWEST_LOG = Read(newest_log)
COMPARE = Read(compare, cut=False)
DRAWING = Read(drawing)
HEALTH = Read(agent_health, cut=False)

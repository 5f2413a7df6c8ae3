"""Which memories stand next to one in the graph? Those that the graph arm could reach from it.

TEMPR 2.4 links memories that name one entity, that are alike, and that are near in time.
"""

from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.filter import Filter
from recollex_engine.domain.schema import NONE
from recollex_engine.ranking.arms import Mask
from recollex_engine.ranking.filters import passing
from recollex_engine.ranking.spreading import HUB, WINDOW
from recollex_engine.recall.memory import Memory, read_memories
from recollex_engine.state.view import View


@dataclass(frozen=True, slots=True)
class NearMemories:
    """The memories next to one, each list the nearest first.

    alike: with the cosine of each. named: for each entity of the memory, the newest others that
    name it. in_time: with the seconds from the memory's event to theirs, within a day.
    """

    alike: tuple[tuple[Memory, float], ...] = ()
    named: tuple[tuple[str, tuple[Memory, ...]], ...] = ()
    in_time: tuple[tuple[Memory, float], ...] = ()


def near_memories(
    view: View, memory: int, limit: int = 10, world: int | None = None
) -> NearMemories:
    """Return up to ``limit`` memories of each list next to ``memory``, by its ordinal.

    world: only memories that were so at this time of the world. Cost: that of the mask of a filter,
    and at most `HUB` links of each entity and of the memory.
    """
    mask = passing(view, Filter(as_world=world), view.open)
    alike = _alike(view, memory, mask)[:limit]
    timed = _in_time(view, memory, mask, limit)
    entities = _entities(view, memory)
    named = [(entity, _named(view, entity, memory, mask, limit)) for entity in entities]
    wanted = {each for each, _ in (*alike, *timed)} | {each for _, some in named for each in some}
    ordinals = sorted(wanted)
    read = dict(zip(ordinals, read_memories(view, ordinals), strict=True))
    return NearMemories(
        tuple((read[each], weight) for each, weight in alike),
        tuple(
            (view.columns.entity_name(entity), tuple(read[each] for each in some))
            for entity, some in named
            if some
        ),
        tuple((read[each], seconds) for each, seconds in timed),
    )


def _alike(view: View, memory: int, mask: Mask) -> list[tuple[int, float]]:
    """Return the open memories with a semantic link from or to one; ties: the newer first."""
    offset, target, weight, source, previous, head = view.semantic_links
    found: dict[int, float] = {}
    if len(offset) > memory + 1:
        for place in range(int(offset[memory]), int(offset[memory + 1])):
            found[int(target[place])] = float(weight[place])
    newest = int(head[memory]) if memory < len(head) else NONE
    for place in _chain(previous, newest):
        found.setdefault(int(source[place]), float(weight[place]))
    shown = [
        (each, weight) for each, weight in found.items() if each < view.memories and mask[each]
    ]
    return sorted(shown, key=lambda pair: (-pair[1], -pair[0]))


def _entities(view: View, memory: int) -> list[int]:
    """Return the entities that a memory names, each once; merged ones are one."""
    offset, entity, *_ = view.mentions
    first = int(offset[memory])
    end = int(offset[memory + 1])
    return list(dict.fromkeys(view.same_roots(entity[first:end].tolist())))


def _named(view: View, entity: int, memory: int, mask: Mask, limit: int) -> list[int]:
    """Return the newest open memories that name an entity, without ``memory``."""
    _, _, of, previous, head = view.mentions
    newest = int(head[entity]) if entity < len(head) else NONE
    others = dict.fromkeys(int(of[place]) for place in _chain(previous, newest))
    shown = (each for each in others if each != memory and each < view.memories and mask[each])
    return list(islice(shown, limit))


def _chain(previous: npt.NDArray[np.uint32], newest: int) -> list[int]:
    """Return up to `HUB` entries of a chain, the newest first."""
    found: list[int] = []
    while newest != NONE and len(found) < HUB:
        found.append(newest)
        newest = int(previous[newest])
    return found


def _in_time(view: View, memory: int, mask: Mask, limit: int) -> list[tuple[int, float]]:
    """Return the open memories whose events are nearest in time, with seconds; ties: the newer."""
    order, rank, said_at = view.time_links
    place = int(rank[memory]) if memory < len(rank) else NONE
    at = int(said_at[memory])
    if place == NONE:
        return []
    found: list[tuple[int, int]] = []
    for step in (-1, 1):
        taken = 0
        here = place + step
        while 0 <= here < len(order) and abs(here - place) <= HUB and taken < limit:
            other = int(order[here])
            here += step
            if other >= view.memories:
                continue
            distance = int(said_at[other]) - at
            if abs(distance) >= WINDOW:
                break
            if mask[other]:
                found.append((other, distance))
                taken += 1
    nearest = sorted(found, key=lambda pair: (abs(pair[1]), -pair[0]))[:limit]
    return [(other, distance / 1_000_000) for other, distance in nearest]

"""Memories without a question: by id, all versions, pages, newest first, counts of values.

Which memories stand next to one in the graph? Those that the graph arm could reach from it.
TEMPR 2.4 links memories that name one entity, that are alike, and that are near in time.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.fields import LABELS
from recollex_engine.domain.filter import Filter
from recollex_engine.domain.prompt_lines import LineCosts
from recollex_engine.domain.question import Question
from recollex_engine.domain.schema import ENDS, NETWORKS, NONE
from recollex_engine.domain.trust import LEVELS, ROLES
from recollex_engine.errors import InputError, UnknownIdError
from recollex_engine.ranking.arms import Mask
from recollex_engine.ranking.filters import admitted_memories, passing
from recollex_engine.ranking.ranking import Ranking, within_budget
from recollex_engine.ranking.spreading import HUB, WINDOW
from recollex_engine.recall.memory import Memory, read_memories, read_memory
from recollex_engine.recall.recall import Recall
from recollex_engine.state.view import View
from recollex_engine.trace import Trace


# A recall without a question: the memories that pass its filter, newest first.
def listing(view: View, question: Question, token_counter: str, costs: LineCosts) -> Recall:
    """Return the memories that were recorded last and pass the question's filter.

    They have no score, and the recall no confidence. Cost: that of the filter, and of what is
    returned.
    """
    started = time.perf_counter_ns()
    trace = Trace()
    with trace.stage("parse"):
        found = np.flatnonzero(admitted_memories(view, question))[::-1].astype(np.uint32)
    with trace.stage("budget"):
        ranking, tokens = within_budget(
            view,
            Ranking(found, np.zeros(len(found)), {}),
            question.max_tokens,
            False,
            costs,
            question.limit,
        )
    trace.total = (time.perf_counter_ns() - started) / 1000
    return Recall(
        question.text,
        view=view,
        ranking=ranking,
        tokens=tokens,
        token_counter=token_counter,
        time_range=None,
        trace=trace,
    )


# Which tags, documents, speakers ... are there, and how many memories have each?
_NAMED = {"network": ("network", NETWORKS), "roles": ("role", ROLES), "trust": ("trust", LEVELS)}
"""Filter -> its column of small numbers, and their names; None for an unknown value."""
_LABELLED = {field.counts: field.key for field in LABELS if field.counts}
"""Filter -> its column of labels."""
FIELDS = ("tags", *_LABELLED, *_NAMED)


def check_field(field: object) -> str:
    """Return ``field`` if it is one of `FIELDS`; raises `InputError` otherwise."""
    if field not in FIELDS:
        raise InputError(f"field must be one of {', '.join(FIELDS)}, got {field!r}")
    return str(field)


def value_counts(view: View | None, field: str, wanted: Filter) -> dict[str, int]:
    """Return how many open memories that pass a filter have each value of ``field``.

    The most frequent first; equally frequent ones by name. Memories without a value are not
    counted. Cost: O(memories), 1 ns each, and 1 us for each value; for tags 2 ns for each tag.
    """
    if view is None:
        return {}
    passed = passing(view, wanted, view.open) == 1
    if field in _NAMED:
        column, names = _NAMED[field]
        counts = np.bincount(view.of_memories(column)[passed], minlength=len(names))
        found = {name: int(counts[n]) for n, name in enumerate(names) if name and counts[n]}
    else:
        counts = np.bincount(_labels(view, field, passed))
        labels = np.flatnonzero(counts)
        texts = view.columns.dictionary["labels"].strings(labels)
        found = {
            text[2:]: count
            for text, count in zip(texts, counts[labels].tolist(), strict=True)
            if field != "tags" or text[0] == "t"
        }
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _labels(view: View, field: str, passed: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint32]:
    """Return the labels of ``field`` of the memories that passed; with tags, also of metadata."""
    if field == "tags":
        offsets = view.offsets("label_offset").astype(np.int64)
        held = view.buffer("label")[offsets[0] : offsets[-1]]
        labels: npt.NDArray[np.uint32] = held[np.repeat(passed, np.diff(offsets))]
    else:
        labels = view.of_memories(_LABELLED[field])[passed]
        labels = labels[labels != NONE]
    return labels


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


def get(view: View | None, id: str, agent: str) -> Memory:
    """Return the memory with ``id``: the open one, or the archived one if none is open.

    Raises `UnknownIdError` for an id that never existed, or was forgotten or replaced.
    """
    if view is None:
        raise UnknownIdError(id, agent)
    return read_memory(view, ordinal(view, id, agent))


def ordinal(view: View, id: str, agent: str) -> int:
    """Return the number of the memory that `get` returns. Raises `UnknownIdError` likewise."""
    memory = _newest(view, id)
    if memory == NONE:
        raise UnknownIdError(id, agent)
    closed = 0 < view.items["closed_by"][memory] <= view.op
    if closed and view.columns.end_of(memory, view.op) != ENDS["archive"]:
        raise UnknownIdError(id, agent)
    return memory


def history(view: View | None, id: str, agent: str) -> list[Memory]:
    """Return every version of a memory, oldest first; a closed one says how it was closed.

    Versions up to a forgotten one are left out. Raises `UnknownIdError` if none is left.
    """
    versions = history_ordinals(view, id, agent)
    assert view is not None  # else there are none
    return read_memories(view, versions)


def history_ordinals(view: View | None, id: str, agent: str) -> list[int]:
    """Return the numbers of the memories that `history` returns."""
    left: list[int] = []
    if view is not None:
        for memory in _versions(view, id):
            if view.columns.end_of(memory, view.op) == ENDS["forget"]:
                break
            left.append(memory)
    if view is None or not left:
        raise UnknownIdError(id, agent)
    return left[::-1]


def page(
    view: View | None,
    after: str | None,
    limit: int,
    agent: str,
    wanted: Filter,
    newest: bool,
) -> list[Memory]:
    """Return up to ``limit`` open memories that pass a filter, in recorded order.

    after: the id of the last memory of the page before. newest: in the opposite order.
    """
    if view is None:
        if after is not None:
            raise UnknownIdError(after, agent)
        return []
    first = 0
    end = view.memories
    if after is not None:
        versions = _versions(view, after)
        if not versions:
            raise UnknownIdError(after, agent)
        first, end = (0, versions[0]) if newest else (versions[0] + 1, end)
    mask = passing(view, wanted, view.open)[first:end]
    found = np.flatnonzero(mask) + first
    return read_memories(view, (found[::-1] if newest else found)[:limit].tolist())


def pages(
    view: View, size: int, wanted: Filter
) -> Iterator[tuple[list[Memory], npt.NDArray[np.float16]]]:
    """Yield the open memories that pass a filter, in recorded order, with float16[n, dimension].

    size: of a page. A vector is that of the memory's first passage.
    """
    found = np.flatnonzero(passing(view, wanted, view.open))
    rows = view.of_memories("first_row")[found]
    for first in range(0, len(found), size):
        page = slice(first, first + size)
        yield read_memories(view, found[page].tolist()), view.vectors[rows[page]].view(np.float16)


def _newest(view: View, id: str) -> int:
    """Return the view's newest memory that has ``id``, open or not; NONE if there is none."""
    columns = view.columns
    key = columns.dictionary["ids"].get(id)
    memory = NONE if key is None else columns.newest_of(key)
    while memory != NONE and memory >= view.memories:
        memory = int(columns.array("previous")[memory])  # the view's own array may be shorter
    return memory


def _versions(view: View, id: str) -> list[int]:
    """Return the view's memories that have ``id``, newest first."""
    memory = _newest(view, id)
    previous = view.items["previous"]
    found = []
    while memory != NONE:
        found.append(memory)
        memory = previous[memory]
    return found

"""Which memories mention an entity, how often, and under which merges of entities?

How often was each entity named so far, and where last? Counts of prefixes of the mentions.
A view sees the first n mentions. Counting them for each view would cost O(n). So counts are kept
for a few prefixes of the list, and a view counts only from the nearest one on.

Which entities are the same? The merges that one view sees.
A merge holds from the operation that recorded it on. An `alias_of` fact holds too, until it is
closed. Neither changes the answers of an earlier view: mentions keep the entities as they were
recorded, and a view applies the merges that it covers.

Which memories mention an entity, if several are one? The mentions under a view's merges.
The columns keep every mention with its original entity, so that a view before a merge sees two.
For a view with merges the mentions of the merged entities are joined here: one chain, newest
first, and one count. All other mentions stay as they are. Without merges nothing is made.
"""

import math
import threading
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.schema import NONE
from recollex_engine.errors import MergeCycleError


class Hubs:
    """For each entity, the newest memory by which it had become a hub; NONE if unknown.

    A walk that finds an entity to be a hub records the newest of the memories that it counted.
    Later walks of views that cover this memory need not count again, because mentions are never
    removed.

    Threads: any number. A thread that misses another's entry only counts again.
    """

    def __init__(self) -> None:
        self._known = np.empty(0, np.uint32)
        self._growing = threading.Lock()

    def known(self, entities: int) -> npt.NDArray[np.uint32]:
        """Return uint32[at least entities], which the caller reads and writes."""
        if len(self._known) < entities:
            with self._growing:
                known = np.full(max(64, entities * 3 // 2), NONE, np.uint32)
                known[: len(self._known)] = self._known
                self._known = known
        return self._known


STRIDE = 1 << 16
"""Mentions between two kept prefixes at first; doubled when there are more than `MOST`."""
MOST = 16
"""The most prefixes kept, of 8 bytes an entity each."""


@dataclass(frozen=True, slots=True)
class PrefixCounts:
    """Counts of the first `end` mentions.

    counts uint32[entities]: how many mentions name each entity. heads uint32[entities]: the newest
    of them, or `chain.NONE` for an entity that none names. Both cover the entities up to the
    highest one named. The arrays never change.
    """

    end: int
    counts: npt.NDArray[np.uint32]
    heads: npt.NDArray[np.uint32]

    def extended(self, mentions: npt.NDArray[np.uint32], end: int) -> "PrefixCounts":
        """Return the counts of the first ``end`` mentions. Cost: O(end - self.end + entities)."""
        if end == self.end:
            return self
        new = mentions[self.end : end]
        size = max(len(self.counts), int(new.max()) + 1)
        counts = np.bincount(new, minlength=size).astype(np.uint32)
        counts[: len(self.counts)] += self.counts
        heads = np.full(size, NONE, np.uint32)
        heads[: len(self.heads)] = self.heads
        heads[new] = np.arange(self.end, end, dtype=np.uint32)  # the last one written stays
        return PrefixCounts(end, counts, heads)


class MentionCounts:
    """The counts of one agent's list of mentions, which only grows.

    Threads: any number.

    >>> marks = MentionCounts()
    >>> marks.at(np.array([0, 1, 0, 0], np.uint32), 3).counts
    array([2, 1], dtype=uint32)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stride = STRIDE
        empty = np.empty(0, np.uint32)
        self._marks = [PrefixCounts(0, empty, empty)]
        self._newest = self._marks[0]  # of the latest view: the next one is usually a little later

    def at(self, mentions: npt.NDArray[np.uint32], end: int) -> PrefixCounts:
        """Return the counts of ``mentions[:end]``; the list may be longer.

        Cost: O(entities + stride); the first time, O(end).
        """
        with self._lock:
            place = bisect_right(self._marks, end, key=lambda mark: mark.end)
            mark = self._marks[place - 1]
            while end - mark.end > self._stride:
                mark = mark.extended(mentions, mark.end + self._stride)
                if mark.end > self._marks[-1].end:
                    self._marks.append(mark)
            while len(self._marks) > MOST:
                self._marks = self._marks[::2]
                self._stride *= 2
            if mark.end <= self._newest.end <= end:
                mark = self._newest
            found = mark.extended(mentions, end)
            if end >= self._newest.end:
                self._newest = found
            return found


def entity_weights(counts: npt.NDArray[np.uint32]) -> npt.NDArray[np.float32]:
    """Return float32[n]: 1 / (1 + ln c) for each count c, and 1 for 0.

    Equal counts give equal bits at every place of the array.

    >>> entity_weights(np.array([0, 1, 3], np.uint32)).round(3).tolist()
    [1.0, 1.0, 0.47699999809265137]
    """
    found: npt.NDArray[np.float32] = _WEIGHTS[np.minimum(counts, len(_WEIGHTS) - 1)]
    for place in np.flatnonzero(counts >= len(_WEIGHTS)).tolist():
        found[place] = _weight(int(counts[place]))
    return found


def _weight(count: int) -> float:
    return 1 / (1 + math.log(max(count, 1)))


# A table, because numpy's logarithm may differ in the last bit between places of an array.
_WEIGHTS = np.array([_weight(count) for count in range(4096)], np.float32)


class Identities:
    """The merged entities of one view, each with its root, the entity that represents it.

    ``links``: pairs (source, target) in the order in which they were recorded. From then on the
    target's root also represents all entities that the source's root represented. A link between
    entities that are already the same changes nothing. Immutable.

    >>> who = Identities([(1, 2), (3, 1)])
    >>> who.root(3), who.members(2), who.root(7)
    (2, (2, 1, 3), 7)
    """

    def __init__(self, links: Iterable[tuple[int, int]]) -> None:
        self._parent: dict[int, int] = {}
        for source, target in links:
            one = self._top(source)
            other = self._top(target)
            if one != other:
                self._parent[one] = other
        self._root = {entity: self._top(entity) for entity in self._parent}
        self._members: dict[int, list[int]] = {}
        for entity, root in self._root.items():
            self._members.setdefault(root, [root]).append(entity)

    def __bool__(self) -> bool:
        return bool(self._parent)

    def root(self, entity: int) -> int:
        """Return the entity that represents ``entity``: itself, unless it was merged."""
        return self._root.get(entity, entity)

    def members(self, root: int) -> tuple[int, ...]:
        """Return the entities that ``root`` represents, itself first."""
        return tuple(self._members.get(root, (root,)))

    @property
    def merged(self) -> npt.NDArray[np.int64]:
        """The entities that were merged with another, ascending, their roots among them."""
        return np.array(sorted({*self._root, *self._members}), np.int64)

    def roots(self, entities: int) -> npt.NDArray[np.uint32]:
        """Return uint32[entities]: the root of each entity."""
        found = np.arange(entities, dtype=np.uint32)
        for entity, root in self._root.items():
            if entity < entities:
                found[entity] = root
        return found

    def is_new(self, source: int, target: int, names: tuple[str, str]) -> bool:
        """Return whether merging ``source`` into ``target`` changes anything.

        Raises `MergeCycleError` if they are one entity, or ``target`` was merged into ``source``.
        """
        if source == target or source in self._above(target):
            raise MergeCycleError(*names)
        return self._top(source) != self._top(target)

    def _above(self, entity: int) -> Iterator[int]:
        while (above := self._parent.get(entity)) is not None:
            yield above
            entity = above

    def _top(self, entity: int) -> int:
        for above in self._above(entity):
            entity = above
        return entity


KEPT = 4
"""The most sets of merges whose mentions are cached, of 8 bytes a mention each."""

_MentionNumbers = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class MergedMentions:
    """The first ``end`` mentions under one set of merges.

    entity uint32[>= end]: the root of each mention's entity. previous uint32[>= end]: the mention
    before it in its chain; a memory that mentions several entities of one root is in the chain
    once. memory: the column, as of ``end``. heads uint32[entities]: the newest mention of each
    root, `chain.NONE` for what was merged into another. joined uint32[n], ascending, and roots
    uint32[n]: the mentions in the chains of merged entities, and their roots.

    Later mentions are written behind ``end``, to which these heads do not lead.
    """

    end: int
    entity: _MentionNumbers
    previous: _MentionNumbers
    memory: _MentionNumbers
    heads: _MentionNumbers
    joined: _MentionNumbers
    roots: _MentionNumbers
    hubs: Hubs = field(default_factory=Hubs)

    def counts(self, raw: PrefixCounts, identities: Identities) -> _MentionNumbers:
        """Return how many memories mention each entity, of those that ``raw`` counts."""
        merged = identities.merged
        counts = np.zeros(max(len(raw.counts), int(merged.max()) + 1), np.uint32)
        counts[: len(raw.counts)] = raw.counts
        counts[merged] = 0
        roots = self.roots[: int(np.searchsorted(self.joined, np.uint32(raw.end)))]
        counts[: len(counts)] += np.bincount(roots, minlength=len(counts)).astype(np.uint32)
        return counts


class MergedMentionsCache:
    """The merged mentions of one agent's columns, for the last few sets of merges.

    Threads: any number.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[int, MergedMentions] = {}

    def at(
        self,
        key: int,
        identities: Identities,
        columns: tuple[_MentionNumbers, _MentionNumbers, _MentionNumbers],
        raw: PrefixCounts,
    ) -> MergedMentions:
        """Return the mentions under ``identities``: at least those that ``raw`` counts.

        key: the number of the set of merges. columns: entity, memory and previous of each mention,
        as `links.Mentions` has them. Cost: O(new mentions + entities); the first time, O(end).
        """
        with self._lock:
            made = self._made.pop(key, None)
            if made is None:
                made = _nothing(columns)
            if made.end < raw.end:
                made = _extended(made, identities, columns, raw)
            self._made[key] = made
            if len(self._made) > KEPT:
                del self._made[next(iter(self._made))]
            return made


def _nothing(columns: tuple[_MentionNumbers, _MentionNumbers, _MentionNumbers]) -> MergedMentions:
    empty = np.empty(0, np.uint32)
    return MergedMentions(0, empty, empty, columns[1], empty, empty, empty)


def _extended(
    made: MergedMentions,
    identities: Identities,
    columns: tuple[_MentionNumbers, _MentionNumbers, _MentionNumbers],
    raw: PrefixCounts,
) -> MergedMentions:
    """Return the mentions up to ``raw.end``, in the arrays of ``made`` if these have room."""
    entity, memory, previous = columns
    first = made.end
    end = raw.end
    merged = identities.merged
    new_entity = entity[first:end].copy()
    new_previous = previous[first:end].copy()
    heads = np.full(max(len(raw.heads), int(merged.max()) + 1), NONE, np.uint32)
    heads[: len(raw.heads)] = raw.heads
    former = np.full(len(heads), NONE, np.uint32)
    former[: len(made.heads)] = made.heads[: len(heads)]
    is_merged = np.zeros(len(heads), np.bool_)
    is_merged[merged] = True
    heads[merged] = former[merged]
    places = np.flatnonzero(is_merged[new_entity])
    roots = identities.roots(len(heads))[new_entity[places]]
    new_entity[places] = roots
    order = np.argsort(roots, kind="stable")  # each chain in the order of its mentions
    chained = places[order]
    of_root = roots[order]
    said_in = memory[first:end][chained]
    again = np.zeros(len(order), np.bool_)
    again[1:] = (of_root[1:] == of_root[:-1]) & (said_in[1:] == said_in[:-1])
    chained = chained[~again]
    of_root = of_root[~again]
    before = np.empty(len(chained), np.uint32)
    starts = np.ones(len(chained), np.bool_)
    starts[1:] = of_root[1:] != of_root[:-1]
    before[1:] = chained[:-1] + first
    before[starts] = heads[of_root[starts]]
    new_previous[chained] = before
    heads[of_root] = (chained + first).astype(np.uint32)  # the last one written stays
    by_mention = np.argsort(chained)
    joined = np.concatenate([made.joined, (chained[by_mention] + first).astype(np.uint32)])
    return MergedMentions(
        end,
        _appended(made.entity, first, new_entity),
        _appended(made.previous, first, new_previous),
        memory,
        heads,
        joined,
        np.concatenate([made.roots, of_root[by_mention]]),
        made.hubs,
    )


def _appended(held: _MentionNumbers, first: int, new: _MentionNumbers) -> _MentionNumbers:
    """Return ``held[:first]`` and ``new``, in place if there is room; readers see neither move."""
    end = first + len(new)
    if end > len(held):
        grown = np.empty(max(1024, end * 5 // 4), np.uint32)
        grown[:first] = held[:first]
        held = grown
    held[first:end] = new
    return held

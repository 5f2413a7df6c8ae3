"""Indexes that are built when a filter first needs them: labels, metadata, sources, times.

Memories are stored in recorded order, and mostly happened in that order. So a time range overlaps
few runs of 64 memories, and the other runs are skipped by their earliest and latest time.

Which memories have this tag? An inverted index of labels, built when a filter first needs it.
The labels of memories stand in recorded order in one flat array. The index inverts the beginning of
that array, so one index serves the present and every cut. Memories recorded later are scanned,
until inverting again is cheaper. A label that many memories have is also kept
as a mask, once a filter used it: comparing a mask of a million bytes takes 25 us, writing half a
million entries of a list takes 140 us.

Which values of metadata does an agent have? The labels of each name, read when a filter asks.
A label is `m:name=value`, see `schema.metadata_label`. A name may hold "=": of the places where a
label may be split, JSON follows one, because the quotes of a text come in pairs.
"""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from recollex_engine.domain.filter import Condition
from recollex_engine.domain.schema import DRAWN, EVIDENCE
from recollex_engine.storage.dictionary import Dictionary
from recollex_kernels.memories.filters import (
    RUN,
    extremes_of_runs,
    keep_listed,
    mask_labels,
    overlap_of_runs,
)
from recollex_kernels.words.postings import build_postings

EventTimes = npt.NDArray[np.int64]

_EMPTY = np.empty((3, 0), np.int64)


class EventTimeIndex:
    """The extreme event times of one agent's memories, computed as far as a reader has needed them.

    For every whole run of 64 memories: the earliest start, the latest start and the latest end.
    Size: 24 bytes a run. Threads: any number.

    >>> at, mask = np.arange(200, dtype=np.int64), np.ones(200, np.uint8)
    >>> EventTimeIndex().overlapping(at, at + 1, 70, 73, mask).nonzero()[0].tolist()
    [70, 71, 72]
    """

    def __init__(self) -> None:
        self._extremes = _EMPTY
        self._following = threading.Lock()

    def overlapping(
        self,
        start: EventTimes,
        end: EventTimes,
        since: int,
        until: int,
        mask: npt.NDArray[np.uint8],
    ) -> npt.NDArray[np.uint8]:
        """Return ``mask`` uint8[n] narrowed to memories whose interval overlaps [since, until).

        start, end int64[n]: the intervals of a view's memories; see `mask_overlap`.

        Cost: O(n / 64), O(64) for each run that may overlap, and zeroing a mask.
        """
        found = np.zeros_like(mask)
        first, latest, last = self._of(start, end)
        overlap_of_runs(first, latest, last, start, end, since, until, mask, found)
        return found

    def bounds(self, start: EventTimes, end: EventTimes) -> tuple[int, int]:
        """Return the earliest start and the latest end of a view's memories, at least one."""
        first, _, last = self._of(start, end)
        rest = min(first.shape[0], len(start) // RUN)
        tail = slice(rest * RUN, None)
        starts = np.concatenate((first[:rest], start[tail]))
        ends = np.concatenate((last[:rest], end[tail]))
        return int(starts.min()), int(ends.max())

    def _of(self, start: EventTimes, end: EventTimes) -> npt.NDArray[np.int64]:
        """Return int64[3, runs]: the extremes of the whole runs of these memories, perhaps more."""
        runs = len(start) // RUN
        known = self._extremes
        if known.shape[1] < runs:
            with self._following:
                known = self._extremes
                if (done := known.shape[1]) < runs:
                    new = slice(done * RUN, runs * RUN)
                    known = np.hstack((known, extremes_of_runs(start[new], end[new])))
                    self._extremes = known
        return known


UNINDEXED = 4096
"""The index is built again when more than this many memories, plus an eighth of the indexed ones,
are not indexed."""

FREQUENT = 8
"""A label of at least one in this many memories is kept as a mask."""
MASKS = 8
"""The most labels that are kept as masks, of one byte a memory each."""


@dataclass(frozen=True, slots=True)
class _Inverse:
    """The index of the first `memories` memories.

    The memories with label l are ``held[starts[l]:starts[l + 1]]``, ascending. masks: for some
    labels uint8[memories], 1 for a memory with the label.
    """

    memories: int
    starts: npt.NDArray[np.int64]
    held: npt.NDArray[np.uint32]
    masks: dict[int, npt.NDArray[np.uint8]] = field(default_factory=dict)


class LabelLists:
    """The memories of each label of one agent. Size: 4 bytes for each label of each memory.

    Threads: any number.

    >>> lists = LabelLists()
    >>> offsets, labels = np.array([0, 1, 3], np.uint64), np.array([5, 5, 7], np.uint32)
    >>> lists.carrying([5, 7], offsets, labels, np.ones(2, np.uint8)).tolist()
    [0, 1]
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inverse = _Inverse(0, np.zeros(1, np.int64), np.empty(0, np.uint32))

    def carrying(
        self,
        wanted: list[int],
        offsets: npt.NDArray[np.uint64],
        labels: npt.NDArray[np.uint32],
        mask: npt.NDArray[np.uint8],
    ) -> npt.NDArray[np.uint8]:
        """Return ``mask`` narrowed to memories with every label of ``wanted``, at least one.

        offsets uint64[n + 1] and labels uint32[...] are the columns of a view's n memories. mask
        is uint8[n] and is not changed.

        Cost: O(memories with the labels), and zeroing a mask. When the index is built: 10 ns for
        each label of all memories.
        """
        inverse = self._covering(len(mask), offsets, labels)
        behind = mask[inverse.memories :].copy()
        ranked = sorted(wanted, key=lambda label: self._count(inverse, label))
        for label in ranked:
            narrowed = np.zeros_like(mask)
            if self._count(inverse, label) * FREQUENT >= inverse.memories > 0:
                carried = self._mask(inverse, label)[: len(mask)]
                np.bitwise_and(mask[: len(carried)], carried, out=narrowed[: len(carried)])
            else:
                first, end = self._range(inverse, label)
                keep_listed(inverse.held[first:end], mask, narrowed)
            mask = narrowed
        if len(behind):
            mask_labels(offsets[inverse.memories :], labels, np.array(wanted, np.uint32), behind)
            mask[inverse.memories :] = behind
        return mask

    def carrying_any(
        self,
        wanted: npt.ArrayLike,
        offsets: npt.NDArray[np.uint64],
        labels: npt.NDArray[np.uint32],
        mask: npt.NDArray[np.uint8],
    ) -> npt.NDArray[np.uint8]:
        """Return ``mask`` narrowed to memories with at least one label of ``wanted``, ascending.

        The arrays are those of `carrying`. Cost: likewise, and for the memories that are not
        indexed a byte for each label of the agent.
        """
        chosen = np.asarray(wanted, np.int64)
        if len(chosen) == 1:
            return self.carrying(chosen.tolist(), offsets, labels, mask)
        found = np.zeros_like(mask)
        if not len(chosen):
            return found
        inverse = self._covering(len(mask), offsets, labels)
        indexed = chosen[chosen < len(inverse.starts) - 1]
        starts = inverse.starts[indexed]
        ends = inverse.starts[indexed + 1]
        listed = inverse.held[_ranges(starts, ends)]
        listed = listed[listed < len(mask)]
        found[listed] = mask[listed]
        first = inverse.memories
        if first < len(mask):
            own = labels[int(offsets[first]) : int(offsets[len(mask)])]
            is_wanted = np.zeros(max(int(chosen[-1]), int(own.max(initial=0))) + 1, bool)
            is_wanted[chosen] = True
            places = np.flatnonzero(is_wanted[own]) + int(offsets[first])
            carriers = np.searchsorted(offsets[: len(mask) + 1], places, side="right") - 1
            found[carriers] = mask[carriers]
        return found

    def _covering(
        self, memories: int, offsets: npt.NDArray[np.uint64], labels: npt.NDArray[np.uint32]
    ) -> _Inverse:
        """Return an index of about this many memories; it may hold more than the view has."""
        inverse = self._inverse
        if memories <= inverse.memories + inverse.memories // 8 + UNINDEXED:
            return inverse
        with self._lock:
            inverse = self._inverse
            if memories > inverse.memories:
                used = labels[: int(offsets[-1])]
                vocabulary = int(used.max()) + 1 if len(used) else 0
                starts, held, _ = build_postings(offsets, labels, 0, memories, vocabulary)
                self._inverse = inverse = _Inverse(memories, starts, held)
        return inverse

    def _mask(self, inverse: _Inverse, label: int) -> npt.NDArray[np.uint8]:
        """Return uint8[memories]: 1 for those with a label; kept for the next call."""
        kept = inverse.masks.get(label)
        if kept is None:
            first, end = self._range(inverse, label)
            kept = np.zeros(inverse.memories, np.uint8)
            kept[inverse.held[first:end]] = 1
            with self._lock:
                if len(inverse.masks) >= MASKS:
                    inverse.masks.clear()
                inverse.masks[label] = kept
        return kept

    @staticmethod
    def _range(inverse: _Inverse, label: int) -> tuple[int, int]:
        if label >= len(inverse.starts) - 1:
            return 0, 0
        return int(inverse.starts[label]), int(inverse.starts[label + 1])

    def _count(self, inverse: _Inverse, label: int) -> int:
        first, end = self._range(inverse, label)
        return end - first


def _ranges(starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the whole numbers of the ranges [start, end), one range after another.

    >>> _ranges(np.array([3, 9]), np.array([5, 10])).tolist()
    [3, 4, 9]
    """
    sizes = ends - starts
    before = np.cumsum(sizes) - sizes
    moved: npt.NDArray[np.int64] = np.arange(int(sizes.sum())) + np.repeat(starts - before, sizes)
    return moved


AT_ONCE = 65_536
"""Labels that are read together."""
CONDITIONS = 64
"""The most conditions whose labels are kept."""

ValueLabels = npt.NDArray[np.int64]


class MetadataValues:
    """The metadata labels of one agent, as far as a filter has needed them.

    Labels may be newer than a view. Threads: any number. Cost: a label once, about 0.3 us; a
    condition reads each value of its name once, about 1 us, and later only new ones.
    """

    def __init__(self, labels: Dictionary) -> None:
        self._labels = labels
        self._seen = 0
        self._by_prefix: dict[str, list[int]] = {}
        self._met: dict[bytes, tuple[int, ValueLabels]] = {}
        self._following = threading.Lock()

    def matching(self, condition: Condition) -> ValueLabels:
        """Return the labels whose values meet a condition that is not negated, ascending."""
        if (texts := condition.equals) is not None:
            found = (self._labels.get(f"m:{condition.name}={text.decode()}") for text in texts)
            return np.array(sorted({each for each in found if each is not None}), np.int64)
        key = orjson.dumps([condition.name, condition.operator, condition.wanted])
        with self._following:
            self._follow()
            group = self._by_prefix.get(_prefix(condition.name), [])
            done, met = self._met.get(key, (0, np.empty(0, np.int64)))
            if done < len(group):
                new = [
                    label
                    for label, value in self._values(condition.name, group[done:])
                    if condition.holds(value)
                ]
                met = np.append(met, np.array(new, np.int64))
                if len(self._met) >= CONDITIONS:
                    self._met.clear()
                self._met[key] = len(group), met
        return met

    def first(self, name: str) -> int | None:
        """Return the first label of a name; None without any."""
        with self._following:
            self._follow()
            if not (group := self._by_prefix.get(_prefix(name))):
                return None
            return next((label for label, _ in self._values(name, group)), None)

    def names(self) -> list[str]:
        """Return the names of metadata; of one that holds "=", only what stands before that."""
        with self._following:
            self._follow()
            return list(self._by_prefix)

    def _follow(self) -> None:
        """Group the labels that are new since the last time."""
        count = len(self._labels)
        for first in range(self._seen, count, AT_ONCE):
            numbers = range(first, min(first + AT_ONCE, count))
            for number, label in zip(numbers, self._labels.strings(numbers), strict=True):
                if label.startswith("m:"):
                    self._by_prefix.setdefault(_prefix(label[2:]), []).append(number)
        self._seen = max(self._seen, count)

    def _values(self, name: str, group: list[int]) -> "list[tuple[int, object]]":
        """Return the labels of ``group`` that are of a name, with their values."""
        start = f"m:{name}="
        found = []
        for number, label in zip(group, self._labels.strings(group), strict=True):
            if label.startswith(start):
                try:
                    found.append((number, orjson.loads(label[len(start) :])))
                except orjson.JSONDecodeError:  # of a longer name
                    continue
        return found


def _prefix(name: str) -> str:
    return name.partition("=")[0]


# From which memories was a fact drawn? Its metadata names their ids; each fact is read once.
_MARK = f'"{DRAWN}"'.encode()
_SourceNumbers = npt.NDArray[np.uint32]


class FactSources:
    """The sources of the facts among one agent's memories, by the numbers of their ids.

    What a memory names never changes. ``now``: (first, flat) as `after_sources` takes them; of the
    memories that were read. Threads: any number.
    """

    def __init__(self, values: MetadataValues, dictionaries: Mapping[str, Dictionary]) -> None:
        self._values = values
        self._labels = dictionaries["labels"]
        self._ids = dictionaries["ids"]
        self.now: tuple[_SourceNumbers, _SourceNumbers] = (
            np.empty(0, np.uint32),
            np.zeros(1, np.uint32),
        )
        self._used = 1  # of the second: its first item is the list of memories without sources
        self._has_facts = False
        self._seen = -1  # labels without one of a fact
        self._reading = threading.Lock()

    def __bool__(self) -> bool:
        """Return whether the agent has, or had, facts that were drawn. Cost: 0.1 us."""
        if not self._has_facts and (count := self._labels.count) != self._seen:
            self._has_facts = self._values.first(DRAWN) is not None
            self._seen = count
        return self._has_facts

    def read(
        self,
        memories: Iterable[int],
        offsets: npt.NDArray[np.uint64],
        metadata: npt.NDArray[np.uint8],
    ) -> tuple[_SourceNumbers, _SourceNumbers]:
        """Read the sources of memories; return (first, flat), in which all of these are known.

        A fact with a source that is not recorded is returned as without sources, and not kept: the
        source may come. ``metadata``, ``offsets``: the columns. Cost: 2 us a memory.
        """
        wanted = list(memories)
        with self._reading:
            first, flat = self.now
            if (most := max(wanted)) >= len(first):
                grown = np.zeros(max(1024, (most + 1) * 3 // 2), np.uint32)
                grown[: len(first)] = first
                first = grown
            open_ones = []
            for memory in wanted:
                if first[memory]:
                    continue
                start = int(offsets[memory])
                end = int(offsets[memory + 1])
                written = metadata[start:end].tobytes()
                named: Any = orjson.loads(written).get(EVIDENCE) if _MARK in written else None
                texts = map(str, named) if isinstance(named, list) else ()
                keys = [self._ids.get(text) for text in texts]
                found = [key for key in keys if key is not None]
                if len(found) < len(keys):
                    open_ones.append(memory)
                    continue
                if not found:
                    first[memory] = 1
                    continue
                flat = self._append(flat, [len(found), *found])
                first[memory] = 1 + self._used - len(found) - 1
            self.now = first, flat
        if open_ones:
            first = first.copy()
            first[open_ones] = 1
        return first, flat

    def _append(self, flat: _SourceNumbers, items: list[int]) -> _SourceNumbers:
        end = self._used + len(items)
        if end > len(flat):
            grown = np.zeros(max(1024, end * 3 // 2), np.uint32)
            grown[: self._used] = flat[: self._used]
            flat = grown
        flat[self._used : end] = items
        self._used = end
        return flat

"""Which memories have this tag? An inverted index of labels, built when a filter first needs it.

The labels of memories stand in recorded order in one flat array. The index inverts the beginning of
that array, so one index serves the present and every cut. Memories recorded later are scanned,
until inverting again is cheaper. A label that many memories have is also kept
as a mask, once a filter used it: comparing a mask of a million bytes takes 25 us, writing half a
million entries of a list takes 140 us.
"""

import threading
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from recollex_kernels.memories.filters import keep_listed, mask_labels
from recollex_kernels.words.postings import build_postings

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

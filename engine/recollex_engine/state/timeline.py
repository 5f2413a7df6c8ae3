"""In which order did memories happen? Their ordinals sorted by (said_at, ordinal).

A conversation is recorded in the order in which it happens. So appending is the common case and
costs only the append; an older memory is merged in.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Timeline:
    """The order of memories [0, n): `order` uint32[n] and its inverse `rank` uint32[n]."""

    order: npt.NDArray[np.uint32]
    rank: npt.NDArray[np.uint32]

    @classmethod
    def of(cls, said_at: npt.NDArray[np.int64]) -> "Timeline":
        """Return the order of ``said_at``, int64[n]. Cost: O(n log n); O(n) if nearly sorted."""
        if len(said_at) < 2 or bool((said_at[1:] >= said_at[:-1]).all()):
            order = np.arange(len(said_at), dtype=np.uint32)
            return cls(order, order)
        order = np.argsort(said_at, kind="stable").astype(np.uint32)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order), dtype=np.uint32)
        return cls(order, rank)

    def extended(self, said_at: npt.NDArray[np.int64]) -> "Timeline":
        """Return the order of all of ``said_at``; this timeline orders its first items."""
        known = len(self.order)
        count = len(said_at)
        if known == count:
            return self
        if known == 0:
            return Timeline.of(said_at)
        added = np.arange(known, count, dtype=np.uint32)
        new = said_at[known:]
        last = said_at[self.order[-1]]
        if bool((new >= last).all()) and bool((new[1:] >= new[:-1]).all()):
            if self.order is self.rank:
                order = np.arange(count, dtype=np.uint32)
                return Timeline(order, order)
            return Timeline(np.append(self.order, added), np.append(self.rank, added))
        added = added[np.argsort(new, kind="stable")]
        times = said_at[self.order]
        places = np.searchsorted(times, said_at[added], side="right")
        order = np.insert(self.order, places, added)
        rank = np.empty_like(order)
        rank[order] = np.arange(count, dtype=np.uint32)
        return Timeline(order, rank)

    def before(self, memories: int) -> "Timeline":
        """Return the order of only memories [0, memories): the timeline of an earlier view."""
        if memories == len(self.order):
            return self
        if self.order is self.rank:
            order = self.order[:memories]
            return Timeline(order, order)
        order = self.order[self.order < memories]
        rank = np.empty_like(order)
        rank[order] = np.arange(memories, dtype=np.uint32)
        return Timeline(order, rank)

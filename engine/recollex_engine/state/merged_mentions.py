"""Which memories mention an entity, if several are one? The mentions under a view's merges.

The columns keep every mention with its original entity, so that a view before a merge sees two.
For a view with merges the mentions of the merged entities are joined here: one chain, newest
first, and one count. All other mentions stay as they are. Without merges nothing is made.
"""

import threading
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from recollex_engine.state.chain import NONE
from recollex_engine.state.entity_merges import Identities
from recollex_engine.state.hubs import Hubs
from recollex_engine.state.mention_counts import PrefixCounts

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

"""A view: what one reader sees, a prefix of the operations, given by one number.

A view holds the arrays as they were when it was made. Nothing that it covers changes afterwards, so
a recall works on it without a lock while the writer appends and checkpoints.

In which order did memories happen? Their ordinals sorted by (said_at, ordinal).
A conversation is recorded in the order in which it happens. So appending is the common case and
costs only the append; an older memory is merged in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.schema import NETWORKS, NONE, schema
from recollex_engine.fork import cached_property
from recollex_engine.state.columns import Columns
from recollex_engine.state.hnsw import CodedRows, Hnsw
from recollex_engine.state.mentions import (
    Hubs,
    Identities,
    MergedMentions,
    PrefixCounts,
    entity_weights,
)
from recollex_engine.state.postings import Postings, Tail, TailPostings, TextIndex
from recollex_engine.state.row_codes import four_bits, one_bit
from recollex_engine.storage.column import no_items
from recollex_kernels.fusing.inputs import Talk
from recollex_kernels.graph.links import Links, Mentions, Times
from recollex_kernels.vectors.codes import FourBits, OneBit


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


_NO_TAIL = Tail(0).now
_Numbers: TypeAlias = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Segment:
    """The immutable posting lists of rows [first_row, end_row)."""

    number: int
    postings: Postings


@dataclass(frozen=True, slots=True)
class Indexes:
    """The indexes over the first rows, made by checkpoints: segments and graphs, in row order."""

    segments: tuple[Segment, ...] = ()
    graphs: tuple[Hnsw, ...] = ()


class _Buffers(dict[str, npt.NDArray[Any]]):
    """The arrays of columns by name; a column that did not exist yet was empty."""

    def __missing__(self, name: str) -> npt.NDArray[Any]:
        found = self[name] = no_items(schema()[name])
        return found


class _Items(dict[str, memoryview]):
    """The same arrays as views whose items Python reads at a fifth of the cost of an array's."""

    def __init__(self, buffers: Mapping[str, npt.NDArray[Any]]) -> None:
        self._buffers = buffers

    def __missing__(self, name: str) -> memoryview:
        found = self[name] = self._buffers[name].data
        return found


class View:
    """The memories recorded by operation `op`, and the indexes that cover some of their rows.

    Memories [indexed_memories, memories) are the keyword tail, found through chains in memory. Rows
    that no graph covers are scanned through their codes.
    """

    def __init__(
        self,
        columns: Columns,
        op: int,
        indexes: Indexes,
        vectors: npt.NDArray[np.uint16],
        timeline: Timeline,
    ) -> None:
        self.columns = columns
        self.op = op
        self.indexes = indexes
        self.segments: tuple[Segment, ...] = indexes.segments
        # heads before the arrays that they point into: see `chain.Chain`
        self._entity_head = columns.mentions.head
        self.link_head: npt.NDArray[np.uint32] = columns.incoming.head
        stored = len(columns.column["piece_offset"])  # before its buffer
        coded = len(columns.column["code_factor"])  # likewise
        made = columns.column.copy()  # in one step: other columns may be created meanwhile
        self._buffers = _Buffers((name, column.buffer) for name, column in made.items())
        self.items: Mapping[str, memoryview] = _Items(self._buffers)
        self.memories: int = int(self._buffers["op_memories"][op - 1]) if op else 0
        self.rows: int = int(self._buffers["op_rows"][op - 1]) if op else 0
        self.total_length: int = int(self._buffers["op_length"][op - 1]) if op else 0
        self.has_pieces: bool = stored > self.rows
        self.is_coded: bool = coded >= self.rows
        self.open: npt.NDArray[np.uint8] = columns.open_at(self.memories, op)
        self._is_past = op < columns.op
        self.vectors = vectors
        self.timeline: Timeline = timeline.before(self.memories)
        indexed = self.segments[-1].postings.end_memory if self.segments else 0
        self.indexed_memories: int = min(self.memories, indexed)

    @property
    def buffers(self) -> Mapping[str, npt.NDArray[Any]]:
        """The columns by name, each as `buffer` returns it."""
        return self._buffers

    def buffer(self, name: str) -> npt.NDArray[Any]:
        """Return a column with its spare capacity: chain heads may be newer than the view."""
        return self._buffers[name]

    def of_memories(self, name: str) -> npt.NDArray[Any]:
        """Return a column's items of the view's memories."""
        return self._buffers[name][: self.memories]

    def of_rows(self, name: str) -> npt.NDArray[Any]:
        """Return a column's items of the view's rows."""
        return self._buffers[name][: self.rows]

    def offsets(self, name: str) -> npt.NDArray[Any]:
        """Return the offsets of a list of the view's memories: uint64[memories + 1]."""
        return self._buffers[name][: self.memories + 1]

    def term_offsets(self, first: int, end: int) -> npt.NDArray[np.uint64]:
        """Return where the terms of memories [first, end) begin, and the last one's end."""
        offsets: npt.NDArray[np.uint64] = self._buffers["term_offset"][
            self._buffers["first_row"][first : end + 1]
        ]
        return offsets

    @cached_property
    def tail(self) -> TailPostings:
        """The postings of memories [indexed_memories, memories), and perhaps of newer ones."""
        columns = self.columns
        first = self.indexed_memories
        if first == self.memories:
            return _NO_TAIL
        tail = columns.tail
        if tail.first_memory != first:
            tail = columns.tail = Tail(first)
        return tail.postings(
            self._buffers["first_row"],
            self._buffers["term_offset"],
            self._buffers["term"],
            self.memories,
            columns.dictionary["terms"].count,
        )

    @cached_property
    def text_index(self) -> TextIndex:
        """The words of the memories."""
        segments = [segment.postings for segment in self.segments]
        lengths, offsets, terms = self.own_words
        forward = lengths, self.buffer("first_row"), offsets, terms
        return TextIndex.of(self.memories, segments, self.tail, forward)

    @property
    def indexed_rows(self) -> int:
        """How many rows belong to memories that the posting lists cover."""
        return int(self._buffers["first_row"][self.indexed_memories]) if self.memories else 0

    @cached_property
    def coded(self) -> CodedRows:
        """The codes, steps and memories of the rows, as `Hnsw.search` takes them."""
        codes, steps, *_ = self.four_bits
        return codes, steps, self.memory_of_row

    @cached_property
    def share_open(self) -> float:
        """The share of the memories that are open; 1 if there are none."""
        return share(self.open)

    @cached_property
    def memory_of_row(self) -> npt.NDArray[np.uint32]:
        """The memory of each row."""
        return self.of_rows("memory_of_row")

    @cached_property
    def networks(self) -> tuple[int, ...]:
        """The networks that have memories. Cost: O(memories)."""
        network = self.of_memories("network")
        return tuple(number for number in range(len(NETWORKS)) if (network == number).any())

    @cached_property
    def _mentions(self) -> PrefixCounts:
        """The view's mentions, counted."""
        end = int(self._buffers["mention_offset"][self.memories])
        return self.columns.mention_counts.at(self._buffers["mention_entity"], end)

    @cached_property
    def _merged(self) -> MergedMentions | None:
        """The mentions under the view's merges; None without any."""
        facts = self.columns.facts
        if not facts.linked or not self._identities:
            return None
        names = ("mention_entity", "mention_memory", "mention_previous")
        entity, memory, previous = map(self.buffer, names)
        number = facts.merge_number(self.op)
        return self.columns.merged_mentions.at(
            number, self._identities, (entity, memory, previous), self._mentions
        )

    @property
    def hubs(self) -> Hubs:
        """The entities that are known as hubs, under the view's merges."""
        return self.columns.hubs if self._merged is None else self._merged.hubs

    @cached_property
    def entity_head(self) -> npt.NDArray[np.uint32]:
        """The newest mention of each entity; mentions and entities may be newer than the view.

        In a view of the past they are not newer, so that no walk has to skip later mentions.
        """
        return self._mentions.heads if self._is_past else self._entity_head

    def same_entities(self, entity: int) -> tuple[int, ...]:
        """Return the entities that the merges of the view make one with ``entity``."""
        if entity not in self.columns.facts.linked:
            return (entity,)
        return self._identities.members(self._identities.root(entity))

    def same_roots(self, entities: Sequence[int]) -> tuple[int, ...]:
        """Return entities, each as the one that represents it in the view."""
        if self.columns.facts.linked.isdisjoint(entities):
            return tuple(entities)
        return tuple(map(self._identities.root, entities))

    def entity_names(self, entities: Sequence[int]) -> tuple[str, ...]:
        """Return the names of entities; entities that are one in the view give one name."""
        name = self.columns.entity_name
        if self.columns.facts.linked.isdisjoint(entities):
            return tuple(map(name, entities))
        return tuple(dict.fromkeys(name(self._identities.root(each)) for each in entities))

    @property
    def _identities(self) -> Identities:
        return self.columns.facts.identities(self.op)

    @property
    def entities(self) -> int:
        """How many entities have a place in `mentions`."""
        return len(self.mentions[-1])

    @property
    def named_entities(self) -> int:
        """How many entities the view's memories name."""
        return int(np.count_nonzero(self._mentions.counts))

    @cached_property
    def terms(self) -> int:
        """The highest term number in the view's rows, plus 1. Cost: O(words)."""
        words = self._buffers["term"][: int(self._buffers["term_offset"][self.rows])]
        words = words[words != NONE]
        return int(words.max()) + 1 if len(words) else 0

    @cached_property
    def entity_weight(self) -> npt.NDArray[np.float32]:
        """The weight of a link through each entity, float32[named entities]: 1 / (1 + ln n).

        n is the number of the view's memories that name the entity. TEMPR 2.4.3 gives all links
        weight 1. But the speakers of a conversation are named by each of its turns, and would
        outweigh rare entities. Merged entities count as one.
        """
        if self._merged is None:
            return entity_weights(self._mentions.counts)
        return entity_weights(self._merged.counts(self._mentions, self._identities))

    @cached_property
    def even_weight(self) -> npt.NDArray[np.float32]:
        """The weight of a link through each entity where rarity does not count: 1."""
        return np.ones(self.entities, np.float32)

    @cached_property
    def mentions(self) -> Mentions:
        """The entities of memories and the memories of entities, as kernels take them.

        Entities that the view's merges make one are one entity here.
        """
        merged = self._merged
        if merged is not None:
            of_memory = self.offsets("mention_offset")
            return of_memory, merged.entity, merged.memory, merged.previous, merged.heads
        return (
            self.offsets("mention_offset"),
            self.buffer("mention_entity"),
            self.buffer("mention_memory"),
            self.buffer("mention_previous"),
            self.entity_head,
        )

    @cached_property
    def semantic_links(self) -> Links:
        """The links of memories to earlier ones and back, as kernels take them."""
        return (
            self.offsets("link_offset"),
            self.buffer("link_target"),
            self.buffer("link_weight"),
            self.buffer("link_source"),
            self.buffer("link_previous"),
            self.link_head,
        )

    @cached_property
    def talk(self) -> Talk:
        """The document, time, speaker and role of each memory, and whether it is open."""
        said_at, speaker, role = map(self.buffer, ("said_at", "speaker", "role"))
        return self.of_memories("document"), said_at, speaker, role, self.open

    @cached_property
    def texts(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint64], _Numbers]:
        """The texts, where each begins, and the number of words of each."""
        return self.buffer("text"), self.buffer("text_offset"), self.buffer("words")

    @cached_property
    def own_words(self) -> tuple[_Numbers, npt.NDArray[np.uint64], _Numbers]:
        """The number of words of each memory, where the terms of each row begin, and the terms."""
        return self.buffer("words"), self.buffer("term_offset"), self.buffer("term")

    @cached_property
    def events(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The start and the end of each memory's event."""
        return self.buffer("event_start"), self.buffer("event_end")

    @cached_property
    def four_bits(self) -> FourBits:
        """The rows' codes of four bits a component, with their steps, norms and losses."""
        return four_bits(self.buffer, self.rows, self.columns.dimension)

    @cached_property
    def one_bit(self) -> OneBit:
        """The rows' codes of one bit a component, with their factors."""
        return one_bit(self.buffer, self.rows, self.columns.dimension)

    @cached_property
    def time_links(self) -> Times:
        """The memories in the order of time, and when each was said, as `spread` takes them."""
        return (self.timeline.order, self.timeline.rank, self.of_memories("said_at"))


def share(mask: npt.NDArray[np.uint8]) -> float:
    """Return the share of a mask that is set; 1 for an empty mask."""
    return float(np.count_nonzero(mask)) / len(mask) if len(mask) else 1.0

"""What links memories, entities and times: the tuples that kernels take, and walks over them.

A chain threads the entries of an append-only array that share a key, newest first: ``head[key]``
is the latest entry of the key, ``previous[i]`` is the entry before entry i, NONE if there is none.
Heads may point to entries that are newer than the view that a kernel works on.
"""

from typing import TypeAlias

import numpy as np

from recollex_kernels.graph._frontier import key, push
from recollex_kernels.machine.jit import F32, I64, U8, U16, U32, U64, kernel
from recollex_kernels.machine.memory_access import prefetch, prefetch_row
from recollex_kernels.vectors.similarity import similarity

Scored: TypeAlias = tuple[U32, F32]
"""Memories and a number of each, aligned: uint32[n], float32[n]."""

Mentions: TypeAlias = tuple[U64, U32, U32, U32, U32]
"""Which memory mentions which entity: offset, entity, memory, previous, head.

offset    uint64[>= M+1]   memory m makes the mentions offset[m]:offset[m + 1]; empty: none
entity    uint32[E]        the entity of each mention
memory    uint32[E]        the memory of each mention
previous  uint32[E]        with ``head`` the chains of ``entity``
head      uint32[entities]
"""

Links: TypeAlias = tuple[U64, U32, F32, U32, U32, U32]
"""Which memory links to which earlier one: offset, target, weight, source, previous, head.

offset    uint64[>= M+1]   memory m makes the links offset[m]:offset[m + 1]; empty: none
target    uint32[L]        the memory that each link leads to
weight    float32[L]
source    uint32[L]        the memory that each link comes from
previous  uint32[L]        with ``head`` the chains of ``target``
head      uint32[M], or empty
"""

Times: TypeAlias = tuple[U32, U32, I64]
"""When the memories' events happened: order, rank, event_at.

order     uint32[n]   memories by (event_at, ordinal)
rank      uint32[M]   the place of each memory in ``order``, or NONE
event_at  int64[M]    microseconds
"""

Query: TypeAlias = tuple[U32, U16, F32]
"""What a memory's similarity to the question is computed from: first_row, vectors, query.

first_row  uint32[>= M+1]  rows of memory m are first_row[m]:first_row[m + 1]
vectors    uint16[R, D]    float16 bit patterns
query      float32[D]
"""


# Which memories are the nearest in time? Temporal links are computed, not stored.
NONE = np.uint32(0xFFFFFFFF)
_FLOOR = np.float32(0.3)  # the least weight of a temporal link


@kernel
def near_in_time(
    memory: np.int64,
    times: Times,
    window_us: int,
    hub: int,
    allowed: U8,
    end: int,
    out_memories: U32,
    out_weights: F32,
) -> int:
    """Return how many temporal neighbours were written to ``out_memories``, nearest first."""
    time_order, time_rank, event_at = times
    n = 0
    if memory >= time_rank.shape[0] or time_rank[memory] == NONE:
        return n
    size = np.int64(time_order.shape[0])
    when = event_at[memory]
    left = right = np.int64(time_rank[memory])
    next_left = next_right = True
    seen_left = seen_right = before = 0
    while n < out_memories.shape[0]:
        if next_left:  # the next allowed memory before, -1 if none is within the window
            next_left = False
            left -= 1
            while left >= 0:
                m = time_order[left]
                if m < end:
                    if seen_left == hub or when - event_at[m] >= window_us:
                        left = np.int64(-1)
                        break
                    seen_left += 1
                    if allowed[m] != 0:
                        break
                left -= 1
        if next_right:  # and after, ``size`` if none is
            next_right = False
            right += 1
            while right < size:
                m = time_order[right]
                if m < end:
                    if seen_right == hub or event_at[m] - when >= window_us:
                        right = size
                        break
                    seen_right += 1
                    if allowed[m] != 0:
                        break
                right += 1
        if left >= 0 and right < size:
            closer = (when - event_at[time_order[left]]) - (event_at[time_order[right]] - when)
            next_left = bool(closer < 0 or (closer == 0 and before < n - before))
        elif left >= 0 or right < size:
            next_left = bool(left >= 0)
        else:
            break
        next_right = not next_left
        before += next_left
        m = time_order[left if next_left else right]
        far = np.float64(abs(event_at[m] - when)) / np.float64(window_us)
        out_memories[n] = m
        out_weights[n] = max(_FLOOR, np.float32(1.0 - far))
        n += 1
    return n


# Which memories mention an entity? Chains of mentions, newest first, walked as far as needed.
HALF = np.uint64(32)  # an entry's memory stands in the upper half of its tag

Chain: TypeAlias = tuple[U32, U32]
"""Of each mention its memory, and the mention before it of the same entity: see `Mentions`."""

Seen: TypeAlias = tuple[np.uint32, np.uint32, F32, U32]
"""What a walk knows of the memories: stamp, visited, closeness, scratch.

stamp      scratch[m] - stamp is the place of a known memory m in ``closeness``
visited    what scratch[m] holds once memory m was visited
closeness  float32[K]   cosines of the known memories
scratch    uint32[M]
"""


@kernel
def best_cosine(memory: int | np.int64 | np.uint32, query: Query) -> np.float32:
    """Return a memory's similarity to the query: its best row's."""
    first_row, vectors, vector = query
    best = np.float32(-np.inf)
    for row in range(np.int64(first_row[memory]), np.int64(first_row[memory + 1])):
        best = max(best, similarity(vectors, row, vector))
    return best


@kernel
def next_named(
    i: np.uint32,
    looked: int,
    chain: Chain,
    end: int,
    hub: int,
    allowed: U8,
    visited: np.uint32,
    scratch_memories: U32,
) -> tuple[np.uint32, int]:
    """Return the mention from ``i`` on whose memory may be visited, NONE if none, and the count.

    ``looked``: how many of the entity's memories were met before; at most ``hub`` are. Memories
    from ``end`` on are passed over.
    """
    mention_memory, mention_previous = chain
    while i != NONE:
        m = mention_memory[i]
        if m < end:
            if looked == hub:
                break
            looked += 1
            if scratch_memories[m] != visited and allowed[m] != 0:
                following = mention_previous[i]
                if following != NONE:  # the next call's, and the one's after it
                    prefetch(scratch_memories, int(mention_memory[following]))
                    prefetch(allowed, int(mention_memory[following]))
                    prefetch(mention_memory, int(mention_previous[following]))
                    prefetch(mention_previous, int(mention_previous[following]))
                return i, looked
        i = mention_previous[i]
    return NONE, looked


@kernel
def open_newest(
    mention: np.uint32,
    activation: np.float32,
    chain: Chain,
    end: int,
    fresh: int,
    allowed: U8,
    seen: Seen,
    query: Query,
    n: int,
    heap: U64,
) -> tuple[np.uint32, int, int]:
    """Push those of an entity's ``fresh`` newest memories that are not known, with their cosines.

    Return the mention after them, how many memories were looked at, and the heap's size.
    """
    mention_memory, mention_previous = chain
    stamp, visited, closeness, scratch_memories = seen
    first_row, vectors, _ = query
    known = closeness.shape[0]
    members = np.empty(fresh, np.uint32)
    looked = met = 0
    while mention != NONE and looked < fresh:
        m = mention_memory[mention]
        if m < end:
            prefetch(scratch_memories, int(m))
            prefetch(allowed, int(m))
            prefetch(first_row, int(m))
            members[looked] = m
            looked += 1
        mention = mention_previous[mention]
    for i in range(looked):
        m = members[i]
        place = np.uint32(scratch_memories[m] - stamp)
        if place >= known and scratch_memories[m] != visited and allowed[m] != 0:
            prefetch_row(vectors, first_row[m])
            members[met] = m
            met += 1
    for i in range(met):
        near = best_cosine(members[i], query)
        n = push(n, key(activation, near), np.uint64(members[i]) << HALF, heap)
    return mention, looked, n


@kernel
def known_pairs(known: U32, entity_offsets: U64, mention_entity: U32) -> tuple[U32, U32]:
    """Return the entities that the known memories name, and the place of each one's memory."""
    count = 0
    for k in range(known.shape[0]):
        m = np.int64(known[k])
        if m + 1 < entity_offsets.shape[0]:
            count += int(entity_offsets[m + 1]) - int(entity_offsets[m])
            prefetch(mention_entity, int(entity_offsets[m]))
    entities = np.empty(count, np.uint32)
    places = np.empty(count, np.uint32)
    n = 0
    for k in range(known.shape[0]):
        m = np.int64(known[k])
        if m + 1 < entity_offsets.shape[0]:
            for i in range(np.int64(entity_offsets[m]), np.int64(entity_offsets[m + 1])):
                entities[n] = mention_entity[i]
                places[n] = k
                n += 1
    return entities, places

"""Which memories mention an entity? Chains of mentions, newest first, walked as far as needed."""

from typing import TypeAlias

import numpy as np

from recollex_kernels.graph._frontier import key, push
from recollex_kernels.graph._time_links import NONE
from recollex_kernels.graph.links import Query
from recollex_kernels.machine.jit import F32, U8, U32, U64, kernel
from recollex_kernels.machine.prefetch import prefetch, prefetch_row
from recollex_kernels.vectors.similarity import similarity

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

"""Which memories does an entity name? Chains of mentions, newest first, walked as far as needed."""

import numpy as np

from recollex_kernels.graph._frontier import key, push
from recollex_kernels.graph._time_links import NONE
from recollex_kernels.machine.jit import F32, I64, U8, U16, U32, U64, kernel
from recollex_kernels.machine.prefetch import prefetch, prefetch_row
from recollex_kernels.vectors.similarity import similarity

HALF = np.uint64(32)  # an entry's memory stands in the upper half of its tag


@kernel
def best_cosine(
    memory: int | np.int64 | np.uint32, first_row: U32, vectors: U16, query: F32
) -> np.float32:
    """Return a memory's similarity to the query: its best row's."""
    best = np.float32(-np.inf)
    for row in range(np.int64(first_row[memory]), np.int64(first_row[memory + 1])):
        best = max(best, similarity(vectors, row, query))
    return best


@kernel
def next_named(
    i: np.uint32,
    looked: int,
    mention_memory: U32,
    mention_previous: U32,
    n_memories: int,
    hub: int,
    allowed: U8,
    visited: np.uint32,
    scratch_memories: U32,
) -> tuple[np.uint32, int]:
    """Return the mention from ``i`` on whose memory may be visited, NONE if none, and the count.

    ``looked``: how many of the entity's memories were met before; at most ``hub`` are.
    """
    while i != NONE:
        m = mention_memory[i]
        if m < n_memories:
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
    mention_memory: U32,
    mention_previous: U32,
    n_memories: int,
    fresh: int,
    allowed: U8,
    visited: np.uint32,
    stamp: np.uint32,
    known: int,
    scratch_memories: U32,
    first_row: U32,
    vectors: U16,
    query: F32,
    n: int,
    heap: U64,
) -> tuple[np.uint32, int, int]:
    """Push those of an entity's ``fresh`` newest memories that are not known, with their cosines.

    Returned are the mention behind them, how many were looked at, and the heap's size.
    """
    members = np.empty(fresh, np.uint32)
    looked = met = 0
    while mention != NONE and looked < fresh:
        m = mention_memory[mention]
        if m < n_memories:
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
        near = best_cosine(members[i], first_row, vectors, query)
        n = push(n, key(activation, near), np.uint64(members[i]) << HALF, heap)
    return mention, looked, n


@kernel
def known_pairs(known: U32, entity_offsets: U64 | I64, mention_entity: U32) -> tuple[U32, U32]:
    """Return the entities that the known memories name, and the place of each one's memory."""
    count = 0
    for k in range(known.shape[0]):
        m = np.int64(known[k])
        if m + 1 < entity_offsets.shape[0]:
            count += int(entity_offsets[m + 1]) - int(entity_offsets[m])
            prefetch(mention_entity, int(entity_offsets[m]))
    entities, places = np.empty(count, np.uint32), np.empty(count, np.uint32)
    n = 0
    for k in range(known.shape[0]):
        m = np.int64(known[k])
        if m + 1 < entity_offsets.shape[0]:
            for i in range(np.int64(entity_offsets[m]), np.int64(entity_offsets[m + 1])):
                entities[n], places[n] = mention_entity[i], k
                n += 1
    return entities, places

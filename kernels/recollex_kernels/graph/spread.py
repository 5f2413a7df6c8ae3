"""Spreading activation over entity, semantic and temporal links, and the chains it walks.

A chain threads the entries of an append-only array that share a key, newest first: ``head[key]``
is the latest entry of the key, ``previous[i]`` the one before entry i, NONE where there is none.
"""

import numpy as np

from recollex_kernels.graph._entity_links import (
    HALF,
    best_cosine,
    known_pairs,
    next_named,
    open_newest,
)
from recollex_kernels.graph._frontier import (
    activation_of,
    closeness_of,
    key,
    longer,
    pop,
    push,
    sink,
)
from recollex_kernels.graph._time_links import NONE, near_in_time
from recollex_kernels.machine.jit import F32, I64, U8, U16, U32, U64, kernel
from recollex_kernels.machine.prefetch import prefetch

_HEAVIEST = np.float32(1)  # rounding lets a cosine be a little more
_FAR = np.float32(-np.inf)  # the closeness of what is not among the known
_FIRST = np.float32(np.inf)  # what is unknown comes before what is known

# an entry of the heap: a memory or an entity in the upper half, then what it is, then its place
_MEMORY = np.uint64(0)  # a memory
_CURSOR = np.uint64(1 << 30)  # a memory, and behind it the others that its entity names
_ENTITY = np.uint64(3 << 30)  # all memories of an entity, not looked at yet
_KIND = np.uint64(3 << 30)
_PLACE = np.uint64((1 << 30) - 1)


@kernel
def _closeness(
    memory: np.uint32, stamp: np.uint32, closeness: F32, scratch_memories: U32
) -> np.float32:
    """Return how close a memory is that was not visited: ``_FAR`` for one that is not known."""
    place = np.uint32(scratch_memories[memory] - stamp)
    return closeness[place] if place < closeness.shape[0] else _FAR


@kernel
def _offer(
    n: int,
    passed: np.float32,
    memory: np.uint32,
    visited: np.uint32,
    stamp: np.uint32,
    closeness: F32,
    scratch_memories: U32,
    heap: U64,
) -> int:
    """Return the heap's size with the memory in it, if it was not visited."""
    if scratch_memories[memory] == visited:
        return n
    near = _closeness(memory, stamp, closeness, scratch_memories)
    return push(n, key(passed, near), np.uint64(memory) << HALF, heap)


@kernel
def spread(
    seeds: U32,
    activations: F32,
    known: U32,
    closeness: F32,
    entity_offsets: U64 | I64,
    mention_entity: U32,
    mention_memory: U32,
    mention_previous: U32,
    entity_head: U32,
    entity_weight: F32,
    link_offsets: U64 | I64,
    link_target: U32,
    link_weight: F32,
    link_source: U32,
    link_previous: U32,
    link_head: U32,
    time_order: U32,
    time_rank: U32,
    event_at: I64,
    first_row: U32,
    vectors: U16,
    query: F32,
    allowed: U8,
    n_memories: int,
    decay: float,
    threshold: float,
    min_weight: float,
    window_us: int,
    neighbours: int,
    hub: int,
    fresh: int,
    min_cosine: float,
    budget: int,
    epoch: int,
    scratch_memories: U32,
    scratch_entities: U32,
) -> tuple[U32, F32]:
    """Return the memories activation reaches from the seeds, in the order reached, and their own.

    Algorithm (TEMPR 3.1.3; Memora 3.1.3 starts every seed at 1.0). The most activated memory not
    yet visited is visited, becomes a result and activates its neighbours, until ``budget``
    memories are visited:
        activation(neighbour) = activation(memory) * weight * decay       (float32, left to right)
    A link counts if weight >= ``min_weight`` (0.1), a neighbour if its activation > ``threshold``
    (0.1); a memory keeps its greatest activation. Seeds are exempt from the threshold. A weight
    above 1 counts as 1, and ``decay`` is at most 1: activation never grows.
    Ties: what is among ``known``, or reached as one of the ``fresh`` newest memories of an entity,
    comes first, by its cosine; then the newer memory, that is the higher ordinal. Memories with
    ``allowed[memory]`` = 0 or a cosine < ``min_cosine`` are never visited, not as seeds either,
    and pass nothing on.

    Links of a memory (TEMPR 2.4), all seen as of the first ``n_memories`` memories:
        entity    to the newest ``hub`` memories of each of its entities and to the known ones,
                  weight entity_weight[e]
        semantic  to its own link targets, and to the newest ``hub`` memories that link to it
        temporal  to the ``neighbours`` nearest allowed memories with |dt| < ``window_us``, weight
                  max(0.3, 1 - dt / window_us); among equal dt from the side with fewer taken,
                  then the later; at most ``hub`` memories are looked at on each side

    Shapes, for M >= n_memories memories, R rows of width D, S seeds, K known memories, E mentions
    of entities, L links; the three kinds of links are optional, left out by passing empty arrays:
        seeds, activations  uint32[S], float32[S]; a repeated seed counts once, at its best
        known, closeness  uint32[K], float32[K]: no memory twice; their cosines, all finite
        entity_offsets    int64 or uint64[M+1]: memory m's mentions are entity_offsets[m:m+2]
        mention_entity, mention_memory, mention_previous  uint32[E], with entity_head the chains
                          of ``mention_entity``
        entity_weight     float32[entities]
        link_offsets      int64 or uint64[M+1]: memory m's own links are link_offsets[m:m+2]
        link_target, link_source, link_previous  uint32[L], with link_head the chains
                          of ``link_target``
        link_weight       float32[L]
        time_order        uint32[n]: memories by (event_at, ordinal)
        time_rank         uint32[M]: where each stands in time_order, or NONE
        event_at          int64[M], microseconds
        first_row         uint32[M+1]: memory m's rows are first_row[m:m+2]
        vectors, query    uint16[R, D] (float16 bit patterns), float32[D]; of what is not known
                          only the fresh are looked at, and what min_cosine > -inf asks about
        allowed           uint8[M]
        epoch             in [1, 2**32 - K): from it on, K + 1 numbers that neither scratch array
                          holds
        scratch_memories, scratch_entities  uint32[M], uint32[entities]: zeroed once, then kept
                          between the calls of one thread
        returned          uint32[n], float32[n], n <= budget

    The result is that of the eager algorithm. A visited memory's links are looked at only when
    the greatest activation that they could pass is the greatest left, and of an entity's memories
    one after the other: a hub costs what is visited of it.
    Cost: O(n + links of the memories that activation goes on from), and ``fresh`` vectors an
    entity; nothing is O(M).
    """
    weakest = np.float32(threshold)
    lightest = np.float32(min_weight)
    fading = np.float32(decay)
    nearest = np.float32(min_cosine)
    stamp = np.uint32(epoch)
    visited = np.uint32(epoch + known.shape[0])
    size = max(0, min(budget, n_memories))
    memories = np.empty(size, np.uint32)
    reached = np.empty(size, np.float32)
    close = np.empty(max(0, neighbours), np.uint32)
    weights = np.empty(max(0, neighbours), np.float32)
    of_cursor = np.empty(64, np.uint32)  # the mention that each cursor stands at
    looked_at = np.empty(64, np.int64)
    cursors = 0
    known_entity, known_place = np.empty(0, np.uint32), np.empty(0, np.uint32)
    paired = False
    found = 0
    opened = 0  # of the visited, so many have passed on what they have
    n = 0
    heap = np.empty(2 * seeds.shape[0] + 2048, np.uint64)
    for k in range(known.shape[0]):
        prefetch(scratch_memories, int(known[k]))
        prefetch(entity_offsets, int(known[k]))
        prefetch(allowed, int(known[k]))
    if seeds.shape[0] > 0:  # mostly the one that is visited first
        prefetch(time_rank, int(seeds[0]))
        prefetch(event_at, int(seeds[0]))
    for k in range(known.shape[0]):
        scratch_memories[known[k]] = np.uint32(epoch + k)
    for s in range(seeds.shape[0]):
        m = seeds[s]
        n = _offer(n, activations[s], m, visited, stamp, closeness, scratch_memories, heap)
    while found < size:
        most = reached[opened] * fading if opened < found else weakest
        if most > weakest and (n == 0 or most >= activation_of(heap[0])):
            u, activation = np.int64(memories[opened]), reached[opened]
            opened += 1
            room = n + min(hub, link_source.shape[0]) + neighbours
            if u + 1 < entity_offsets.shape[0]:
                room += np.int64(entity_offsets[u + 1]) - np.int64(entity_offsets[u])
            if u + 1 < link_offsets.shape[0]:
                room += np.int64(link_offsets[u + 1]) - np.int64(link_offsets[u])
            if 2 * room > heap.shape[0]:
                heap = longer(heap, room)
            if u + 1 < entity_offsets.shape[0]:
                for i in range(np.int64(entity_offsets[u]), np.int64(entity_offsets[u + 1])):
                    e = mention_entity[i]
                    if scratch_entities[e] != stamp and entity_weight[e] >= lightest:
                        passed = activation * min(entity_weight[e], _HEAVIEST) * fading
                        if passed > weakest:  # the first to reach an entity is the most activated
                            scratch_entities[e] = stamp
                            n = push(n, key(passed, _FIRST), np.uint64(e) << HALF | _ENTITY, heap)
            if u + 1 < link_offsets.shape[0]:
                for i in range(np.int64(link_offsets[u]), np.int64(link_offsets[u + 1])):
                    passed = activation * min(link_weight[i], _HEAVIEST) * fading
                    m = link_target[i]
                    if passed > weakest and link_weight[i] >= lightest:
                        n = _offer(n, passed, m, visited, stamp, closeness, scratch_memories, heap)
            if u < link_head.shape[0]:
                link = link_head[u]
                looked = 0
                while link != NONE and looked < hub:
                    m = link_source[link]
                    if m < n_memories:
                        looked += 1
                        passed = activation * min(link_weight[link], _HEAVIEST) * fading
                        if passed > weakest and link_weight[link] >= lightest:
                            n = _offer(
                                n, passed, m, visited, stamp, closeness, scratch_memories, heap
                            )
                    link = link_previous[link]
            count = near_in_time(
                u,
                time_order,
                time_rank,
                event_at,
                window_us,
                hub,
                allowed,
                n_memories,
                close,
                weights,
            )
            for p in range(count):
                passed = activation * weights[p] * fading
                if passed > weakest and weights[p] >= lightest:
                    m = close[p]
                    n = _offer(n, passed, m, visited, stamp, closeness, scratch_memories, heap)
            continue
        if n == 0:
            break
        top, tag = heap[0], heap[1]
        kind = tag & _KIND
        u = np.int64(tag >> HALF)
        if kind == _CURSOR:
            k = int(tag & _PLACE)
            mention, looked_at[k] = next_named(
                mention_previous[of_cursor[k]],
                looked_at[k],
                mention_memory,
                mention_previous,
                n_memories,
                hub,
                allowed,
                visited,
                scratch_memories,
            )
            of_cursor[k] = mention
            if mention == NONE:
                n = pop(n, heap)
            else:
                later = np.uint64(mention_memory[mention]) << HALF | np.uint64(k) | _CURSOR
                sink(n, key(activation_of(top), _FAR), later, heap)
        else:
            n = pop(n, heap)
        if kind != _ENTITY:
            if scratch_memories[u] == visited:
                continue
            scratch_memories[u] = visited
            if allowed[u] == 0:
                continue
            if nearest > _FAR:
                near = closeness_of(top)
                if near == _FAR:
                    near = best_cosine(u, first_row, vectors, query)
                if near < nearest:
                    continue
            memories[found] = u
            reached[found] = activation_of(top)
            found += 1
            continue
        if not paired:
            known_entity, known_place = known_pairs(known, entity_offsets, mention_entity)
            paired = True
        if 2 * (n + known.shape[0] + fresh + 1) > heap.shape[0]:
            heap = longer(heap, n + known.shape[0] + fresh + 1)
        activation = activation_of(top)
        for p in range(known_entity.shape[0]):
            if known_entity[p] == u:
                k = int(known_place[p])
                m = known[k]
                if scratch_memories[m] != visited:
                    n = push(n, key(activation, closeness[k]), np.uint64(m) << HALF, heap)
        mention, looked, n = open_newest(
            entity_head[u],
            activation,
            mention_memory,
            mention_previous,
            n_memories,
            min(fresh, hub),
            allowed,
            visited,
            stamp,
            closeness.shape[0],
            scratch_memories,
            first_row,
            vectors,
            query,
            n,
            heap,
        )
        mention, looked = next_named(
            mention,
            looked,
            mention_memory,
            mention_previous,
            n_memories,
            hub,
            allowed,
            visited,
            scratch_memories,
        )
        if mention != NONE:
            if cursors == of_cursor.shape[0]:
                of_cursor = np.concatenate((of_cursor, np.empty_like(of_cursor)))
                looked_at = np.concatenate((looked_at, np.empty_like(looked_at)))
            of_cursor[cursors], looked_at[cursors] = mention, looked
            tag = np.uint64(mention_memory[mention]) << HALF | np.uint64(cursors) | _CURSOR
            n = push(n, key(activation, _FAR), tag, heap)
            cursors += 1
    return memories[:found].copy(), reached[:found].copy()

"""Spreading activation over entity, semantic and temporal links.

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

Links of a memory (TEMPR 2.4), all seen as of the first ``end`` memories:
    entity    to the newest ``hub`` memories of each of its entities and to the known ones,
              weight entity_weight[e]
    semantic  to its own link targets, and to the newest ``hub`` memories that link to it
    temporal  to the ``neighbours`` nearest allowed memories with |dt| < ``window_us``, weight
              max(0.3, 1 - dt / window_us); among equal dt from the side with fewer taken,
              then the later; at most ``hub`` memories are looked at on each side

The result is that of the eager algorithm. A visited memory's links are looked at only when the
greatest activation that they could pass is the greatest left, and an entity's memories one after
the other: a hub costs only what is visited of it.
"""

from typing import TypeAlias

import numpy as np

from recollex_kernels.graph._frontier import (
    activation_of,
    closeness_of,
    key,
    longer,
    pop,
    push,
    sink,
)
from recollex_kernels.graph.links import (
    HALF,
    NONE,
    Links,
    Mentions,
    Query,
    Scored,
    Seen,
    Times,
    best_cosine,
    known_pairs,
    near_in_time,
    next_named,
    open_newest,
)
from recollex_kernels.machine.jit import F32, I64, U8, U32, U64, kernel
from recollex_kernels.machine.memory_access import prefetch

_HEAVIEST = np.float32(1)  # rounding lets a cosine be a little more
_FAR = np.float32(-np.inf)  # the closeness of what is not among the known
_FIRST = np.float32(np.inf)  # what is unknown comes before what is known

# an entry of the heap: a memory or an entity in the upper half, then what it is, then its place
_MEMORY = np.uint64(0)  # a memory
_CURSOR = np.uint64(1 << 30)  # a memory, and after it the others that mention its entity
_ENTITY = np.uint64(3 << 30)  # all memories of an entity, not looked at yet
_KIND = np.uint64(3 << 30)
_PLACE = np.uint64((1 << 30) - 1)


Limits: TypeAlias = tuple[float, float, float, float]
"""What activation must be worth: decay, threshold, min_weight, min_cosine; see `spread`."""

Reach: TypeAlias = tuple[int, int, int, int]
"""How far a memory is looked from: window_us, neighbours, hub, fresh; see `spread`.

window_us   microseconds within which two events are neighbours in time
neighbours  how many neighbours in time a memory has at most
hub         how many memories of an entity, or links to a memory, are considered
fresh       how many of an entity's newest memories are compared with the query
"""

Stamps: TypeAlias = tuple[int, U32, U32]
"""Scratch: epoch, memories, entities.

epoch     in [1, 2**32 - K): from it on, K + 1 numbers that neither array holds, for K known
memories  uint32[M], entities uint32[entities]: zeroed once, kept between the calls of one thread
"""


@kernel
def _entries(offsets: U64, u: np.int64) -> tuple[np.int64, np.int64]:
    """Return which entries are memory ``u``'s: from where to where, equal if it has none."""
    if u + 1 < offsets.shape[0]:
        return np.int64(offsets[u]), np.int64(offsets[u + 1])
    return np.int64(0), np.int64(0)


@kernel
def _grown(of_cursor: U32, looked_at: I64) -> tuple[U32, I64]:
    """Return the cursors' arrays with room for as many again."""
    mentions = np.concatenate((of_cursor, np.empty_like(of_cursor)))
    return mentions, np.concatenate((looked_at, np.empty_like(looked_at)))


@kernel
def _offer(n: int, passed: np.float32, memory: np.uint32, seen: Seen, heap: U64) -> int:
    """Return the heap's size with the memory in it, if it was not visited."""
    stamp, visited, closeness, scratch_memories = seen
    if scratch_memories[memory] == visited:
        return n
    place = np.uint32(scratch_memories[memory] - stamp)
    near = closeness[place] if place < closeness.shape[0] else _FAR
    return push(n, key(passed, near), np.uint64(memory) << HALF, heap)


@kernel
def spread(
    seeds: Scored,
    known: Scored,
    mentions: Mentions,
    entity_weight: F32,
    links: Links,
    times: Times,
    query: Query,
    allowed: U8,
    end: int,
    limits: Limits,
    reach: Reach,
    budget: int,
    scratch: Stamps,
) -> tuple[U32, F32]:
    """Return the memories activation reaches from the seeds, in the order reached, and their own.

    The algorithm stands at the top of this module; memories from ``end`` on do not exist for it.

    Shapes, for M >= ``end`` memories (see `links` for the tuples; each of the three kinds of links
    is optional, and left out by empty arrays):
        seeds          a repeated seed counts once, at its best activation
        known          no memory twice; their cosines, all finite
        entity_weight  float32[entities]
        query          compared with the fresh, and if min_cosine > -inf with all that is reached
        allowed        uint8[M]
        returned       uint32[n], float32[n], n <= budget

    Cost: O(n + links of the memories that activation goes on from), and ``fresh`` vectors an
    entity; nothing is O(M).
    """
    entity_offsets, mention_entity, mention_memory, mention_previous, entity_head = mentions
    link_offsets, link_target, link_weight, link_source, link_previous, link_head = links
    decay, threshold, min_weight, min_cosine = limits
    window_us, neighbours, hub, fresh = reach
    epoch, scratch_memories, scratch_entities = scratch
    known_memories, closeness = known
    chain = (mention_memory, mention_previous)
    newest = min(fresh, hub)
    weakest = np.float32(threshold)
    lightest = np.float32(min_weight)
    fading = np.float32(decay)
    nearest = np.float32(min_cosine)
    stamp = np.uint32(epoch)
    visited = np.uint32(epoch + known_memories.shape[0])
    seen = stamp, visited, closeness, scratch_memories
    size = max(0, min(budget, end))
    memories = np.empty(size, np.uint32)
    reached = np.empty(size, np.float32)
    close = np.empty(max(0, neighbours), np.uint32)
    weights = np.empty(max(0, neighbours), np.float32)
    # a cursor's mention
    of_cursor = np.empty(64, np.uint32)
    looked_at = np.empty(64, np.int64)
    known_entity = np.empty(0, np.uint32)
    known_place = np.empty(0, np.uint32)
    paired = False
    cursors = found = n = opened = 0  # opened: the visited that have passed on what they have
    heap = np.empty(2 * seeds[0].shape[0] + 2048, np.uint64)
    for k in range(known_memories.shape[0]):
        prefetch(scratch_memories, int(known_memories[k]))
        prefetch(entity_offsets, int(known_memories[k]))
        prefetch(allowed, int(known_memories[k]))
    if seeds[0].shape[0] > 0:  # mostly the one that is visited first
        prefetch(times[1], int(seeds[0][0]))
        prefetch(times[2], int(seeds[0][0]))
    for k in range(known_memories.shape[0]):
        scratch_memories[known_memories[k]] = np.uint32(epoch + k)
    for s in range(seeds[0].shape[0]):
        n = _offer(n, seeds[1][s], seeds[0][s], seen, heap)
    while found < size:
        most = reached[opened] * fading if opened < found else weakest
        if most > weakest and (n == 0 or most >= activation_of(heap[0])):
            u = np.int64(memories[opened])
            activation = reached[opened]
            opened += 1
            first_mention, end_mention = _entries(entity_offsets, u)
            first_link, end_link = _entries(link_offsets, u)
            room = n + min(hub, link_source.shape[0]) + neighbours
            room += end_mention - first_mention + end_link - first_link
            if 2 * room > heap.shape[0]:
                heap = longer(heap, room)
            for i in range(first_mention, end_mention):
                e = mention_entity[i]
                if scratch_entities[e] != stamp and entity_weight[e] >= lightest:
                    passed = activation * min(entity_weight[e], _HEAVIEST) * fading
                    if passed > weakest:  # the first to reach an entity is the most activated
                        scratch_entities[e] = stamp
                        n = push(n, key(passed, _FIRST), np.uint64(e) << HALF | _ENTITY, heap)
            for i in range(first_link, end_link):
                passed = activation * min(link_weight[i], _HEAVIEST) * fading
                if passed > weakest and link_weight[i] >= lightest:
                    n = _offer(n, passed, link_target[i], seen, heap)
            link = link_head[u] if u < link_head.shape[0] else NONE
            looked = 0
            while link != NONE and looked < hub:
                m = link_source[link]
                if m < end:
                    looked += 1
                    passed = activation * min(link_weight[link], _HEAVIEST) * fading
                    if passed > weakest and link_weight[link] >= lightest:
                        n = _offer(n, passed, m, seen, heap)
                link = link_previous[link]
            count = near_in_time(u, times, window_us, hub, allowed, end, close, weights)
            for p in range(count):
                passed = activation * weights[p] * fading
                if passed > weakest and weights[p] >= lightest:
                    n = _offer(n, passed, close[p], seen, heap)
            continue
        if n == 0:
            break
        top = heap[0]
        tag = heap[1]
        kind = tag & _KIND
        u = np.int64(tag >> HALF)
        if kind == _CURSOR:
            k = int(tag & _PLACE)
            mention, looked_at[k] = next_named(
                mention_previous[of_cursor[k]],
                looked_at[k],
                chain,
                end,
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
                    near = best_cosine(u, query)
                if near < nearest:
                    continue
            memories[found] = u
            reached[found] = activation_of(top)
            found += 1
            continue
        if not paired:
            known_entity, known_place = known_pairs(known_memories, entity_offsets, mention_entity)
            paired = True
        if 2 * (n + known_memories.shape[0] + fresh + 1) > heap.shape[0]:
            heap = longer(heap, n + known_memories.shape[0] + fresh + 1)
        activation = activation_of(top)
        for p in range(known_entity.shape[0]):
            if known_entity[p] == u:
                k = int(known_place[p])
                m = known_memories[k]
                if scratch_memories[m] != visited:
                    n = push(n, key(activation, closeness[k]), np.uint64(m) << HALF, heap)
        mention, looked, n = open_newest(
            entity_head[u], activation, chain, end, newest, allowed, seen, query, n, heap
        )
        mention, looked = next_named(
            mention, looked, chain, end, hub, allowed, visited, scratch_memories
        )
        if mention != NONE:
            if cursors == of_cursor.shape[0]:
                of_cursor, looked_at = _grown(of_cursor, looked_at)
            of_cursor[cursors] = mention
            looked_at[cursors] = looked
            tag = np.uint64(mention_memory[mention]) << HALF | np.uint64(cursors) | _CURSOR
            n = push(n, key(activation, _FAR), tag, heap)
            cursors += 1
    return memories[:found].copy(), reached[:found].copy()

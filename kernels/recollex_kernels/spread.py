"""Spreading activation over entity, semantic and temporal links, and the chains it walks.

A chain threads the entries of an append-only array that share a key, newest first: ``head[key]``
is the latest entry of the key, ``previous[i]`` the one before entry i, NONE where there is none.
"""

import numpy as np

from recollex_kernels._float16 import prefetch_row, similarity
from recollex_kernels._jit import F32, I64, U8, U16, U32, U64, kernel

NONE = np.uint32(0xFFFFFFFF)
_AHEAD = 8  # rows asked of memory before they are read
_TIME_FLOOR = np.float32(0.3)  # TEMPR 2.4.1: the least weight of a temporal link

# what an entry of the heap names, in the bits above its id
_MEMORY = np.uint64(0)  # a memory whose cosine is known
_UNMET = np.uint64(1 << 32)  # a memory whose cosine is not known yet
_ENTITY = np.uint64(2 << 32)  # all memories of an entity, not known yet
_ID = np.uint64(0xFFFFFFFF)


@kernel
def _above(
    activation: np.float32, cosine: np.float32, tag: np.uint64, at: int, a: F32, c: F32, t: U64
) -> bool:
    """Return whether an entry leaves the heap before the entry at ``at``."""
    if activation != a[at]:
        return bool(activation > a[at])
    if cosine != c[at]:
        return bool(cosine > c[at])
    return bool(tag > t[at])


@kernel
def _longer(a: F32, c: F32, t: U64, size: int) -> tuple[F32, F32, U64]:
    """Return the heap's arrays with room for at least ``size`` entries."""
    more = max(size - a.shape[0], a.shape[0])
    a = np.concatenate((a, np.empty(more, np.float32)))
    c = np.concatenate((c, np.empty(more, np.float32)))
    return a, c, np.concatenate((t, np.empty(more, np.uint64)))


@kernel
def _push(
    n: int, activation: np.float32, cosine: np.float32, tag: np.uint64, a: F32, c: F32, t: U64
) -> int:
    """Return the heap's size after one more entry, for which there is room."""
    i = n
    while i > 0:
        p = (i - 1) >> 1
        if not _above(activation, cosine, tag, p, a, c, t):
            break
        a[i], c[i], t[i] = a[p], c[p], t[p]
        i = p
    a[i], c[i], t[i] = activation, cosine, tag
    return n + 1


@kernel
def _pop(n: int, a: F32, c: F32, t: U64) -> int:
    """Return the heap's size after its top entry was dropped."""
    n -= 1
    activation, cosine, tag = a[n], c[n], t[n]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= n:
            break
        if child + 1 < n and _above(a[child + 1], c[child + 1], t[child + 1], child, a, c, t):
            child += 1
        if _above(activation, cosine, tag, child, a, c, t):
            break
        a[i], c[i], t[i] = a[child], c[child], t[child]
        i = child
    a[i], c[i], t[i] = activation, cosine, tag
    return n


@kernel
def _cosine(
    memory: int | np.int64 | np.uint32, first_row: U32, vectors: U16, query: F32
) -> np.float32:
    """Return a memory's similarity to the query: its best row's."""
    best = np.float32(-np.inf)
    for row in range(np.int64(first_row[memory]), np.int64(first_row[memory + 1])):
        best = max(best, similarity(vectors, row, query))
    return best


@kernel
def _near_in_time(
    memory: np.int64,
    time_order: U32,
    time_rank: U32,
    event_at: I64,
    window_us: int,
    hub: int,
    allowed: U8,
    n_memories: int,
    out_memories: U32,
    out_weights: F32,
) -> int:
    """Return how many temporal neighbours were written to ``out_memories``, nearest first."""
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
                if m < n_memories:
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
                if m < n_memories:
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
        out_weights[n] = max(_TIME_FLOOR, np.float32(1.0 - far))
        n += 1
    return n


@kernel
def spread(
    seeds: U32,
    activations: F32,
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
    (0.1); a memory keeps its greatest activation. Seeds are exempt from the threshold.
    Ties: the higher cosine to the query, then the newer memory, that is the higher ordinal.
    Memories with ``allowed[memory]`` = 0 or cosine < ``min_cosine`` are never visited, not as
    seeds either, and pass nothing on. Activation never grows: weight * decay must be <= 1.

    Links of a memory (TEMPR 2.4), all seen as of the first ``n_memories`` memories:
        entity    to the newest ``hub`` memories of each of its entities, weight entity_weight[e]
        semantic  to its own link targets, and to the newest ``hub`` memories that link to it
        temporal  to the ``neighbours`` nearest allowed memories with |dt| < ``window_us``, weight
                  max(0.3, 1 - dt / window_us); among equal dt from the side with fewer taken,
                  then the later; at most ``hub`` memories are looked at on each side

    Shapes, for M >= n_memories memories, R rows of width D, S seeds, E mentions of entities, L
    links; the three kinds of links are optional, left out by passing empty arrays:
        seeds, activations  uint32[S], float32[S]; a repeated seed counts once, at its best
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
        vectors, query    uint16[R, D] (float16 bit patterns), float32[D]
        allowed           uint8[M]
        epoch             in [1, 2**32), a number that neither scratch array holds
        scratch_memories, scratch_entities  uint32[M], uint32[entities]: zeroed once, then kept
                          between the calls of one thread
        returned          uint32[n], float32[n], n <= budget

    The result is that of the eager algorithm: an entity's memories and a memory's cosine are
    looked up only when their activation is the greatest left, and each only once.
    Cost: O(links of the visited memories + memories met * D); nothing is O(M).
    """
    weakest = np.float32(threshold)
    lightest = np.float32(min_weight)
    most = min(hub, max(mention_memory.shape[0], link_source.shape[0]))  # of one chain
    fading = np.float32(decay)
    nearest = np.float32(min_cosine)
    first = np.float32(np.inf)  # what is unknown comes before what is known
    stamp = np.uint32(epoch)
    size = max(0, min(budget, n_memories))
    memories = np.empty(size, np.uint32)
    reached = np.empty(size, np.float32)
    close = np.empty(max(0, neighbours), np.uint32)
    weights = np.empty(max(0, neighbours), np.float32)
    mentioning = np.empty(most, np.uint32)
    found = 0
    n = 0
    a = np.empty(seeds.shape[0] + 4096, np.float32)
    c = np.empty(seeds.shape[0] + 4096, np.float32)
    t = np.empty(seeds.shape[0] + 4096, np.uint64)
    for s in range(seeds.shape[0]):
        n = _push(n, activations[s], first, _UNMET | np.uint64(seeds[s]), a, c, t)
    while n > 0 and found < size:
        activation = a[0]
        tag = t[0]
        kind = tag & ~_ID
        u = np.int64(tag & _ID)
        n = _pop(n, a, c, t)
        if kind == _UNMET:
            if scratch_memories[u] != stamp:
                scratch_memories[u] = stamp
                if allowed[u] != 0:
                    cosine = _cosine(u, first_row, vectors, query)
                    if cosine >= nearest:
                        n = _push(n, activation, cosine, _MEMORY | np.uint64(u), a, c, t)
            continue
        if kind == _ENTITY:
            if n + most > a.shape[0]:
                a, c, t = _longer(a, c, t, n + most)
            i = entity_head[u]
            looked = met = 0
            while i != NONE and looked < hub:
                m = mention_memory[i]
                if m < n_memories:
                    looked += 1
                    if scratch_memories[m] != stamp:
                        scratch_memories[m] = stamp
                        if allowed[m] != 0:
                            mentioning[met] = m
                            met += 1
                i = mention_previous[i]
            for j in range(met + _AHEAD):
                if j < met:
                    prefetch_row(vectors, first_row[mentioning[j]])
                if j >= _AHEAD:
                    m = mentioning[j - _AHEAD]
                    cosine = _cosine(m, first_row, vectors, query)
                    if cosine >= nearest:
                        n = _push(n, activation, cosine, _MEMORY | np.uint64(m), a, c, t)
            continue
        memories[found] = u
        reached[found] = activation
        found += 1
        room = n + most + neighbours
        if u + 1 < entity_offsets.shape[0]:
            room += np.int64(entity_offsets[u + 1]) - np.int64(entity_offsets[u])
        if u + 1 < link_offsets.shape[0]:
            room += np.int64(link_offsets[u + 1]) - np.int64(link_offsets[u])
        if room > a.shape[0]:
            a, c, t = _longer(a, c, t, room)
        if u + 1 < entity_offsets.shape[0]:
            for i in range(np.int64(entity_offsets[u]), np.int64(entity_offsets[u + 1])):
                e = mention_entity[i]
                if scratch_entities[e] != stamp and entity_weight[e] >= lightest:
                    passed = activation * entity_weight[e] * fading
                    if passed > weakest:  # the first to reach an entity is the most activated
                        scratch_entities[e] = stamp
                        n = _push(n, passed, first, _ENTITY | np.uint64(e), a, c, t)
        if u + 1 < link_offsets.shape[0]:
            for i in range(np.int64(link_offsets[u]), np.int64(link_offsets[u + 1])):
                passed = activation * link_weight[i] * fading
                m = link_target[i]
                if passed > weakest and link_weight[i] >= lightest and scratch_memories[m] != stamp:
                    n = _push(n, passed, first, _UNMET | np.uint64(m), a, c, t)
        if u < link_head.shape[0]:
            i = link_head[u]
            looked = 0
            while i != NONE and looked < hub:
                m = link_source[i]
                if m < n_memories:
                    looked += 1
                    passed = activation * link_weight[i] * fading
                    if (
                        passed > weakest
                        and link_weight[i] >= lightest
                        and scratch_memories[m] != stamp
                    ):
                        n = _push(n, passed, first, _UNMET | np.uint64(m), a, c, t)
                i = link_previous[i]
        near = _near_in_time(
            u, time_order, time_rank, event_at, window_us, hub, allowed, n_memories, close, weights
        )
        for i in range(near):
            passed = activation * weights[i] * fading
            m = close[i]
            if passed > weakest and weights[i] >= lightest and scratch_memories[m] != stamp:
                n = _push(n, passed, first, _UNMET | np.uint64(m), a, c, t)
    return memories[:found].copy(), reached[:found].copy()

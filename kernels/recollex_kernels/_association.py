"""One pulse of activation, from the best memories to all that share a rare entity with them."""

import numpy as np

from recollex_kernels._bitmap import bitmap, listed, mark, place_of
from recollex_kernels._jit import F64, U8, U32, U64, kernel
from recollex_kernels._scores import strongest

NONE = np.uint32(0xFFFFFFFF)


@kernel
def associations(
    memories: U32,
    weights: F64,
    seeds: int,
    mention_offset: U64,
    mention_entity: U32,
    mention_memory: U32,
    mention_previous: U32,
    entity_head: U32,
    allowed: U8,
    end: int,
    hub: int,
    k: int,
) -> tuple[U32, F64]:
    """Return the ``k`` best of what shares an entity with a seed, and the activation they receive.

    Equation, S the ``seeds`` greatest of ``memories`` by weight (ties: the lower memory) that weigh
    more than 0, n(e) the memories before ``end`` that mention entity e, S(e) the seeds among them:
        strength(s) = weight(s) / the greatest weight
        activation(m) = max over e mentioned by m, s in S(e), s != m of
                        strength(s) * (1 - n(e) / end) / sqrt(n(e))
    An entity that all memories name carries nothing; one with n(e) > ``hub`` is not followed.
    A seed receives from the others alone: what is returned is what the seeds' scores do not say.

    Order: greater activation, then lower memory; each memory once. Only memories with
    ``allowed[memory]`` are returned.

    Shapes, for n of M memories, E entities:
        memories, weights  uint32[n], float64[n]  each once, ascending, in [0, end)
        mention_offset     uint64[>= M+1]  CSR: memory -> its entities in mention_entity
        mention_memory     uint32[]        aligned with mention_entity: who mentions
        mention_previous   uint32[]        the entry before with the same entity, or NONE
        entity_head        uint32[E]       the newest entry of each entity, perhaps beyond ``end``
        allowed            uint8[M]

    Cost: O(mentions of the seeds' entities), at most ``hub`` + 1 each behind ``end``.
    """
    best = strongest(weights, seeds)
    count = 0
    while count < best.shape[0] and weights[best[count]] > 0:
        count += 1
    seed, strengths = memories[best[:count]], weights[best[:count]]
    mentions = 0
    for s in range(count):
        strengths[s] /= weights[best[0]]
        mentions += int(mention_offset[seed[s] + 1] - mention_offset[seed[s]])
    chain = np.empty(mentions * (hub + 1), np.uint32)  # of one entity after the other
    entities = np.empty(mentions, np.uint32)
    ends = np.zeros(mentions + 1, np.int64)
    firsts, seconds = np.empty(mentions, np.float64), np.empty(mentions, np.float64)
    speakers = np.empty(mentions, np.uint32)  # the strongest seed that mentions the entity
    bits = bitmap(end)
    met = 0
    for s in range(count):
        for at in range(np.int64(mention_offset[seed[s]]), np.int64(mention_offset[seed[s] + 1])):
            entity = mention_entity[at]
            if entity >= entity_head.shape[0] or np.any(entities[:met] == entity):
                continue
            first, n = ends[met], 0
            entry = entity_head[entity]
            while entry != NONE and n <= hub:
                if mention_memory[entry] < end:
                    chain[first + n] = mention_memory[entry]
                    n += 1
                entry = mention_previous[entry]
            if n > hub or n == end:
                n = 0  # its place stays, so that no other seed walks it again
            second = 0.0
            for other in range(s + 1, count):
                for i in range(
                    np.int64(mention_offset[seed[other]]), np.int64(mention_offset[seed[other] + 1])
                ):
                    if mention_entity[i] == entity:
                        second = max(second, strengths[other])
            for i in range(first, first + n):
                mark(bits, int(chain[i]))
            share = (1.0 - n / end) / np.sqrt(np.float64(max(n, 1)))
            firsts[met], seconds[met] = strengths[s] * share, second * share
            entities[met], speakers[met] = entity, seed[s]
            met += 1
            ends[met] = first + n
    reached, before = listed(bits)
    received = np.zeros(reached.shape[0], np.float64)
    for e in range(met):
        for i in range(ends[e], ends[e + 1]):
            value = seconds[e] if chain[i] == speakers[e] else firsts[e]
            place = place_of(bits, before, int(chain[i]))
            received[place] = max(received[place], value)
    kept = np.flatnonzero((received > 0) & (allowed[reached] == 1))
    kept = kept[strongest(received[kept], k)]
    return reached[kept], received[kept]

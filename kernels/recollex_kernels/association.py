"""One pulse of activation, from the best memories to all that share a rare entity with them."""

import numpy as np

from recollex_kernels._jit import F64, U8, U32, U64, kernel
from recollex_kernels._scores import strongest

NONE = np.uint32(0xFFFFFFFF)


@kernel
def _offer(
    memory: np.uint32, value: float, size: int, places: U32, memories: U32, best: F64
) -> int:
    """Return the table's size after ``memory`` keeps the greater of its value and ``value``."""
    mask = places.shape[0] - 1
    place = ((np.int64(memory) * 2654435769) >> 7) & mask  # Knuth's multiplicative hash
    while places[place] != NONE and memories[places[place]] != memory:
        place = (place + 1) & mask
    if places[place] == NONE:
        places[place] = size
        memories[size] = memory
        best[size] = value
        return size + 1
    best[places[place]] = max(best[places[place]], value)
    return size


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
        memories, weights  uint32[n], float64[n]  each once, in [0, end)
        mention_offset     uint64[>= M+1]  CSR: memory -> its entities in mention_entity
        mention_memory     uint32[]        aligned with mention_entity: who mentions
        mention_previous   uint32[]        the entry before with the same entity, or NONE
        entity_head        uint32[E]       the newest entry of each entity, perhaps beyond ``end``
        allowed            uint8[M]

    Cost: O(mentions of the seeds' entities), at most ``hub`` + 1 each behind ``end``.
    """
    best_places = strongest(weights, memories, seeds)
    count = 0
    while count < best_places.shape[0] and weights[best_places[count]] > 0:
        count += 1
    seed, strengths = memories[best_places[:count]], weights[best_places[:count]]
    room = 0
    for s in range(count):
        strengths[s] /= weights[best_places[0]]
        room += int(mention_offset[seed[s] + 1] - mention_offset[seed[s]])
    room *= hub
    bits = 4
    while (1 << bits) < 2 * min(room, end):
        bits += 1
    places = np.full(1 << bits, NONE, np.uint32)
    found = np.empty(min(room, end), np.uint32)
    best = np.empty(min(room, end), np.float64)
    size = 0
    chain = np.empty(hub, np.uint32)
    done = np.empty(room // max(hub, 1), np.uint32)
    entities = 0
    for s in range(count):
        for at in range(np.int64(mention_offset[seed[s]]), np.int64(mention_offset[seed[s] + 1])):
            entity = mention_entity[at]
            known = False
            for i in range(entities):
                known = known or done[i] == entity
            if known or entity >= entity_head.shape[0]:
                continue
            done[entities] = entity
            entities += 1
            n = 0
            entry = entity_head[entity]
            while entry != NONE and n <= hub:
                memory = mention_memory[entry]
                if memory < end:
                    if n < hub:
                        chain[n] = memory
                    n += 1
                entry = mention_previous[entry]
            if n > hub or n < 2:
                continue
            # the two strongest seeds that mention it: one receives from the other
            first_seed, second = NONE, 0.0
            for other in range(s, count):
                if second > 0:
                    break
                for i in range(n):
                    if chain[i] == seed[other]:
                        if first_seed == NONE:
                            first_seed = seed[other]
                        else:
                            second = strengths[other]
                        break
            weight = (1.0 - n / end) / np.sqrt(np.float64(n))
            for i in range(n):
                memory = chain[i]
                strength = second if memory == first_seed else strengths[s]
                if strength * weight > 0 and allowed[memory] == 1:
                    size = _offer(memory, strength * weight, size, places, found, best)
    order = strongest(best[:size], found[:size], k)
    return found[order], best[order]

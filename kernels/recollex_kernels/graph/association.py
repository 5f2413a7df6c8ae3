"""One pulse of activation, from the best memories to all that share a rare entity with them."""

from typing import TypeAlias

import numpy as np

from recollex_kernels.graph.links import Mentions
from recollex_kernels.machine.bit_masks import bitmap, listed, mark, place_of
from recollex_kernels.machine.jit import F64, I64, U8, U32, kernel
from recollex_kernels.machine.top_k import strongest

NONE = np.uint32(0xFFFFFFFF)
_FOLLOWED = 10  # times ``hub`` mentions after which a filtered walk gives an entity up

Pulse: TypeAlias = tuple[int, int, int]
"""How far a pulse goes: seeds, hub, k.

seeds  how many of the best memories send activation
hub    an entity that more memories mention is not followed
k      how many memories are returned at most
"""

Admitted: TypeAlias = tuple[U8, int]
"""Which memories may be returned, and whether they count as an agent of their own: allowed, among.

allowed  uint8[M]
among    how many memories are allowed, where a filter admits fewer than all; else 0
"""

Associated: TypeAlias = tuple[U32, F64]
"""Memories, each once, and the activation that each receives: uint32[n], float64[n]."""


@kernel
def _walked(
    entries: U32, mention_memory: U32, mention_previous: U32, end: int, hub: int, admitted: Admitted
) -> tuple[U32, I64]:
    """Return the memories before ``end`` of each chain of mentions, newest first, and how many.

    At most ``hub`` + 1 of each. With ``among`` above 0 only allowed ones, and a chain of more than
    `_FOLLOWED` * ``hub`` memories counts as ``hub`` + 1. The chains are walked side by side, a step
    of each in turn: a step waits for memory, and so they wait together. ``entries`` is overwritten.
    """
    allowed, among = admitted
    count = entries.shape[0]
    chains = np.empty((count, hub + 1), np.uint32)
    sizes = np.zeros(count, np.int64)
    walking = np.arange(count)
    seen = np.zeros(count, np.int64)
    left = count
    while left > 0:
        still = 0
        for w in range(left):
            e = walking[w]
            entry = entries[e]
            if entry == NONE:
                continue
            memory = mention_memory[entry]
            chains[e, sizes[e]] = memory
            counts = memory < end
            entries[e] = mention_previous[entry]
            if among > 0 and counts:
                seen[e] += 1
                counts = allowed[memory] == 1
                if seen[e] == _FOLLOWED * hub and entries[e] != NONE:
                    sizes[e] = hub
                    counts = True
            sizes[e] += counts
            walking[still] = e
            still += sizes[e] <= hub
        left = still
    return chains, sizes


@kernel
def associations(
    memories: U32,
    weights: F64,
    mentions: Mentions,
    admitted: Admitted,
    end: int,
    pulse: Pulse,
    out_hubs: U32,
) -> Associated:
    """Return the ``k`` best memories that share an entity with a seed, and their activation.

    Equation, S the ``seeds`` greatest of ``memories`` by weight (ties: the lower memory) that weigh
    more than 0, N the memories before ``end``, n(e) those of them that mention entity e, S(e) the
    seeds among these:
        strength(s) = weight(s) / the greatest weight
        activation(m) = max over e mentioned by m, s in S(e), s != m of
                        strength(s) * (1 - n(e) / N) / sqrt(n(e))
    An entity that all memories name carries nothing; one with n(e) > ``hub`` is not followed.
    A seed receives from the others alone: what is returned is what the seeds' scores do not say.

    With ``among`` above 0, N and n(e) are of allowed memories alone: a name carries what it carries
    in an agent that holds these alone. One that more than `_FOLLOWED` * ``hub`` memories before
    ``end`` mention, allowed or not, is not followed either: to count them would take too long.

    Order: greater activation, then lower memory; each memory once. Only memories with
    ``allowed[memory]`` are returned.

    Shapes, for n of M memories, E entities:
        memories, weights  uint32[n], float64[n]  each once, ascending, in [0, end)
        mentions, pulse    see `Mentions` and `Pulse`
        admitted           see `Admitted`; the memories are allowed
        out_hubs           uint32[>= E]    for each entity, a memory by which more than ``hub`` had
                                           mentioned it, or NONE. It is written when it is found:
                                           no later call with a greater ``end`` walks that chain.
                                           Neither read nor written with ``among`` above 0

    Cost: O(mentions of the seeds' entities), at most ``hub`` + 1 each before ``end``, or
    `_FOLLOWED` * ``hub`` with ``among`` above 0.
    """
    mention_offset, mention_entity, mention_memory, mention_previous, entity_head = mentions
    seeds, hub, k = pulse
    allowed, among = admitted
    population = among if among > 0 else end
    best = strongest(weights, seeds)
    count = 0
    while count < best.shape[0] and weights[best[count]] > 0:
        count += 1
    seed = memories[best[:count]]
    strengths = weights[best[:count]]
    size = 0
    for s in range(count):
        strengths[s] /= weights[best[0]]
        size += int(mention_offset[seed[s] + 1] - mention_offset[seed[s]])
    entities = np.empty(size, np.uint32)
    entries = np.empty(size, np.uint32)
    firsts = np.empty(size, np.float64)
    seconds = np.zeros(size, np.float64)
    speakers = np.empty(size, np.uint32)  # the strongest seed that mentions the entity
    met = 0
    for s in range(count):
        for at in range(np.int64(mention_offset[seed[s]]), np.int64(mention_offset[seed[s] + 1])):
            entity = mention_entity[at]
            if entity >= entity_head.shape[0]:
                continue
            e = 0
            while e < met and entities[e] != entity:
                e += 1
            if e == met:
                entities[e] = entity
                speakers[e] = seed[s]
                firsts[e] = strengths[s]
                is_known = among == 0 and out_hubs[entity] < end
                entries[e] = NONE if is_known else entity_head[entity]
                met += 1
            elif speakers[e] != seed[s]:
                seconds[e] = max(seconds[e], strengths[s])
    chains, sizes = _walked(entries[:met], mention_memory, mention_previous, end, hub, admitted)
    bits = bitmap(end)
    for e in range(met):
        n = sizes[e]
        if n > hub and among == 0:
            out_hubs[entities[e]] = chains[e, 0]
        if n > hub or n == population:
            n = 0
        sizes[e] = n
        share = (1.0 - n / population) / np.sqrt(np.float64(max(n, 1)))
        firsts[e] *= share
        seconds[e] *= share
        for i in range(n):
            mark(bits, int(chains[e, i]))
    reached, before = listed(bits)
    received = np.zeros(reached.shape[0], np.float64)
    for e in range(met):
        for i in range(sizes[e]):
            value = seconds[e] if chains[e, i] == speakers[e] else firsts[e]
            place = place_of(bits, before, int(chains[e, i]))
            received[place] = max(received[place], value)
    kept = np.empty(reached.shape[0], np.int64)
    n = 0
    for i in range(reached.shape[0]):
        kept[n] = i
        n += received[i] > 0 and allowed[reached[i]] == 1
    kept = kept[:n]
    kept = kept[strongest(received[kept], k)]
    return reached[kept], received[kept]

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.graph.association import NONE, associations
from tests.kernels.inputs import frozen

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")

ENTITIES = 5
FOLLOWED = 10
mentions = st.lists(st.sets(st.integers(0, ENTITIES - 1), max_size=3), min_size=1, max_size=14)


def threaded(of_memories, entities):
    """The columns of mentions as the engine keeps them: CSR, and chains newest first."""
    offsets = np.cumsum([0] + [len(of) for of in of_memories])
    head, entity, memory, previous = [int(NONE)] * entities, [], [], []
    for m, of in enumerate(of_memories):
        for e in sorted(of):
            previous.append(head[e])
            head[e] = len(entity)
            entity.append(e)
            memory.append(m)
    return (
        frozen(offsets, np.uint64),
        *(frozen(each, np.uint32) for each in (entity, memory, previous, head)),
    )


def spread(
    of_memories,
    weights,
    allowed,
    end,
    hub,
    seeds=4,
    k=10_000,
    entities=ENTITIES,
    hubs=None,
    among=0,
):
    memories, activation = associations(
        frozen(list(weights), np.uint32),
        frozen(list(weights.values()), np.float64),
        threaded(of_memories, entities),
        (frozen(allowed, np.uint8), among),
        end,
        (seeds, hub, k),
        np.full(entities, NONE, np.uint32) if hubs is None else hubs,
    )
    return list(zip(memories.tolist(), activation.tolist(), strict=True))


def oracle(of_memories, weights, allowed, end, hub, seeds, k, among=0):
    """The equation, memory by memory."""
    best = sorted(weights, key=lambda m: (-weights[m], m))[:seeds]
    counted = [m for m in range(end) if allowed[m] or not among]
    followed = {
        e
        for e in range(ENTITIES)
        if not among or sum(e in of for of in of_memories[:end]) <= FOLLOWED * hub
    }
    found = {}
    for m in range(end):
        values = [
            weights[s] / weights[best[0]] * ((1 - n / len(counted)) / math.sqrt(n))
            for e in of_memories[m] & followed
            if 0 < (n := sum(e in of_memories[c] for c in counted)) <= hub and n < len(counted)
            for s in best
            if s != m and weights[s] > 0 and e in of_memories[s]
        ]
        if values and allowed[m]:
            found[m] = max(values)
    return sorted(found.items(), key=lambda item: (-item[1], item[0]))[:k]


@given(mentions, st.data())
def test_equals_the_equation_memory_by_memory(of_memories, data):
    """A view may end before the newest mention, where the chains begin."""
    end = data.draw(st.integers(1, len(of_memories)))
    drawn = st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0])  # few values force ties
    given_weights = data.draw(st.dictionaries(st.integers(0, end - 1), drawn, max_size=6))
    weights = dict(sorted(given_weights.items()))  # the kernel takes memories in ascending order
    allowed = [data.draw(st.integers(0, 1)) for _ in of_memories]
    hub, seeds = data.draw(st.integers(1, 6)), data.draw(st.integers(0, 5))
    rest = (allowed, end, hub, seeds, data.draw(st.integers(0, 9)))
    assert spread(of_memories, weights, *rest) == oracle(of_memories, weights, *rest)


@given(mentions, st.data())
def test_with_a_filter_names_count_among_the_admitted(of_memories, data):
    """As in an agent that holds these alone, where no chain is too long; hubs are left alone."""
    end = data.draw(st.integers(1, len(of_memories)))
    allowed = [data.draw(st.integers(0, 1)) for _ in of_memories]
    kept = [m for m in range(end) if allowed[m]]
    if not kept:
        return
    drawn = st.sampled_from([0.25, 0.5, 1.0])
    given_weights = data.draw(st.dictionaries(st.sampled_from(kept), drawn, max_size=6))
    weights = dict(sorted(given_weights.items()))
    hub = data.draw(st.integers(1, 6))
    rest, hubs = (allowed, end, hub, 4, 9), np.full(ENTITIES, 0, np.uint32)
    found = spread(of_memories, weights, *rest, hubs=hubs, among=len(kept))
    assert found == oracle(of_memories, weights, *rest, among=len(kept))
    assert not hubs.any()
    if end <= FOLLOWED * hub:
        alone = {kept.index(m): weight for m, weight in weights.items()}
        own = [of_memories[m] for m in kept]
        theirs = spread(own, alone, [1] * len(kept), len(kept), hub, 4, 9)
        assert found == [(kept[m], activation) for m, activation in theirs]


def test_with_a_filter_a_name_of_too_many_is_not_followed():
    for extra, found in ((0, [0]), (1, [])):
        count = 2 + 4 * FOLLOWED - 2 + extra
        of_memories = [{0}] * count + [set()]
        allowed = [1, 1] + [0] * (count - 2) + [1]
        reached = spread(of_memories, {1: 1.0}, allowed, count + 1, 4, among=3)
        assert [memory for memory, _ in reached] == found


@given(mentions, st.integers(1, 4), st.lists(st.integers(1, 14), min_size=1, max_size=6))
def test_what_walks_found_of_hubs_changes_no_answer(of_memories, hub, ends):
    hubs = np.full(ENTITIES, NONE, np.uint32)
    for end in ends:
        end = min(end, len(of_memories))
        weights = {m: 1.0 / (m + 1) for m in range(end)}
        rest = ([1] * len(of_memories), end, hub, 4, 9)
        assert spread(of_memories, weights, *rest, hubs=hubs) == oracle(of_memories, weights, *rest)
        for entity, newest in enumerate(hubs.tolist()):
            named = sum(entity in of for of in of_memories[: newest + 1])
            assert newest == NONE or (newest < len(of_memories) and named > hub)


def test_nothing_comes_of_no_seeds_and_of_seeds_that_name_nothing():
    assert spread([{0}, {0}], {}, [1, 1], 2, 9) == []
    assert spread([{0}, {0}], {0: 0.0, 1: -1.0}, [1, 1], 2, 9) == []
    assert spread([set(), {0}, {0}], {0: 1.0}, [1, 1, 1], 3, 9) == []
    assert spread([set()], {0: 1.0}, [1], 1, 9, entities=0) == []


def test_a_seed_receives_from_the_others_alone():
    found = spread([{0}, {0}, {0}, set()], {1: 4.0, 0: 2.0}, [1] * 4, 4, 9)
    weight = (1 - 3 / 4) / math.sqrt(3)
    assert found == [(0, weight), (2, weight), (1, 0.5 * weight)]


def test_what_all_memories_name_joins_nothing():
    assert spread([{0}, {0}, {0}], {1: 1.0}, [1, 1, 1], 3, 9) == []


def test_what_names_more_than_a_hub_may_joins_nothing_and_one_less_joins():
    allowed = [1] * 800
    assert spread([{0}] * 401 + [set()] * 399, {7: 1.0}, allowed, 800, 400) == []
    many = [{0}] * 400 + [set()] * 400
    found = [(m, 0.5 / 20) for m in range(400) if m != 7]
    assert spread(many, {7: 1.0}, allowed, 800, 400) == found
    assert spread(many, {7: 1.0}, allowed, 800, 400, k=6) == found[:6]


def test_an_entity_newer_than_the_heads_is_passed_over():
    offsets, entity, memory, previous, head = threaded([{0, 1}, {0, 1}, set()], 2)
    memories, activation = associations(
        frozen([0], np.uint32),
        frozen([1.0], np.float64),
        (offsets, entity, memory, previous, head[:1]),
        (frozen([1, 1, 1], np.uint8), 0),
        3,
        (5, 9, 100),
        np.full(1, NONE, np.uint32),
    )
    assert (memories.tolist(), activation.tolist()) == ([1], [(1 - 2 / 3) / math.sqrt(2)])

"""The mentions of a view with merges, beside the same counted naively."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.state import mentions as merged_mentions
from recollex_engine.state.column_set import NONE, Chain
from recollex_engine.state.mentions import Identities, MentionCounts, MergedMentionsCache

ENTITIES = 7
memories_of = st.lists(
    st.lists(st.integers(0, ENTITIES - 1), max_size=4, unique=True), min_size=1, max_size=25
)
pairs = st.lists(
    st.tuples(st.integers(0, ENTITIES), st.integers(0, ENTITIES)), min_size=1, max_size=4
)


def columns(memories):
    """Return entity, memory and previous of each mention, and where each memory's end."""
    entity = np.array([e for names in memories for e in names], np.uint32)
    memory = np.array([m for m, names in enumerate(memories) for _ in names], np.uint32)
    previous = np.array(Chain(np.empty(0, np.uint32), 0).previous(entity.tolist(), 0), np.uint32)
    ends = np.cumsum([len(names) for names in memories]).tolist()
    return (entity, memory, previous), ends


def walk(made, root, end):
    """Return the memories before ``end`` in a root's chain, newest first."""
    found, place = [], made.heads[root] if root < len(made.heads) else NONE
    while place != NONE:
        if made.memory[place] < end:
            found.append(int(made.memory[place]))
        place = made.previous[place]
    return found


@settings(deadline=None, max_examples=200)
@given(memories_of, pairs, st.lists(st.integers(1, 25), min_size=1, max_size=6))
def test_a_chain_holds_each_memory_that_names_any_of_the_merged_once(memories, links, ends):
    identities = Identities((a, b) for a, b in links if a != b)
    if not identities:
        return
    held, mentions = columns(memories)
    cache, counter = MergedMentionsCache(), MentionCounts()
    for end in ends:
        end = min(end, len(memories))
        raw = counter.at(held[0], mentions[end - 1])
        made = cache.at(1, identities, held, raw)
        roots = [{identities.root(e) for e in names} for names in memories[:end]]
        counts = made.counts(raw, identities).tolist()
        for entity in range(ENTITIES + 1):
            if identities.root(entity) == entity:
                naming = [m for m, of in enumerate(roots) if entity in of]
                assert walk(made, entity, end) == naming[::-1]
                assert (counts[entity] if entity < len(counts) else 0) == len(naming)
            else:
                assert walk(made, entity, end) == []
        seen = made.entity[: mentions[end - 1]].tolist()
        assert seen == [identities.root(e) for names in memories[:end] for e in names]


def test_an_older_view_keeps_its_arrays_while_a_later_one_extends_them():
    held, mentions = columns([[0], [1], [0, 1], [2], [1]])
    identities = Identities([(1, 0)])
    cache, counter = MergedMentionsCache(), MentionCounts()
    early = cache.at(1, identities, held, counter.at(held[0], mentions[2]))
    assert walk(early, 0, 3) == [2, 1, 0]
    late = cache.at(1, identities, held, counter.at(held[0], mentions[4]))
    assert late.entity is early.entity  # there was room
    assert walk(late, 0, 5) == [4, 2, 1, 0]
    assert walk(early, 0, 5) == [2, 1, 0]
    assert cache.at(1, identities, held, counter.at(held[0], mentions[2])) is late


def test_only_the_last_few_sets_of_merges_are_kept():
    held, mentions = columns([[0], [1]])
    cache, counter = MergedMentionsCache(), MentionCounts()
    raw = counter.at(held[0], mentions[1])
    first = cache.at(0, Identities([(1, 0)]), held, raw)
    for key in range(1, merged_mentions.KEPT):
        cache.at(key, Identities([(0, 1)]), held, raw)
    assert cache.at(0, Identities([(1, 0)]), held, raw) is first
    cache.at(9, Identities([(0, 1)]), held, raw)
    cache.at(10, Identities([(0, 1)]), held, raw)
    assert cache.at(1, Identities([(0, 1)]), held, raw) is not None
    assert len(cache._made) == merged_mentions.KEPT

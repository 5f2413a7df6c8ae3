import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.state.column_set import NONE, Chain

BATCHES = st.lists(st.lists(st.integers(0, 25), max_size=24), max_size=8)


def entries(head, previous, key):
    """The entries of a key, newest first, as a kernel walks them."""
    found = []
    entry = int(head[key]) if key < len(head) else NONE
    while entry != NONE:
        found.append(entry)
        entry = int(previous[entry])
    return found


def newest_first(keys, key):
    return [place for place in reversed(range(len(keys))) if keys[place] == key]


@settings(deadline=None)
@given(BATCHES, st.lists(st.booleans(), min_size=8, max_size=8))
def test_each_key_has_its_entries_newest_first(batches, moves):
    keys: list[int] = []
    chain = Chain(np.empty(0, np.uint32), 0)
    previous = np.empty(0, np.uint32)
    for batch, moved in zip(batches, moves, strict=False):
        previous = np.append(previous, np.array(chain.previous(batch, len(keys)), np.uint32))
        first = len(keys)
        keys += batch
        chain.publish(batch, first, max(keys, default=-1) + 1, moved)
        for key in range(26):
            assert entries(chain.head, previous, key) == newest_first(keys, key)


@settings(deadline=None)
@given(st.lists(st.integers(0, 25), max_size=40), st.integers(0, 40))
def test_heads_are_found_again_from_the_keys(keys, count):
    chain = Chain(np.empty(0, np.uint32), 0)
    stored, added = keys[:count], keys[count:]
    previous = chain.previous(keys, 0)
    again = Chain(np.array(stored, np.uint32), max(keys[:count], default=-1) + 1)
    rest = again.previous(added, len(stored))
    assert list(rest) == list(previous[len(stored) :])
    again.publish(added, len(stored), max(keys, default=-1) + 1, False)
    for key in range(26):
        assert entries(again.head, previous, key) == newest_first(keys, key)


def test_heads_held_by_a_view_never_point_beyond_arrays_that_moved():
    chain = Chain(np.array([3, 1], np.uint32), 4)
    held = chain.head
    chain.publish([3], 2, 4, moved=True)
    assert held[3] == 0
    assert chain.head[3] == 2
    held = chain.head
    chain.publish([1], 3, 4, moved=False)
    assert held[1] == 3  # the arrays that the view holds have room for it
    chain.publish([500], 4, 501, moved=False)
    assert len(held) < 500 < len(chain.head)
    assert held[1] == 3

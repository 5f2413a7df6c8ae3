"""Who is whom, against sets that are joined one link after another."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.errors import MergeCycleError
from recollex_engine.state.entity_merges import Identities

ENTITY = st.integers(0, 5)
LINKS = st.lists(st.tuples(ENTITY, ENTITY), max_size=8)


@settings(deadline=None)
@given(LINKS)
def test_members_are_the_sets_that_the_links_join(links):
    who = Identities(links)
    sets = [{entity} for entity in range(6)]
    for source, target in links:
        one = next(each for each in sets if source in each)
        other = next(each for each in sets if target in each)
        if one is not other:
            sets.remove(one)
            other |= one
    for each in sets:
        roots = {who.root(entity) for entity in each}
        assert len(roots) == 1
        (root,) = roots
        assert set(who.members(root)) == each
        assert who.members(root)[0] == root
    assert who.roots(6).tolist() == [who.root(entity) for entity in range(6)]


@settings(deadline=None)
@given(LINKS)
def test_the_target_of_the_last_link_stands_for_both(links):
    who = Identities([*links, (0, 1)])
    before = Identities(links)
    if before.root(0) != before.root(1):
        assert who.root(0) == before.root(1)


def test_a_cycle_is_refused_and_a_repetition_changes_nothing():
    who = Identities([(0, 1), (1, 2)])
    assert who.is_new(3, 0, ("d", "a"))
    assert not who.is_new(0, 2, ("a", "c"))
    for source, target in [(1, 0), (2, 0), (1, 1)]:
        with pytest.raises(MergeCycleError, match="cannot be merged"):
            who.is_new(source, target, ("x", "y"))

"""Who is whom, against sets that are joined one link after another."""

from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollex
from recollex_engine.errors import MergeCycleError
from recollex_engine.state.mentions import Identities

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


def test_an_alias_that_was_closed_holds_before_in_an_agent_opened_again(tmp_path):
    """Its log is applied in one run, whose labels are not in the dictionary yet."""
    days = (datetime(2024, 5, 1, tzinfo=UTC) + timedelta(day) for day in count())
    settings = {"embedder": recollex.GivenVectors(8), "clock": lambda: next(days)}
    with recollex.open(tmp_path, **settings) as store:
        agent = store.agent("a")
        agent.facts.add("Ann", "lives_in", "Rome", id="home")
        agent.facts.add("Rome", "alias_of", "Roma", id="name")
        named = agent.log()[-1].recorded_at
        agent.facts.archive("name")
    with recollex.open(tmp_path, **settings) as store:
        facts = store.agent("a").facts
        assert facts.get("home").object == "Rome"
        assert facts.get("home", as_recorded=named).object == "Roma"

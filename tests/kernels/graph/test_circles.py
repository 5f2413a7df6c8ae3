"""Circles of speakers against a search through the talks of each prefix of the memories."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.graph.circles import NONE, join_circles
from tests.kernels.circles import circle_of, circles_of

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")

PEOPLE, LABELS = 7, 12
turns = st.lists(
    st.tuples(
        st.sampled_from([*range(PEOPLE, LABELS), int(NONE)]),
        st.sampled_from([*range(PEOPLE), int(NONE)]),
    ),
    max_size=40,
)


@given(turns, st.lists(st.integers(0, 40), max_size=3))
def test_every_view_has_the_circles_of_its_own_memories(turn, stops):
    document, speaker = (np.array([t[i] for t in turn], np.uint32) for i in (0, 1))
    talker, size = np.full(LABELS, NONE, np.uint32), np.ones(LABELS, np.uint32)
    forest = tuple(np.full(LABELS, NONE, np.uint32) for _ in range(3))
    first, count = 0, 0
    for end in sorted({min(stop, len(turn)) for stop in (*stops, len(turn))}):
        count += join_circles(document[:end], speaker[:end], first, talker, size, *forest)
        first = end
        assert count == len(circles_of(turn[:end]))
    for end in range(len(turn) + 1):
        roots = [circle_of(person, end, forest) for person in range(PEOPLE)]
        found = [{p for p in range(PEOPLE) if roots[p] == root} for root in {*roots} - {-1}]
        assert sorted(map(sorted, found)) == sorted(map(sorted, circles_of(turn[:end])))


PEOPLE_OF_MANY = 1 << 10
PAIRS_OF_PAIRS = [
    (one, one + step)
    for step in (1 << n for n in range(10))
    for one in range(0, PEOPLE_OF_MANY, 2 * step)
]
NEWCOMERS = [(one, one - 1) for one in range(1, PEOPLE_OF_MANY)]


@pytest.mark.parametrize(
    "pairs",
    [PAIRS_OF_PAIRS, NEWCOMERS, [(b, a) for a, b in NEWCOMERS]],
    ids=["pairs of pairs", "newcomers", "newcomers, answered"],
)
def test_a_thousand_speakers_are_ten_steps_from_their_root_at_most(pairs):
    document = np.repeat(np.arange(len(pairs), dtype=np.uint32) + PEOPLE_OF_MANY, 2)
    speaker = np.array(pairs, np.uint32).ravel()
    labels = int(document[-1]) + 1
    forest = tuple(np.full(labels, NONE, np.uint32) for _ in range(3))
    talker, size = np.full(labels, NONE, np.uint32), np.ones(labels, np.uint32)
    assert join_circles(document, speaker, 0, talker, size, *forest) == 1
    above, joined, _ = forest
    for person in range(PEOPLE_OF_MANY):
        steps, label = 0, person
        while joined[label] != NONE:
            label, steps = int(above[label]), steps + 1
        assert steps <= 10
    assert len({circle_of(p, len(speaker), forest) for p in range(PEOPLE_OF_MANY)}) == 1

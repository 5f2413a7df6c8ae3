"""What memories of each speaker lose, against the circles as sets of people."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollex_engine.ranking.strangers import NO_STRANGERS, strangers
from recollex_engine.state.speakers import Circles, root_of
from tests.kernels.circles import NONE, circles_of

WEIGHT, PEOPLE = 1.5, 6
ALL_NAMES = [0, 1], [2], [3, 4], [5]
"""The labels of each first name."""
turns = st.lists(
    st.tuples(st.sampled_from([6, 7, 8, int(NONE)]), st.sampled_from([*range(PEOPLE), int(NONE)])),
    min_size=1,
    max_size=24,
)


def expected(turn, names):
    """What a memory of each person loses."""
    circles = circles_of(turn)
    known = [name for name in names if any(not c.isdisjoint(name) for c in circles)]
    lost = {}
    for person in range(PEOPLE):
        own = next((circle for circle in circles if person in circle), None)
        if own is None or not known:
            lost[person] = 0.0
        else:
            strange = sum(own.isdisjoint(name) for name in known)
            lost[person] = WEIGHT * strange / len(known)
    return lost


@settings(deadline=None)
@given(turns, st.sets(st.sampled_from(range(4)), min_size=1), st.integers(1, 24), st.booleans())
@example([(6, 0), (6, 2), (7, 3), (7, 4), (8, 5)], {0, 3}, 5, False)  # 5 has no company
@example([(6, 0), (6, 1)], {0, 2}, 2, True)  # who is named has not spoken yet
def test_a_memory_loses_by_the_names_that_are_not_of_its_circle(turn, names, end, read_before):
    end = min(end, len(turn))
    document, speaker = (np.array([t[i] for t in turn], np.uint32) for i in (0, 1))
    circles = Circles()
    if read_before:
        circles.forest(document, speaker)
    view = SimpleNamespace(
        memories=end,
        columns=SimpleNamespace(circles=circles),
        of_memories=lambda name: {"document": document, "speaker": speaker}[name][:end],
    )
    met = [np.array([*ALL_NAMES[n], 900 + n], np.uint32) for n in sorted(names)]
    _, forest, seen, roots, less = strangers(view, met, WEIGHT)
    lost = {}
    for person in range(PEOPLE):
        known = len(roots) and person < len(forest[0])
        root = root_of(person, seen, forest) if known else -1
        place = roots.tolist().index(root) if root in roots.tolist() else len(roots)
        lost[person] = float(less[place]) if root >= 0 else 0.0
    assert lost == pytest.approx(expected(turn[:end], [ALL_NAMES[n] for n in names]))


def test_without_a_weight_nothing_is_looked_up():
    assert strangers(None, [], 0.0) is NO_STRANGERS

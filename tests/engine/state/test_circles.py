import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.domain.schema import NONE
from recollex_engine.state.speakers import Circles, root_of

labels = st.sampled_from([0, 1, 2, 3, 90, 700, int(NONE)])


def roots_of(circles, document, speaker, end):
    forest = circles.forest(document[:end], speaker[:end])
    heard = {label for label in speaker[:end].tolist() if label != NONE}
    return {label: root_of(label, end, forest) for label in heard}


def partition(roots):
    """Who is in one circle, whatever its root is called; those without company are in none."""
    return {(a, b) for a in roots for b in roots if roots[a] == roots[b] != -1}


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([5, 6, 800, int(NONE)]), labels), max_size=30),
    st.lists(st.integers(0, 30), max_size=5),
)
def test_views_in_any_order_see_the_circles_of_their_own_memories(turns, ends):
    document, speaker = (np.array([turn[i] for turn in turns], np.uint32) for i in (0, 1))
    circles = Circles()
    for end in (*ends, len(turns), *ends):
        own = Circles()
        found = partition(roots_of(circles, document, speaker, end))
        assert found == partition(roots_of(own, document, speaker, end))
        one = own.are_one(document[:end], speaker[:end])
        assert one == (len({*roots_of(own, document, speaker, end).values()} - {-1}) < 2)
        assert one or not circles.are_one(document[:end], speaker[:end])

"""Ranks equal the places in a list, counted from 1."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.fusing.reciprocal_rank import ranks_in

ordinals = st.lists(st.integers(0, 12) | st.just(2**32 - 1), unique=True)


@settings(deadline=None)
@given(ordinals, ordinals)
def test_equals_a_search_through_the_list(memories, listed):
    found = ranks_in(np.array(memories, np.uint32), np.array(listed, np.uint32))
    expected = [listed.index(memory) + 1 if memory in listed else 0 for memory in memories]
    assert found.tolist() == expected

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.state import filter_indexes
from recollex_engine.state.filter_indexes import LabelLists

carried = st.lists(st.lists(st.integers(0, 5), max_size=3), max_size=30)


@settings(deadline=None)
@given(carried, st.lists(st.tuples(st.integers(0, 30), st.data()), max_size=6))
def test_views_of_any_size_in_any_order_see_what_their_memories_carry(memories, views):
    """The inverse is made for one view, serves earlier ones, and is extended for later ones."""
    lists = LabelLists()
    offsets = np.cumsum([0, *map(len, memories)]).astype(np.uint64)
    labels = np.array([label for own in memories for label in own], np.uint32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(filter_indexes, "UNINDEXED", 4)
        patch.setattr(filter_indexes, "MASKS", 2)
        for size, data in views:
            n = min(size, len(memories))
            wanted = sorted(data.draw(st.sets(st.integers(0, 7), min_size=1, max_size=3)))
            mask = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), np.uint8)
            given_mask = mask.copy()
            found = lists.carrying(wanted, offsets[: n + 1], labels, mask)
            assert found.tolist() == [
                int(kept and set(wanted) <= set(own))
                for kept, own in zip(given_mask, memories[:n], strict=True)
            ]
            assert (mask == given_mask).all()

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.state import mentions as mention_counts
from recollex_engine.state.mentions import NONE, MentionCounts, entity_weights


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.integers(0, 9), max_size=200),
    st.lists(st.integers(0, 200), min_size=1, max_size=12),
    st.sampled_from([(1, 2), (3, 3), (7, 16), (1000, 16)]),
)
def test_a_mark_counts_the_beginning_of_the_list(mentions, ends, sizes):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mention_counts, "STRIDE", sizes[0])
        patch.setattr(mention_counts, "MOST", sizes[1])
        marks = MentionCounts()
        array = np.array([*mentions, 11, 12], np.uint32)  # what is newer than any view
        for end in ends:
            end = min(end, len(mentions))
            mark = marks.at(array, end)
            seen = mentions[:end]
            assert mark.end == end
            assert mark.counts.tolist() == [seen.count(e) for e in range(max(seen, default=-1) + 1)]
            for entity, head in enumerate(mark.heads.tolist()):
                places = [place for place, each in enumerate(seen) if each == entity]
                assert head == (places[-1] if places else NONE)
        assert len(marks._marks) <= sizes[1]


def test_a_weight_is_the_same_wherever_it_stands():
    counts = np.array([0, 1, 2, 4095, 4096, 100_000], np.uint32)
    expected = (1 / (1 + np.log(np.maximum(counts, 1)))).astype(np.float32)
    np.testing.assert_allclose(entity_weights(counts), expected, rtol=1e-6)
    for length in range(1, 40):
        assert set(entity_weights(np.full(length, 100_000, np.uint32)).tolist()) == {
            entity_weights(counts)[5]
        }
        assert set(entity_weights(np.full(length, 77, np.uint32)).tolist()) == {
            entity_weights(np.array([77], np.uint32))[0]
        }

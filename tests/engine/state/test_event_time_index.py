import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.state.filter_indexes import EventTimeIndex

settings.register_profile("engine", deadline=None)
settings.load_profile("engine")


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 400), min_size=1, max_size=5))
def test_views_of_any_size_in_any_order_see_their_own_memories(seed, sizes):
    rng = np.random.default_rng(seed)
    start = np.sort(rng.integers(0, 90, 400)) - rng.choice([0, 0, 0, 50], 400)
    end = start + rng.choice([0, 1, 30], 400)
    spans = EventTimeIndex()
    for n in sizes:
        since, until = sorted(rng.integers(-10, 100, 2).tolist())
        mask = rng.choice(np.array([0, 1], np.uint8), n)
        found = spans.overlapping(start[:n], end[:n], since, until, mask)
        meets = (start < until) & ((end > since) | (start >= since))
        assert found.tolist() == (mask & meets[:n]).tolist()
        assert spans.bounds(start[:n], end[:n]) == (start[:n].min(), end[:n].max())


def test_what_is_known_is_not_read_again():
    start = np.arange(640, dtype=np.int64)
    spans, mask = EventTimeIndex(), np.ones(640, np.uint8)
    spans.overlapping(start, start, 0, 1, mask)
    start = start + 10_000  # no caller does: runs that cannot meet the range are not read
    assert not spans.overlapping(start, start, 10_000, 10_700, mask).any()

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.state.view import Timeline

TIMES = st.lists(st.integers(-3, 6), max_size=30)


def expected(times):
    order = sorted(range(len(times)), key=lambda memory: (times[memory], memory))
    return order, [order.index(memory) for memory in range(len(times))]


def check(timeline, times):
    order, rank = expected(times)
    assert timeline.order.tolist() == order
    assert timeline.rank.tolist() == rank
    assert timeline.order.dtype == timeline.rank.dtype == np.uint32


@settings(deadline=None)
@given(TIMES)
def test_order_is_by_time_then_ordinal(times):
    check(Timeline.of(np.array(times, np.int64)), times)


@settings(deadline=None, max_examples=300)
@given(st.lists(TIMES, min_size=1, max_size=5), st.booleans())
def test_extending_in_parts_is_sorting_the_whole(parts, ascending):
    times: list[int] = []
    timeline = Timeline.of(np.empty(0, np.int64))
    for part in parts:
        times += [max(times, default=-3) + time + 3 for time in sorted(part)] if ascending else part
        timeline = timeline.extended(np.array(times, np.int64))
        check(timeline, times)


@settings(deadline=None)
@given(TIMES, st.integers(0, 30))
def test_an_earlier_view_has_the_order_of_its_memories_alone(times, count):
    count = min(count, len(times))
    timeline = Timeline.of(np.array(times, np.int64))
    check(timeline.before(count), times[:count])
    check(timeline.before(count).extended(np.array(times, np.int64)), times)


def test_times_in_order_share_one_array():
    timeline = Timeline.of(np.arange(5)).extended(np.arange(9))
    assert timeline.order is timeline.rank
    assert timeline.extended(np.arange(9)) is timeline
    assert timeline.before(9) is timeline


def test_extending_leaves_the_timeline_that_a_view_holds_as_it_was():
    times = np.array([5, 1, 3, 3, 0, 9], np.int64)
    held = Timeline.of(times[:3])
    held.extended(times)
    check(held, [5, 1, 3])

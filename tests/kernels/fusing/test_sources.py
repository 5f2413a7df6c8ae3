import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.fusing.diversity import UNREAD, after_sources
from tests.kernels.inputs import kept

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")

memories = st.lists(st.integers(0, 9), unique=True, max_size=10)
drawn_from = st.dictionaries(st.integers(0, 9), st.lists(st.integers(0, 5), max_size=3))


def places(listed, head, sources, ids):
    first, flat = np.zeros(10, np.uint32), [0]
    for memory in range(10):
        first[memory] = 1 + len(flat)
        flat += [len(sources.get(memory, ())), *sources.get(memory, ())]
    given = (np.array(listed, np.uint32), (first, np.array(flat, np.uint32)), ids)
    for array in (given[0], *given[1], ids):
        kept(array)
    out = np.full(len(listed), -7, np.int64)
    return after_sources(given[0], head, given[1], given[2], out), out.tolist()


def oracle(listed, head, sources, ids):
    said = [ids[memory] for memory in listed]
    behind = [
        place
        for place in range(min(head, len(listed)))
        if (own := sources.get(listed[place])) and set(own) <= set(said[:place])
    ]
    leading = [place for place in range(min(head, len(listed))) if place not in behind]
    return len(behind), [*leading, *behind, *range(min(head, len(listed)), len(listed))]


@given(memories, st.integers(0, 12), drawn_from)
def test_it_equals_sets_of_what_stands_before(listed, head, sources):
    ids = np.array([memory % 6 for memory in range(10)], np.uint32)
    assert places(listed, head, sources, ids) == oracle(listed, head, sources, ids.tolist())


def test_a_memory_that_was_not_read_is_reported():
    out, ids = np.zeros(2, np.int64), np.arange(4, dtype=np.uint32)
    known = np.array([1, 0], np.uint32), np.zeros(1, np.uint32)
    for listed in ([0, 1], [0, 3]):
        assert after_sources(np.array(listed, np.uint32), 2, known, ids, out) == UNREAD
        assert after_sources(np.array(listed, np.uint32), 1, known, ids, out) == 0

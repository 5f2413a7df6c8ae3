import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.memories.gathering import gather_strings
from tests.kernels.inputs import kept


@settings(deadline=None)
@given(
    st.lists(st.binary(max_size=40), min_size=1, max_size=20),
    st.integers(0, 255),
    st.data(),
)
def test_joins_the_strings_asked_for_in_their_order(strings, between, data):
    heap = np.frombuffer(b"".join(strings), np.uint8)
    ends = np.cumsum([len(string) for string in strings])
    kept(ends)
    numbers = st.lists(st.integers(0, len(strings) - 1), min_size=1, max_size=9)
    column = data.draw(numbers)
    places = data.draw(st.lists(st.integers(0, len(column) - 1), max_size=30))
    asked = np.array(column, np.uint32), np.array(places, np.uint32)
    found = gather_strings(heap, ends, *asked, between)
    expected = [strings[column[place]] for place in places]
    assert found.tobytes() == bytes([between]).join(expected)

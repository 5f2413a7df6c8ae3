import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.strings import gather_strings


@settings(deadline=None)
@given(st.lists(st.binary(max_size=9), min_size=1, max_size=20), st.data())
def test_gathers_the_bytes_of_each_string_in_the_order_asked(strings, data):
    heap = np.frombuffer(b"".join(strings), np.uint8)
    ends = np.cumsum([len(string) for string in strings])
    ends.flags.writeable = False
    asked = data.draw(st.lists(st.integers(0, len(strings) - 1), max_size=30))
    found, places = gather_strings(heap, ends, np.array(asked, np.int64))
    whole, places = found.tobytes(), [0, *places.tolist()]
    assert [whole[places[i] : places[i + 1]] for i in range(len(asked))] == [
        strings[number] for number in asked
    ]

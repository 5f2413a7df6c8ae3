import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.memories.columns import NONE, newest_entries
from tests.kernels.inputs import kept

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")


@given(st.lists(st.integers(0, 9), max_size=40), st.integers(0, 10))
def test_the_last_entry_of_each_key_counts_and_a_key_beyond_is_told(keys, count):
    given_keys = np.array(keys, np.uint32)
    kept(given_keys)
    memory = np.full(count + 20, 7, np.uint32)
    fits = newest_entries(given_keys, memory[:count])
    newest = {key: entry for entry, key in enumerate(keys)}
    assert memory[:count].tolist() == [newest.get(key, NONE) for key in range(count)]
    assert memory[count:].tolist() == [7] * 20
    assert fits == all(key < count for key in keys)

from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollex_kernels.machine.bit_masks import bitmap, listed, mark, place_of

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")


@given(st.lists(st.integers(0, 299), max_size=60))
@example([0, 63, 64, 127, 128, 299])
@example(list(range(300)))
def test_lists_each_number_once_in_order_and_knows_its_place(numbers):
    bits = bitmap(300)
    for number in numbers:
        mark(bits, number)
    found, before = listed(bits)
    assert found.tolist() == sorted(set(numbers))
    assert [place_of(bits, before, number) for number in found] == list(range(len(found)))

"""A guess at the k-th best of a word's codes is near it, and is never above it."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollex_kernels.words._bounds import reached_by_codes


@settings(deadline=None)
@given(
    codes=st.lists(st.integers(0, 255), max_size=200)
    | st.lists(st.integers(1, 3), min_size=64, max_size=200),
    first=st.integers(0, 10),
    k=st.integers(1, 80),
)
@example(codes=[2] * 64, first=0, k=36)  # short texts of one length have one small code
def test_the_greatest_code_that_k_reach_is_near(codes, first, k):
    held = np.array([9] * first + codes, np.uint8)
    found = reached_by_codes(held, first, len(held), k)
    looked_at = sorted(codes[: len(codes) // 64 * 64], reverse=True)
    greatest = looked_at[k - 1] if k <= len(looked_at) else 0
    assert found <= greatest <= found + 3
    assert found > 0 or greatest == 0

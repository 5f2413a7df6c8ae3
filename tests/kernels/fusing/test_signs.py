"""How the best of a list stands out, against its definition."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.fusing.contextual import NONE, standing
from tests.kernels.inputs import kept

VALUES = st.sampled_from([-1.0, 0.0, 0.5, 2.0, 3.5])  # ties
WHO = st.sampled_from(["nobody", "named", "other"])


@settings(deadline=None)
@given(
    st.lists(st.tuples(VALUES, VALUES, VALUES, WHO), min_size=1, max_size=24),
    st.integers(1, 12),
)
def test_equals_the_definition(rows: list[tuple[float, float, float, str]], place: int) -> None:
    count = len(rows)
    members = np.arange(2 * count, dtype=np.uint32) * 3 + 1  # every second is a candidate
    speaker = np.full(6 * count + 1, NONE, np.uint32)
    for memory, (*_, who) in zip(members[1::2], rows, strict=True):
        speaker[memory] = {"nobody": NONE, "named": 5, "other": 6}[who]
    kept(speaker)
    semantic, keyword = np.full(2 * count, 9.0), np.zeros(2 * count)
    semantic[1::2] = [row[0] for row in rows]
    keyword[1::2] = [(row[1] - row[0]) / 2 for row in rows]
    found = standing(
        members,
        keyword,
        semantic,
        2.0,
        np.arange(count) * 2 + 1,
        place,
        speaker,
        np.array([4, 5], np.uint32),
        np.array([row[2] + 8 * (row[3] == "named") for row in rows]),
        8.0,
    )
    base = sorted((row[1] for row in rows), reverse=True)
    below = max(0.0, base[place - 1]) if place <= count else 0.0
    ours = [row[2] for row in rows if row[3] == "named"]
    others = [row[2] for row in rows if row[3] == "other"]
    ahead = max(ours) - max(others) if ours and others else 0.0
    assert found.tolist() == [max(row[0] for row in rows), base[0] - below, ahead]

"""How the best of a list stands out, against its definition."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.signs import NONE, standing

VALUES = st.sampled_from([-1.0, 0.0, 0.5, 2.0, 3.5])  # ties
WHO = st.sampled_from(["nobody", "named", "other"])


@settings(deadline=None)
@given(
    st.lists(st.tuples(VALUES, VALUES, VALUES, WHO), min_size=1, max_size=24),
    st.integers(1, 12),
    st.randoms(use_true_random=False),
)
def test_equals_the_definition(
    rows: list[tuple[float, float, float, str]], place: int, random: object
) -> None:
    count = len(rows)
    memories = np.arange(count, dtype=np.uint32) * 3 + 1
    order = list(range(count))
    random.shuffle(order)  # type: ignore[attr-defined]
    speaker = np.full(3 * count + 1, NONE, np.uint32)
    for memory, (*_, who) in zip(memories, rows, strict=True):
        speaker[memory] = {"nobody": NONE, "named": 5, "other": 6}[who]
    speaker.flags.writeable = False
    found = standing(
        np.array([row[0] for row in rows]),
        np.array([row[1] for row in rows]),
        place,
        memories,
        np.array([float(row[3] == "named") for row in rows]),
        memories[order],
        np.array([rows[n][2] for n in order]),
        speaker,
    )
    base = sorted((row[1] for row in rows), reverse=True)
    below = max(0.0, base[place - 1]) if place <= count else 0.0
    ours = [row[2] for row in rows if row[3] == "named"]
    others = [row[2] for row in rows if row[3] == "other"]
    ahead = max(ours) - max(others) if ours and others else 0.0
    assert found.tolist() == [max(row[0] for row in rows), base[0] - below, ahead]

"""What a recall shows of whether it found an answer, and what is made of it."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollex_engine.domain.schema import NONE
from recollex_engine.ranking.confidence import STANDS_OUT_OF, Signs, read_signs
from recollex_kernels.fusing.contextual import standing

SHARES = st.floats(0, 1)
ANYTHING = st.floats(-1e6, 1e6)


@pytest.mark.parametrize(("ours", "named", "misattributed"), [(3.0, 1.0, 0.0), (0.5, 0.0, 1.5)])
def test_the_speaker_whom_the_question_names_is_ahead_or_behind(
    ours: float, named: float, misattributed: float
) -> None:
    seen = standing(
        np.array([2, 5, 9], np.uint32),
        np.array([0.6, 1.6, 0.2]),
        np.array([0.4, 0.9, -0.2]),
        1.0,
        np.array([0, 1, 2]),
        STANDS_OUT_OF,
        np.array([NONE, NONE, 7, NONE, NONE, 8, NONE, NONE, NONE, NONE], np.uint32),
        np.array([8], np.uint32),
        np.array([2.0, ours + 0.5, 9.0]),  # the last has no speaker
        0.5,
    )
    signs = read_signs(seen, 0.25, 40)
    assert signs == Signs(0.9, 2.5, named, misattributed, 0.25, 40)


@given(ANYTHING, ANYTHING, st.floats(0, 1e6), st.floats(0, 1e6), SHARES, st.integers(0, 2**32))
def test_confidence_is_a_probability_whatever_the_signs(
    likeness: float, lead: float, named: float, misattributed: float, unknown: float, memories: int
) -> None:
    signs = Signs(likeness, lead, named, misattributed, unknown, memories)
    assert 0 <= signs.confidence <= 1
    assert signs.confidence == pytest.approx(
        1 / (1 + math.exp(-np.clip(signs.evidence, -700, 700)))
    )


@pytest.mark.parametrize(
    ("name", "way", "named"),
    [
        *(("likeness", 1, 0.0), ("lead", 1, 0.0), ("unknown", -1, 0.0), ("memories", -1, 0.0)),
        *(("named", 1, 0.5), ("misattributed", -1, 0.5), ("lead", 1, 0.5), ("memories", -1, 0.5)),
    ],
)
def test_each_sign_moves_confidence_its_way(name: str, way: int, named: float) -> None:
    middling = Signs(1.2, 1.5, named, 0.2 * (named > 0), unknown=0.2, memories=20)
    step = 20 if name == "memories" else 0.3
    more = dataclasses.replace(middling, **{name: getattr(middling, name) + step})
    assert (more.confidence - middling.confidence) * way > 0.01


def test_where_a_speaker_is_named_neither_likeness_nor_unknown_words_are_read() -> None:
    named = Signs(1.2, 1.5, named=0.5, misattributed=0.0, unknown=0.2, memories=20)
    other = dataclasses.replace(named, likeness=-1.0, unknown=0.9)
    assert other.confidence == named.confidence

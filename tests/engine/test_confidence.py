"""What a recall shows of whether it found an answer, and what is made of it."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollex_engine.confidence import STANDS_OUT_OF, Signs, read_signs

VALUES = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0, 3.5]), min_size=1, max_size=24)  # ties
SHARES = st.floats(0, 1)
ANYTHING = st.floats(-1e6, 1e6)


@given(VALUES, st.data())
def test_signs_equal_their_definition(base: list[float], data: st.DataObject) -> None:
    def of_each(values: st.SearchStrategy[float]) -> list[float]:
        return data.draw(st.lists(values, min_size=len(base), max_size=len(base)))

    semantic, scores = of_each(st.sampled_from([-0.5, 0.0, 1.5])), of_each(ANYTHING)
    speakers = of_each(st.sampled_from([0, 1, 2]))  # nobody, somebody else, the one named
    signs = read_signs(
        np.array(semantic),
        np.array(base),
        np.array(scores),
        np.array(speakers) > 0,
        np.array(speakers) == 2,
        0.25,
    )
    ranked = sorted(base, reverse=True)
    tenth = max(0.0, ranked[STANDS_OUT_OF - 1]) if len(base) >= STANDS_OUT_OF else 0.0
    best = {
        who: max((score for score, each in zip(scores, speakers, strict=True) if each == who))
        for who in set(speakers)
    }
    ahead = best[2] - best[1] if {1, 2} <= best.keys() else 0.0
    assert signs == Signs(
        max(semantic), ranked[0] - tenth, max(ahead, 0), max(-ahead, 0), unknown=0.25
    )


@given(ANYTHING, ANYTHING, st.floats(0, 1e6), st.floats(0, 1e6), SHARES)
def test_confidence_is_a_probability_whatever_the_signs(
    likeness: float, lead: float, named: float, misattributed: float, unknown: float
) -> None:
    signs = Signs(likeness, lead, named, misattributed, unknown)
    assert 0 <= signs.confidence <= 1
    assert signs.confidence == pytest.approx(
        1 / (1 + math.exp(-np.clip(signs.evidence, -700, 700)))
    )


@pytest.mark.parametrize(
    ("name", "way"),
    [("likeness", 1), ("lead", 1), ("named", 1), ("misattributed", -1), ("unknown", -1)],
)
def test_each_sign_moves_confidence_its_way(name: str, way: int) -> None:
    middling = Signs(likeness=1.2, lead=1.5, named=0.5, misattributed=0.2, unknown=0.2)
    more = dataclasses.replace(middling, **{name: getattr(middling, name) + 0.3})
    assert (more.confidence - middling.confidence) * way > 0.01

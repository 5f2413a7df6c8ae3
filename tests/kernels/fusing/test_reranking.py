import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.fusing.reranking import (
    ADD,
    MULTIPLY,
    REPLACE,
    boosts,
    combine,
    memora_heuristic,
)
from tests.kernels.inputs import frozen

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")

DAY = 86_400_000_000
NOW = 1_750_000_000_000_000

ages = st.sampled_from([-3.0, 0.0, 0.5, 1.0, 30.0, 365.0, 4000.0])  # days before now
few = st.sampled_from([0.0, 0.25, 0.5, 1.0])
any_score = st.sampled_from([-40.0, -1.0, 0.0, 0.25, 0.5, 1.0, 7.0])


def columns(lines):
    semantic, keyword, old, accesses = zip(*lines, strict=True) if lines else ((), (), (), ())
    return (
        frozen(semantic, np.float64),
        frozen(keyword, np.float64),
        frozen([NOW - round(days * DAY) for days in old], np.int64),
        frozen(accesses, np.int64),
    )


lines = st.lists(st.tuples(few, few, ages, st.sampled_from([0, 7, 100, 900])), max_size=12)


@given(lines)
def test_the_heuristic_is_what_memora_prints(values):
    found = memora_heuristic(*columns(values), NOW, 0.6, 0.4, 0.2, 0.1)
    most = [max((line[n] for line in values), default=0.0) or 1.0 for n in (0, 1)]
    expected = [
        0.6 * semantic / most[0]
        + 0.4 * keyword / most[1]
        + 0.2 * math.log(1 + max(0, old)) / math.log(1 + 365)
        + 0.1 * min(1.0, accesses / 100)
        for semantic, keyword, old, accesses in values
    ]
    assert found.tolist() == pytest.approx(expected)


@given(lines)
def test_the_corrected_boost_is_the_equation(values):
    _, _, times, accesses = columns(values)
    found = boosts(times, accesses, NOW, 0.2, 0.1)
    expected = [
        0.2 * max(0, 1 - math.log(1 + max(0, old)) / math.log(1 + 365))
        + 0.1 * min(1.0, count / 100)
        for _, _, old, count in values
    ]
    assert found.tolist() == pytest.approx(expected)
    assert (found >= 0).all() and (found <= 0.3 + 1e-12).all()


def test_the_printed_recency_grows_with_age_and_the_corrected_falls():
    times = frozen([NOW, NOW - 30 * DAY, NOW - 365 * DAY, NOW - 3650 * DAY], np.int64)
    none, zero = frozen([0] * 4, np.int64), frozen([0.0] * 4, np.float64)
    printed = memora_heuristic(zero, zero, times, none, NOW, 0.6, 0.4, 0.2, 0.1)
    assert printed[0] == 0 and printed[2] == pytest.approx(0.2) and (np.diff(printed) > 0).all()
    corrected = boosts(times, none, NOW, 0.2, 0.1)
    assert corrected[0] == 0.2 and corrected[2] == pytest.approx(0) and corrected[3] == 0
    assert (np.diff(corrected) <= 0).all()


def unit(scores):
    low, high = min(scores), max(scores)
    return [1.0 if low == high else (s - low) / (high - low) for s in scores]


pairs = st.lists(st.tuples(any_score, any_score), min_size=1, max_size=12)


@given(pairs, st.sampled_from([REPLACE, ADD, MULTIPLY]), st.sampled_from([0.0, 0.5, 1.0, 4.0]))
def test_a_combination_is_its_equation(values, form, weight):
    fused, reranked = (list(column) for column in zip(*values, strict=True))
    order, scores = combine(frozen(fused, np.float64), frozen(reranked, np.float64), form, weight)
    f = unit(fused)
    r = reranked if all(0 <= s <= 1 for s in reranked) else unit(reranked)
    expected = {
        REPLACE: reranked,
        ADD: [a + weight * b for a, b in zip(f, r, strict=True)],
        MULTIPLY: [a * (1 + weight * b) for a, b in zip(f, r, strict=True)],
    }[form]
    assert order.tolist() == sorted(range(len(values)), key=lambda i: (-expected[i], i))
    assert scores.tolist() == [expected[i] for i in order]


@given(pairs, st.sampled_from([0.0, 0.3, 1.0, 9.0]))
def test_multiplied_the_irrelevant_never_leaps_over_the_relevant(values, weight):
    fused = np.sort(np.array([f for f, _ in values]))[::-1].copy()
    reranked = np.array([r for _, r in values])
    order, _ = combine(fused, reranked, MULTIPLY, weight)
    place = {int(i): at for at, i in enumerate(order)}
    f = unit(fused.tolist())
    for better in range(len(f)):
        for worse in range(better + 1, len(f)):
            if f[better] >= (1 + weight) * f[worse]:
                assert place[better] < place[worse]


def test_added_it_may():
    fused, recent = frozen([1.0, 0.9, 0.0], np.float64), frozen([0.0, 0.0, 1.0], np.float64)
    assert combine(fused, recent, ADD, 1.5)[0].tolist() == [2, 0, 1]
    assert combine(fused, recent, MULTIPLY, 1.5)[0].tolist() == [0, 1, 2]


@pytest.mark.parametrize("form", [REPLACE, ADD, MULTIPLY])
def test_nothing_combines_to_nothing(form):
    order, scores = combine(np.empty(0), np.empty(0), form, 1.0)
    assert (order.size, scores.size) == (0, 0)

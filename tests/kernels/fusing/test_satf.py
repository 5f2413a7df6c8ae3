import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollex_kernels.fusing.satf import affinity, concentration, self_anchor
from recollex_kernels.machine.exp import exp
from tests.kernels.inputs import frozen

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")

DAY = 86_400_000_000
WIDTH = 15.0 * DAY

days = st.lists(st.sampled_from([-400, 0, 1, 2, 15, 30, 31, 700, 20_000]), max_size=40)
few_scores = st.sampled_from([-3.0, -0.5, 0.0, 0.25, 1.0, 1e9])


def times_of(values):
    return frozen([1_700_000_000_000_000 + day * DAY for day in values], np.int64)


def affinities(values, anchors, width=15):
    """Equations 2 and 3 of SATF, as they are printed; times in days."""
    return [
        sum(
            1 / i * math.exp(-((t - t_i) ** 2) / (2 * width**2))
            for i, t_i in enumerate(values[:anchors], start=1)
        )
        for t in values
    ]


def unit(scores):
    low, high = min(scores), max(scores)
    return [1.0 if low == high else (s - low) / (high - low) for s in scores]


def concentrations(values, anchors):
    """One for each peak: sums that are equal on paper differ in their last bits, so any may be."""
    found = affinities(values, anchors)
    peaks = [j for j, affinity in enumerate(found) if affinity >= max(found) - 1e-9]
    return [concentrated(values, anchors, found, peak) for peak in peaks]


def concentrated(values, anchors, found, peak, width=15):
    observed = found[peak] / sum(1 / i for i in range(1, min(anchors, len(values)) + 1))
    near = [math.exp(-((t - values[peak]) ** 2) / (2 * width**2)) for t in values]
    background = sum(near) / len(near)
    if observed <= background or background == 1:
        return 0.0
    return (observed - background) / (1 - background)


@given(st.lists(st.floats(-708, 0), max_size=70))
def test_the_polynomial_is_the_exponential(values):
    out = np.empty(len(values))
    exp(frozen(values, np.float64), np.empty(len(values), np.int64), out)
    for x, found in zip(values, out.tolist(), strict=True):
        assert abs(found - math.exp(x)) <= 4e-16 * math.exp(x)


def test_the_polynomial_is_the_exponential_all_along_its_range():
    x = np.concatenate([-np.linspace(0, 708, 200_001), -np.geomspace(1e-300, 1, 1000)])
    out = np.empty_like(x)
    exp(x, np.empty(len(x), np.int64), out)
    exact = np.array([math.exp(v) for v in x.tolist()])
    assert (np.abs(out - exact) <= 4e-16 * exact).all()
    assert out[0] == 1


def test_far_below_the_range_the_exponential_is_as_good_as_nothing():
    out = np.empty(3)
    exp(np.array([-709.0, -1e30, -np.inf]), np.empty(3, np.int64), out)
    assert (out <= 3.4e-308).all() and (out >= 0).all()


@given(days, st.integers(1, 40))
def test_the_affinity_is_the_equation(values, anchors):
    found = affinity(times_of(values), anchors, WIDTH)
    assert found.tolist() == pytest.approx(affinities(values, anchors), rel=1e-12)


@given(days.filter(len), st.integers(1, 40))
@example([15, 0, 0, -400, -400, 0], 6)
def test_the_concentration_is_the_equation(values, anchors):
    times = times_of(values)
    found = concentration(times, affinity(times, anchors, WIDTH), anchors, WIDTH)
    assert 0 <= found <= 1
    assert any(found == pytest.approx(c, abs=1e-9) for c in concentrations(values, anchors))


@given(days, st.integers(1, 40), st.data())
def test_the_new_order_is_the_equation(values, anchors, data):
    size = len(values)
    scores = sorted(data.draw(st.lists(few_scores, min_size=size, max_size=size)), reverse=True)
    by_rank = data.draw(st.booleans())
    order, boosted, _ = self_anchor(
        times_of(values), frozen(scores, np.float64), anchors, WIDTH, 10.0, 0.0, by_rank
    )
    if not values:
        assert (order.size, boosted.size) == (0, 0)
        return
    a = affinities(values, anchors)
    s = [1 / i for i in range(1, size + 1)] if by_rank else unit(scores)
    expected = [s_i * (1 + 10 * a_i / max(a)) for s_i, a_i in zip(s, a, strict=True)]
    assert sorted(order.tolist()) == list(range(size))
    assert boosted.tolist() == pytest.approx([expected[j] for j in order], rel=1e-9, abs=1e-9)
    assert (np.diff(boosted) <= 0).all()
    pairs = zip(boosted.tolist(), order.tolist(), strict=True)
    assert [j for _, j in sorted(pairs, key=lambda pair: (-pair[0], pair[1]))] == order.tolist()


def test_equal_times_keep_the_order_and_are_not_concentrated():
    scores = frozen(np.linspace(1, 0, 50), np.float64)
    order, _, found = self_anchor(times_of([3] * 50), scores, 30, WIDTH, 10.0, 0.0, True)
    assert order.tolist() == list(range(50))
    assert found == 0


def test_a_closed_gate_changes_nothing():
    times, scores = times_of([0, 500, 0, 900]), frozen([4.0, 3.0, 2.0, 1.0], np.float64)
    found = self_anchor(times, scores, 30, WIDTH, 10.0, 0.0, True)[2]
    order, same, again = self_anchor(times, scores, 30, WIDTH, 10.0, found + 1e-9, True)
    assert (order.tolist(), same.tolist(), again) == ([0, 1, 2, 3], scores.tolist(), found)
    order, _, _ = self_anchor(times, scores, 30, WIDTH, 10.0, found, True)
    assert order.tolist() == [0, 2, 1, 3]


def test_a_gathering_is_concentrated_and_a_scatter_is_not():
    scores = frozen(np.linspace(1, 0, 60), np.float64)
    gathered = [0] * 10 + [100 * n for n in range(1, 51)]
    scattered = [100 * n for n in range(60)]
    found = [
        self_anchor(times_of(values), scores, 30, WIDTH, 10.0, 0.0, True)[2]
        for values in (gathered, scattered)
    ]
    assert found[0] > 0.65 and found[1] < 0.25


@given(st.lists(st.sampled_from([0, 1, 20, 90]), min_size=1, max_size=20), st.data())
def test_what_scores_are_measured_in_does_not_matter(values, data):
    size = len(values)
    scores = np.sort(data.draw(st.lists(st.integers(-8, 8), min_size=size, max_size=size)) or [0])[
        ::-1
    ].astype(np.float64)
    first = self_anchor(times_of(values), scores, 30, WIDTH, 10.0, 0.0, False)
    second = self_anchor(times_of(values), scores * 4 - 32, 30, WIDTH, 10.0, 0.0, False)
    assert first[0].tolist() == second[0].tolist()
    assert first[1].tolist() == second[1].tolist()


@pytest.mark.parametrize("by_rank", [False, True])
def test_the_ends_of_time_are_times_like_others(by_rank):
    times = np.array([0, 2**63 - 1, -(2**63), 1], np.int64)
    scores = np.array([1e308, 1.0, 0.0, -1e308])
    order, boosted, _ = self_anchor(times, scores, 30, WIDTH, 10.0, 0.0, by_rank)
    assert np.isfinite(boosted).all()
    assert order.tolist() == ([0, 3, 1, 2] if by_rank else [0, 1, 2, 3])

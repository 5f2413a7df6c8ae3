"""Weights fitted to smooth measures, beside the equations in plain Python."""

import math
from typing import Any

import numpy as np
import pytest

from bench.tables.lib.query_lists import Lists, lists
from bench.tables.lib.smooth_ranks import Plan, fit

pytest.importorskip("scipy", reason="scipy is in the extra bench")


def queries(generator: np.random.Generator, count: int, features: int = 3) -> Lists:
    """Return queries whose evidence is what the first feature less the second says most."""
    made = []
    for _ in range(count):
        n = int(generator.integers(12, 40))
        x = generator.normal(size=(n, features)).astype(np.float32)
        units = generator.integers(0, 20, n).astype(np.int32)
        best = units[(x[:, 0] - x[:, 1]).argmax()]
        made.append((x, units == best, units, int(generator.integers(1, 4))))
    return lists(made)


def naive(sets: list[Lists], v: list[float]) -> float:
    def g(z: float) -> float:
        return 1 / (1 + math.exp(-z))

    total = 0.0
    for one in sets:
        for q, end in enumerate(np.cumsum(one.sizes)):
            places = range(end - one.sizes[q], end)
            best: dict[int, float] = {}
            right = {int(one.units[i]) for i in places if one.right[i] > 0}
            for i in places:
                score = float(one.x[i] @ np.array(v))
                unit = int(one.units[i])
                best[unit] = max(score, best.get(unit, -math.inf))
            count = int(one.evidence[q])
            ideal = sum(1 / math.log2(2 + i) for i in range(min(10, count)))
            for e in right:
                rank = 1 + sum(g(best[u] - best[e]) for u in best if u != e)
                shown = g((10.5 - rank) / (1.5 * max(1, rank / 10.5)))
                value = (1 / count + 1 / (math.log2(1 + rank) * ideal)) / 2
                total -= shown * value / len(one.sizes) / len(sets)
            scores = [float(one.x[i] @ np.array(v)) for i in places]
            chosen = np.mean([s for s, i in zip(scores, places, strict=True) if one.right[i] > 0])
            likely = math.log(sum(math.exp(s) for s in scores)) - float(chosen)
            total += 0.1 * likely / len(one.sizes) / len(sets)
    return total


def test_the_loss_is_that_of_the_equations_and_its_slope_the_derivative(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    optimize: Any = pytest.importorskip("scipy.optimize")
    seen: dict[str, Any] = {}
    whole = optimize.minimize

    def keep(loss: Any, start: Any, **options: Any) -> Any:
        if "bounds" not in options:
            return whole(loss, start, **options)
        seen["loss"] = loss
        return optimize.OptimizeResult(x=start)

    generator = np.random.default_rng(1)
    given = [queries(generator, 3), queries(generator, 8)]
    monkeypatch.setattr(optimize, "minimize", keep)
    fit({"one": given[0], "two": given[1]}, range(3), 0.1)
    deviation = np.concatenate([one.x for one in given]).std(axis=0) + np.float32(1e-6)
    for _ in range(5):
        at = generator.normal(size=3)
        value, slope = seen["loss"](at)
        assert value - 0.1 * at @ at == pytest.approx(naive(given, at / deviation), abs=1e-5)
        for n in range(3):
            step = np.eye(3)[n] * 1e-3
            told = (seen["loss"](at + step)[0] - seen["loss"](at - step)[0]) / 2e-3
            assert slope[n] == pytest.approx(told, abs=1e-3)


def test_a_fit_finds_the_features_that_tell_evidence() -> None:
    generator = np.random.default_rng(2)
    sets = {name: queries(generator, 60) for name in ("one", "two")}
    weights = fit(sets, range(3), 0.001)
    assert weights[0] > 0.5 and weights[1] < -0.5 and abs(weights[2]) < 0.1 * weights[0]
    few = fit(sets, [0], 0.001)
    assert few[0] > 0 and not few[1:].any()
    held = fit(sets, range(3), 10.0)
    assert np.abs(held).max() < 0.1 * np.abs(weights).max()


def test_a_weight_keeps_its_sign() -> None:
    generator = np.random.default_rng(3)
    sets = {name: queries(generator, 60) for name in ("one", "two")}
    free = fit(sets, range(3), 0.001, [0, 0, 0])
    assert np.array_equal(free, fit(sets, range(3), 0.001))
    signed = fit(sets, range(3), 0.001, [1, 1, -1])
    assert signed[0] > 0.5 and signed[1] == 0 and signed[2] <= 0
    assert fit(sets, [1, 2], 0.001, [1, -1, 0])[1] < -0.2


def test_weights_that_leave_a_plan_lose_by_the_distance_from_its_multiples() -> None:
    generator = np.random.default_rng(4)
    units = generator.normal(size=5).astype(np.float32)
    plan = Plan(units, [(3, 1, 2.0), (0, 3, 1.0)], 0.5, 0.25)
    columns, deviation = [1, 3, 4], np.array([0.5, 2.0, 1.0], np.float32)
    form = plan.form(columns, deviation)
    for _ in range(5):
        v = generator.normal(size=3)
        target = units[columns] * deviation
        multiple = float(v @ target) / float(target @ target)
        apart = float(((v - multiple * target) ** 2).sum())
        weights = v / deviation
        pair = (float(weights[1] - 2 * weights[0]) * 2.0) ** 2  # feature 0 is no column
        assert v @ form @ v == pytest.approx(0.5 * apart + 0.25 * pair, abs=1e-6)


def test_a_feature_that_no_set_has_counts_what_the_plan_says() -> None:
    generator = np.random.default_rng(5)
    given = queries(generator, 60)
    given.x[:, 2] = 0
    plan = Plan(np.array([1, -1, 0.5], np.float32), [], 10.0, 0.0)
    weights = fit({"one": given}, range(3), 0.0, plan=plan)
    assert weights[0] > 0.2 and weights[1] == pytest.approx(-weights[0], rel=0.1)
    assert weights[2] == pytest.approx(0.5 * weights[0], rel=0.1)
    assert not fit({"one": given}, range(3), 0.001)[2]

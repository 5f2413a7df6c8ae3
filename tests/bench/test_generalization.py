"""Sets left out in turn: the candidates of a set, the fit, and the table's rows, on tiny data."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bench.datasets.bank import Bank, Split
from bench.lib.kept_vectors import KeptVectors
from bench.tables import generalization
from bench.tables.lib import offered as offered_lib
from bench.tables.lib.listwise import fit
from bench.tables.lib.metrics import ndcg_at, recall_at
from bench.tables.lib.offered import LISTS, NAMES, Offered, offered
from bench.tables.lib.query_lists import Lists, lists
from bench.tables.lib.report import markdown
from recollex import presets
from tests.bench.made_up_bank import made_up_bank


def bank(split: Split) -> Bank:
    return made_up_bank(split, split, "What did we steal?", "t3")


def test_the_parts_are_those_of_the_default_before_they_are_weighed(kept: KeptVectors) -> None:
    found = offered([bank("dev"), bank("report")], kept, 5)
    assert [one.category for one in found] == ["first", "second"] * 2
    planted, stolen = found[:2]
    weights = presets.Contextual()
    vector = np.array([getattr(weights, name) for name in NAMES], np.float32)
    for one in (planted, stolen):
        assert one.scored(one.parts @ vector) == tuple(one.measured[LISTS.index("default")])
        assert one.bound == 1.0
    addressed = NAMES.index("addressed_question"), NAMES.index("addressed_keyword")
    assert not planted.parts[:, addressed].any()
    assert not stolen.parts[:, NAMES.index("keyword")].any()
    assert planted.found == (3, 3, 1) and stolen.gold == (4,)


def test_a_second_run_asks_nothing(kept: KeptVectors, monkeypatch: pytest.MonkeyPatch) -> None:
    first = offered([bank("dev")], kept, 5)

    def fail(*_: Any) -> list[Offered]:
        raise AssertionError("asked again")

    monkeypatch.setattr(offered_lib, "_ask", fail)
    again = offered([bank("dev")], kept, 5)
    assert [one.category for one in again] == [one.category for one in first]
    for one, other in zip(first, again, strict=True):
        assert np.array_equal(one.parts, other.parts) and np.array_equal(one.units, other.units)
        assert (one.found, one.gold, one.bound) == (other.found, other.gold, other.bound)
    with pytest.raises(AssertionError, match="asked again"):
        offered([replace(bank("dev"), turns=bank("dev").turns[:4])], kept, 5)


def candidates(generator: np.random.Generator, split: Split, kind: str) -> Offered:
    """Return a query of 30 candidates, the best by the first part plus the third being evidence."""
    parts = generator.normal(size=(30, len(NAMES))).astype(np.float32)
    proved = np.zeros(30, np.bool_)
    proved[(parts[:, 0] + parts[:, 2]).argmax()] = True
    measured = np.tile([[0.5, 0.4]], (len(LISTS), 1))
    units = np.arange(30, dtype=np.int32)
    return Offered(split, kind, 1, parts, units, proved, measured, (5,) * 10, (3,))


def test_a_fit_finds_the_parts_that_tell_evidence() -> None:
    pytest.importorskip("scipy", reason="scipy is in the extra bench")
    generator = np.random.default_rng(1)
    sets = {
        name: generalization.fitting([candidates(generator, "dev", "k") for _ in range(60)])
        for name in ("one", "two")
    }
    weights = fit(sets, range(len(NAMES)), 0.001)
    assert set(np.argsort(-np.abs(weights))[:2].tolist()) == {0, 2}
    assert weights[0] > 1 and weights[2] > 1
    few = fit(sets, [0], 0.001)
    assert few[0] > 0 and not few[1:].any()
    held = fit(sets, range(len(NAMES)), 10.0)
    assert np.abs(held).max() < 0.1 * np.abs(weights).max()


def test_the_slope_of_the_loss_is_its_derivative(monkeypatch: pytest.MonkeyPatch) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    seen = {}

    def keep(loss: Any, start: Any, **_: Any) -> Any:
        seen["loss"] = loss
        return optimize.OptimizeResult(x=start)

    generator = np.random.default_rng(2)
    queries = [one for n in range(4) if (one := candidates(generator, "dev", str(n)))]
    sets = {"one": generalization.fitting(queries[:1]), "two": generalization.fitting(queries)}
    monkeypatch.setattr(optimize, "minimize", keep)
    fit(sets, range(5), 0.1)
    at = generator.normal(size=5)
    slope = seen["loss"](at)[1]
    for n in range(5):
        step = np.eye(5)[n] * 1e-2
        told = (seen["loss"](at + step)[0] - seen["loss"](at - step)[0]) / 2e-2
        assert slope[n] == pytest.approx(told, abs=2e-3)


def test_a_query_without_evidence_among_its_candidates_is_left_out() -> None:
    x, none, units = (
        np.ones((3, 2), np.float32),
        np.zeros(3, np.bool_),
        np.arange(3, dtype=np.int32),
    )
    one = lists([(x, none, units, 1), (x, np.array([True, True, False]), units, 2)])
    assert one.sizes.tolist() == [3] and one.right.tolist() == [0.5, 0.5, 0.0]
    assert one.units.tolist() == [0, 1, 2] and one.evidence.tolist() == [2]
    nothing = lists([(x, none, units, 1)])
    assert isinstance(nothing, Lists) and not len(nothing.sizes)


def test_measures_of_scores_are_those_of_a_list() -> None:
    generator = np.random.default_rng(3)
    for _ in range(50):
        count = int(generator.integers(1, 40))
        units = generator.integers(0, 15, count).astype(np.int32)
        _, units = np.unique(units, return_inverse=True)
        evidence = set(generator.choice(20, int(generator.integers(1, 5)), replace=False).tolist())
        proved = np.array([int(unit) in evidence for unit in units])
        one = Offered(
            *("dev", "k", len(evidence), np.empty((count, 0), np.float32)),
            *(units.astype(np.int32), proved, np.empty((0, 2)), (), ()),
        )
        scores = generator.normal(size=count)
        order = dict.fromkeys(str(units[place]) for place in np.argsort(-scores))
        wanted = {str(unit) for unit in evidence}
        found = list(order)
        expected = recall_at(10, found, wanted), ndcg_at(10, found, wanted)
        assert one.scored(scores) == pytest.approx(expected)


def test_the_table_compares_each_set_with_its_best_arm() -> None:
    pytest.importorskip("scipy")
    generator = np.random.default_rng(4)
    found = {
        name: [
            candidates(generator, split, kind)
            for split in generalization.HALVES
            for kind in ("even", "odd")
            for _ in range(generalization.TYPE)
        ]
        for name in ("one", "two", "three")
    }
    table = generalization.table(found)
    rows = table.sections[0].rows
    assert [row["set"] for row in rows] == ["one", "two", "three"]
    for row in rows:
        assert (row["arm"], row["default"], row["default is"]) == (0.5, 0.5, "mean above")
        assert row["fitted is"] == "above" and row["bound"] == 1.0
    by_type = table.sections[4].rows
    assert [(row["set"], row["type"]) for row in by_type][:2] == [("one", "even"), ("one", "odd")]
    assert all(row["questions"] == generalization.TYPE for row in by_type)
    assert "not below on 3 of 3" in table.remarks[0]
    assert "5 / 3" in markdown(table)

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import recollex
from recollex_engine.clock import DAY
from recollex_engine.errors import InputError
from recollex_engine.ranking.fusion import SelfAnchoring

START = datetime(2024, 1, 1, tzinfo=UTC)
DAYS = [0, 100, 101, 102, 200, 300, 103, 50]
PLACES = np.array([1, 0, 2, 5, 3, 6, 4, 7], np.uint32)  # memories, best first
SCORES = np.array([0.4, 0.3, 0.2, 0.1, -0.1, -0.2, -0.3, -0.4])


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    with recollex.open(
        tmp_path_factory.mktemp("satf") / "s", embedder=recollex.GivenVectors(8)
    ) as store:
        agent = store.agent("a")
        agent.retain_many(
            [f"It is day {day}." for day in DAYS],
            event_at=[START + timedelta(days=day) for day in DAYS],
            embedding=np.eye(8),
        )
        yield agent.engine.view()


@pytest.fixture(scope="module")
def nothing(tmp_path_factory):
    with recollex.open(
        tmp_path_factory.mktemp("satf-empty") / "s", embedder=recollex.GivenVectors(8)
    ) as store:
        agent = store.agent("a")
        agent.retain("x", embedding=np.eye(8)[0])
        yield agent.engine.view(0)


def test_memories_of_the_best_ones_time_are_lifted_and_none_is_lost(view):
    for base in ("ranks", "scores"):
        found = SelfAnchoring(base=base).apply(view, PLACES, SCORES)
        assert found.activated
        assert sorted(found.order.tolist()) == list(range(8))
        chosen = [DAYS[memory] for memory in PLACES[found.order]]
        assert chosen[:3] == [100, 101, 102]
        assert chosen.index(103) < chosen.index(300)
        assert (np.diff(found.scores) <= 0).all()


def test_an_arms_float32_scores_will_do(view):
    first = SelfAnchoring(base="scores").apply(view, PLACES, SCORES)
    second = SelfAnchoring(base="scores").apply(view, PLACES, SCORES.astype(np.float32))
    assert first.order.tolist() == second.order.tolist()


def test_the_gate_decides_and_is_reported(view):
    open_gate = SelfAnchoring().apply(view, PLACES, SCORES)
    assert 0 < open_gate.concentration < 1
    closed = SelfAnchoring(gate=open_gate.concentration + 0.01).apply(view, PLACES, SCORES)
    assert not closed.activated
    assert closed.concentration == open_gate.concentration
    assert closed.order.tolist() == list(range(8))
    assert closed.scores.tolist() == SCORES.tolist()
    assert SelfAnchoring(gate=open_gate.concentration).apply(view, PLACES, SCORES).activated


def test_a_fraction_of_the_agents_time_is_the_width(view, nothing):
    assert SelfAnchoring().width_in(view) == 15 * DAY
    assert SelfAnchoring(window_fraction=0.05).width_in(view) == 15 * DAY  # 300 days in all
    assert SelfAnchoring(window_fraction=0.05).apply(view, PLACES, SCORES).width == 15 * DAY
    assert SelfAnchoring(window_fraction=1e-6).width_in(view) == round(300e-6 * DAY)
    assert SelfAnchoring(window_fraction=0.05).width_in(nothing) == 15 * DAY


def test_an_agent_of_one_moment_falls_back_to_days(tmp_path):
    with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(8)) as store:
        agent = store.agent("a")
        agent.retain_many(["x", "y"], event_at=[START, START], embedding=np.eye(8)[:2])
        view = agent.engine.view()
        anchoring = SelfAnchoring(window_fraction=0.1, gate=0.01)
        assert anchoring.width_in(view) == 15 * DAY
        found = anchoring.apply(view, np.array([1, 0], np.uint32), np.array([2.0, 1.0]))
        assert (found.activated, found.concentration) == (False, 0)


def test_nothing_stays_nothing_and_one_stays_one(view):
    none = SelfAnchoring().apply(view, PLACES[:0], SCORES[:0])
    assert (none.order.size, none.scores.size, none.activated) == (0, 0, False)
    one = SelfAnchoring().apply(view, PLACES[:1], SCORES[:1])
    assert one.order.tolist() == [0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"anchors": 0}, r"anchors must lie in \[1, 100000\], got 0"),
        ({"anchors": 1.5}, "anchors must be an int, got float"),
        ({"width_days": 0.0}, "width_days must lie in"),
        ({"width_days": float("nan")}, "width_days must lie in"),
        ({"strength": -1.0}, "strength must lie in"),
        ({"gate": 1.5}, r"gate must lie in \[0, 1\], got 1.5"),
        ({"gate": "high"}, "gate must be a number, got str"),
        ({"window_fraction": 0.0}, "window_fraction must lie in"),
        ({"base": "rank"}, "base must be 'ranks' or 'scores', got 'rank'"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        SelfAnchoring(**arguments)

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollex
from recollex_engine.clock import to_micros
from recollex_engine.errors import InputError, RerankError
from recollex_engine.ranking.arms import ArmList
from recollex_engine.ranking.rerankers import Heuristic, MemoraHeuristic
from recollex_engine.ranking.reranking import Candidates, Combination, rerank

NOW = datetime(2025, 6, 1, tzinfo=UTC)
AGES = [0, 0, 10, 365, 4000, -5]


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    with recollex.open(
        tmp_path_factory.mktemp("reranking") / "s", embedder=recollex.GivenVectors(8)
    ) as store:
        agent = store.agent("a")
        agent.retain_many(
            [f"memory {n}" for n in range(len(AGES))],
            event_at=[NOW - timedelta(days=age) for age in AGES],
            embedding=np.eye(8)[: len(AGES)],
        )
        yield agent.engine.view()


def candidates_of(view, memories, scores=None, arms=None):
    scores = np.linspace(1, 0, len(memories)) if scores is None else np.array(scores, np.float64)
    now = to_micros(NOW, "now")
    return Candidates("q", view, np.array(memories, np.uint32), scores, now, None, arms)


REPLACE = Combination()


@dataclass
class Fixed:
    given: object
    combination: Combination = REPLACE
    name: str = "fixed"
    asked: int = 0

    def scores(self, candidates):
        self.asked += 1
        return self.given


def test_a_rerankers_scores_replace_the_fused_ones(view):
    found = rerank(candidates_of(view, [4, 3, 2]), Fixed([-1.0, 5, 5]))
    assert found.order.tolist() == [1, 2, 0]
    assert found.scores.tolist() == [5, 5, -1]


def test_the_caller_may_choose_another_combination(view):
    found = rerank(
        candidates_of(view, [4, 3, 2]), Fixed([0.0, 1.0, 1.0]), Combination("multiply", 3.0)
    )
    assert (found.order.tolist(), found.scores.tolist()) == ([1, 0, 2], [2, 1, 0])
    found = rerank(candidates_of(view, [4, 3, 2]), Fixed([0, 0, 1], Combination("add", 2.0)))
    assert (found.order.tolist(), found.scores.tolist()) == ([2, 0, 1], [2, 1, 0.5])


def test_what_lies_beyond_the_depth_follows_in_its_order(view):
    found = rerank(candidates_of(view, [4, 3, 2, 1]), Fixed([0.1, 0.2]), depth=2)
    assert found.order.tolist() == [1, 0, 2, 3]
    assert found.scores.tolist() == [0.2, 0.1, 0.1, 0.1]


def test_a_reranker_is_not_asked_about_an_empty_list(view):
    unasked = Fixed([])
    for candidates, depth in ((candidates_of(view, []), None), (candidates_of(view, [1, 0]), 0)):
        found = rerank(candidates, unasked, depth=depth)
        assert found.order.tolist() == list(range(len(candidates)))
        assert found.scores.tolist() == candidates.scores.tolist()
    assert unasked.asked == 0


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ([1.0], r"reranker 'fixed': expected 2 scores, one a text, got an array of shape \(1,\)"),
        ([[1.0], [2.0]], r"shape \(2, 1\)"),
        (None, r"shape \(\)"),
        ([1.0, math.nan], "scores must be finite, got nan for text 1"),
        ([-math.inf, 1], "got -inf for text 0"),
        (["high", "low"], "its scores are not numbers"),
        ([1.0, [2.0]], "its scores are not numbers"),
    ],
)
def test_nonsense_is_an_error_that_names_the_reranker(view, given_, message):
    with pytest.raises(RerankError, match=message) as caught:
        rerank(candidates_of(view, [0, 1]), Fixed(given_))
    assert caught.value.reranker == "fixed"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"form": "max"}, "form must be one of replace, add, multiply, got 'max'"),
        ({"weight": -1}, "weight must lie in"),
        ({"weight": math.inf}, "weight must lie in"),
    ],
)
def test_a_combination_that_makes_no_sense_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        Combination(**arguments)


def test_of_two_alike_the_recent_comes_first(view):
    found = rerank(candidates_of(view, [4, 0, 3], [0.9, 0.85, 0.0]), Heuristic())
    assert found.order.tolist() == [1, 0, 2]


@given(
    st.permutations(range(len(AGES))),
    st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.8, 1.0]), min_size=len(AGES), max_size=len(AGES)),
)
@settings(deadline=None)
def test_an_irrelevant_recent_memory_leaps_over_no_relevant_one(view, memories, scores):
    scores = np.sort(scores)[::-1]
    span = scores[0] - scores[-1]
    relevance = (scores - scores[-1]) / span if span else np.ones(len(scores))
    found = rerank(candidates_of(view, memories, scores), Heuristic())
    place = {int(i): at for at, i in enumerate(found.order)}
    for better in range(len(scores)):
        for worse in range(better + 1, len(scores)):
            if relevance[better] >= 1.3 * relevance[worse]:
                assert place[better] < place[worse]


def test_memoras_printed_heuristic_prefers_the_old(view):
    arms = {
        "semantic": ArmList(
            np.array([0, 4], np.uint32), np.array([0.5, 0.5], np.float32), np.empty(0, np.uint32)
        ),
        "keyword": ArmList(
            np.array([3], np.uint32), np.array([7.0], np.float32), np.empty(0, np.uint32)
        ),
    }
    candidates = candidates_of(view, [0, 3, 4, 5], arms=arms)
    found = MemoraHeuristic().scores(candidates)
    old = math.log(1 + 4000) / math.log(1 + 365)
    assert found.tolist() == pytest.approx([0.6, 0.4 + 0.2, 0.6 + 0.2 * old, 0], abs=1e-6)
    assert rerank(candidates, MemoraHeuristic()).order.tolist()[0] == 2


@pytest.mark.parametrize("heuristic", [Heuristic(), MemoraHeuristic()])
def test_of_equal_age_and_relevance_the_order_stays(view, heuristic):
    assert rerank(candidates_of(view, [1, 0], [0.5, 0.5]), heuristic).order.tolist() == [0, 1]
    assert rerank(candidates_of(view, [1]), heuristic).order.tolist() == [0]
    assert rerank(candidates_of(view, []), heuristic).order.tolist() == []


def test_weights_that_make_no_sense_are_refused():
    for make in (Heuristic, MemoraHeuristic):
        with pytest.raises(InputError, match="recency must lie in"):
            make(recency=-0.1)

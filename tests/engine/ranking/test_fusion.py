import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.errors import InputError
from recollex_engine.models.description import PAPER_THRESHOLDS
from recollex_engine.ranking.arm_table import ARMS
from recollex_engine.ranking.arms import ArmList
from recollex_engine.ranking.fusion import Evidence, ReciprocalRank, ScoreSum
from recollex_engine.text.analyzer import Analyzer
from recollex_engine.text.question_cues import read_cues

few_scores = st.sampled_from([0.0, 0.25, 0.5, 1.0])  # forces ties
arm_lists = st.dictionaries(
    st.sampled_from([*ARMS]), st.dictionaries(st.integers(0, 9), few_scores, max_size=8), max_size=4
)


def ranked(scores):
    memories = sorted(scores, key=lambda memory: (-scores[memory], memory))
    return ArmList(
        np.array(memories, np.uint32),
        np.array([scores[memory] for memory in memories], np.float32),
        np.empty(0, np.uint32),
    )


def evidence(lists):
    ordered = {name: ranked(lists[name]) for name in ARMS if name in lists}
    allowed = np.ones(10, np.uint8)
    cues, limits = read_cues(""), PAPER_THRESHOLDS
    return Evidence(
        view=None,
        lists=ordered,
        words=None,
        query=None,
        allowed=allowed,
        analyzer=Analyzer(),
        cues=cues,
        found=None,
        now=0,
        thresholds=limits,
        budget=10,
        cited=None,
    )


def in_order(totals):
    """Higher score, then newer memory."""
    return sorted(totals, key=lambda memory: (-totals[memory], -memory))


@settings(deadline=None)
@given(arm_lists, st.sampled_from([0.0, 10.0, 60.0]), st.sampled_from([0.5, 3.0]))
def test_reciprocal_rank_equals_the_equation(lists, k, keyword):
    totals = {}
    for name in ARMS:
        for rank, memory in enumerate(ranked(lists.get(name, {})).memories.tolist(), 1):
            weight = keyword if name == "keyword" else 1.0
            totals[memory] = totals.get(memory, 0.0) + weight / (k + rank)
    fused = ReciprocalRank(k, {"keyword": keyword}).fuse(evidence(lists))
    assert fused.memories.tolist() == in_order(totals)
    assert fused.scores.tolist() == [totals[memory] for memory in fused.memories.tolist()]


@settings(deadline=None)
@given(arm_lists)
def test_a_score_sum_equals_the_equation(lists):
    weights = {"semantic": 0.5, "keyword": 1.0, "graph": 0.3, "temporal": 0.3}
    totals = {}
    for name in ARMS:
        scores = lists.get(name, {})
        if not scores:
            continue
        values = np.array(list(scores.values()))
        for memory, value in scores.items():
            spread = values.std()
            part = (value - values.min()) / spread if spread > 0 else 1.0
            totals[memory] = totals.get(memory, 0.0) + weights[name] * part
    fused = ScoreSum().fuse(evidence(lists))
    assert sorted(fused.memories.tolist()) == sorted(totals)
    expected = [totals[memory] for memory in fused.memories.tolist()]
    np.testing.assert_allclose(fused.scores, expected, rtol=1e-12)
    assert fused.memories.tolist() == in_order(
        dict(zip(fused.memories.tolist(), fused.scores.tolist(), strict=True))
    )
    np.testing.assert_allclose(sum(fused.parts.values(), np.zeros(len(expected))), fused.scores)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: ReciprocalRank(k=-1), "k must"),
        (lambda: ReciprocalRank(k=float("nan")), "k must"),
        (lambda: ReciprocalRank(weights={"words": 1.0}), "'words'"),
        (lambda: ReciprocalRank(weights={"graph": -1.0}), r"weights\['graph'\]"),
        (lambda: ScoreSum({"keyword": "1"}), r"weights\['keyword'\]"),
    ],
)
def test_a_fusion_that_makes_no_sense_is_refused(made, said):
    with pytest.raises(InputError, match=said):
        made()

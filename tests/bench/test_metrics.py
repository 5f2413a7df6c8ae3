import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.tables.lib import metrics

ids = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)
some = st.sets(st.sampled_from("abcdefgh"), min_size=1, max_size=5)
few_values = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=30)


@settings(deadline=None)
@given(ids, some, st.integers(1, 10))
def test_measures_equal_their_definitions(found: list[str], evidence: set[str], k: int) -> None:
    hits = [id in evidence for id in found[:k]]
    assert metrics.recall_at(k, found, evidence) == sum(hits) / len(evidence)
    assert metrics.all_at(k, found, evidence) == (1.0 if evidence <= set(found[:k]) else 0.0)
    assert metrics.precision_at(k, found, evidence) == sum(hits) / k
    ideal = sorted([1] * len(evidence) + [0] * 10, reverse=True)[:k]
    gains = [g / math.log2(p + 1) for p, g in enumerate(ideal, 1)]
    got = [hit / math.log2(p + 1) for p, hit in enumerate(hits, 1)]
    assert metrics.ndcg_at(k, found, evidence) == pytest.approx(sum(got) / sum(gains))
    places = [place for place, id in enumerate(found, 1) if id in evidence]
    assert metrics.reciprocal_rank(found, evidence) == (1 / places[0] if places else 0)


def test_measures_are_found_by_their_names() -> None:
    found, evidence = ["a", "b", "c"], {"b", "c"}
    names = ("R@2", "All@2", "P@2", "MRR", "All@3")
    assert [metrics.measure(name)(found, evidence) for name in names] == [0.5, 0, 0.5, 0.5, 1]
    with pytest.raises(ValueError, match="no measure 'F@3'"):
        metrics.measure("F@3")


def test_a_document_stands_where_its_best_turn_stands() -> None:
    document_of = {"a1": "a", "a2": "a", "b1": "b"}
    assert metrics.documents(["b1", "a2", "a1"], document_of) == ["b", "a"]


@settings(deadline=None)
@given(few_values)
def test_resampled_means_are_means_of_drawn_values(values: list[float]) -> None:
    data = np.array(values)
    draws = np.random.default_rng(7).integers(0, len(data), (50, len(data)))
    means = metrics.resampled_means(data, resamples=50, seed=7)
    assert means == pytest.approx([np.mean([values[n] for n in row]) for row in draws])


def test_a_bootstrap_drawn_in_chunks_has_every_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "CHUNK", 64)
    means = metrics.resampled_means(np.arange(10.0), resamples=101)
    assert len(means) == 101 and means.mean() == pytest.approx(4.5, abs=0.5)


def test_the_interval_covers_the_mean_95_times_in_100() -> None:
    generator = np.random.default_rng(1)
    covered = 0
    for _ in range(200):
        interval = metrics.bootstrap(generator.random(100), resamples=400)
        covered += interval.low <= 0.5 <= interval.high
    assert 178 <= covered <= 199


def test_the_same_values_give_the_same_interval() -> None:
    values = np.linspace(0, 1, 37)
    assert metrics.bootstrap(values) == metrics.bootstrap(values.tolist())
    assert metrics.bootstrap([]) == metrics.Interval(0, 0, 0, 0)


def test_pairing_sees_a_small_difference_behind_large_variance() -> None:
    generator = np.random.default_rng(2)
    theirs = generator.random(300)
    ours = theirs + 0.02
    difference = metrics.paired(ours, theirs)
    assert difference.interval.low == pytest.approx(0.02) and difference.p == 0
    assert metrics.bootstrap(ours).low < metrics.bootstrap(theirs).mean
    worse = metrics.paired(theirs, ours)
    assert worse.p == 1 and worse.not_inferior(0.03) and not worse.not_inferior(0.01)


def test_pairs_must_be_pairs() -> None:
    with pytest.raises(ValueError, match="pairs are needed"):
        metrics.paired([1.0], [1.0, 2.0])


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0, 2.0]), st.booleans()), min_size=1))
def test_auroc_counts_pairs(scored: list[tuple[float, bool]]) -> None:
    pairs = [(a > b) + (a == b) / 2 for a, yes in scored if yes for b, no in scored if not no]
    got = metrics.auroc([score for score, _ in scored], [yes for _, yes in scored])
    assert got == pytest.approx(np.mean(pairs)) if pairs else math.isnan(got)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0, 2.0]), st.booleans()), min_size=1))
def test_risk_at_each_coverage_is_the_mean_error_of_the_answered(
    answered: list[tuple[float, bool]],
) -> None:
    sure, right = zip(*answered, strict=True)
    coverage, risk = metrics.risk_coverage(sure, right)
    thresholds = sorted(set(sure), reverse=True)
    chosen = [[ok for at, ok in answered if at >= threshold] for threshold in thresholds]
    assert coverage == pytest.approx([len(each) / len(answered) for each in chosen])
    assert risk == pytest.approx([1 - sum(each) / len(each) for each in chosen])
    area = metrics.area_under_risk(sure, right)
    assert min(risk) - 1e-9 <= area <= max(risk) + 1e-9


def test_answering_the_right_ones_first_costs_less_risk() -> None:
    right = [1, 1, 1, 0, 0]
    assert metrics.area_under_risk([5, 4, 3, 2, 1], right) < metrics.area_under_risk(
        [1, 2, 3, 4, 5], right
    )

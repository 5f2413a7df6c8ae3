"""Metrics parsed from their text equal what was measured."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollex.remote.server.metrics import SECONDS, Metrics
from recollex.remote.server.metrics_snapshot import MetricsSnapshot, parse_metrics
from recollex_engine.errors import ProtocolError


def test_what_was_measured_is_read_back() -> None:
    metrics = Metrics()
    metrics.answered("recall", "ok", 0.002)
    metrics.answered("recall", "InputError", 0.004)
    metrics.answered("get", "ok", 0.001)
    read = parse_metrics(metrics.text())
    assert read.value("recollex_requests_total") == 3
    assert read.value("recollex_requests_total", method="recall") == 2
    assert read.value("recollex_requests_total", method="recall", outcome="ok") == 1
    assert read.labels("recollex_requests_total", "method") == ["get", "recall"]
    assert read.value("nothing") == 0


@given(st.lists(st.floats(1e-6, 9.0), min_size=1, max_size=50), st.sampled_from([0.5, 0.9, 0.99]))
def test_a_quantile_lies_in_the_bucket_of_the_value(values: list[float], share: float) -> None:
    metrics = Metrics()
    for value in values:
        metrics.waited(value)
    found = parse_metrics(metrics.text()).quantile(share, "recollex_queue_seconds")
    needed = next(n for n in range(1, len(values) + 1) if n >= share * len(values))
    exact = sorted(values)[needed - 1]
    edges = (0.0, *SECONDS)
    place = next(n for n, edge in enumerate(edges) if exact <= edge)
    assert found is not None and edges[place - 1] <= found <= edges[place] * (1 + 1e-9)


def test_growth_is_what_happened_between_two_looks() -> None:
    metrics = Metrics()
    metrics.answered("recall", "ok", 5.0)
    before = parse_metrics(metrics.text())
    metrics.answered("recall", "ok", 0.002)
    grown = parse_metrics(metrics.text()).since(before)
    assert grown.value("recollex_requests_total") == 1
    slowest = grown.quantile(0.99, "recollex_request_seconds", method="recall")
    assert slowest is not None and slowest <= 0.0025


def test_a_histogram_without_values_has_no_quantile() -> None:
    assert parse_metrics(Metrics().text()).quantile(0.5, "recollex_queue_seconds") is None
    assert MetricsSnapshot({}).quantile(0.5, "took") is None


@pytest.mark.parametrize("text", ["<html>", "calls_total", "calls_total many"])
def test_another_text_is_refused(text: str) -> None:
    with pytest.raises(ProtocolError):
        parse_metrics(text)

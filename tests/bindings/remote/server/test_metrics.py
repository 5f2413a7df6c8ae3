import threading

from recollex.remote.server.metrics import Metrics
from recollex_engine.trace import Trace


def test_a_recall_is_seen_by_its_stages_and_the_arms_that_failed() -> None:
    metrics = Metrics()
    trace = Trace({"embed": 1300.0, "keyword": 40.0}, {"graph": "broken"}, total=1500.0)
    metrics.recalled(trace)
    lines = metrics.text().splitlines()
    assert 'recollex_recall_stage_seconds_sum{stage="embed"} 0.0013' in lines
    assert 'recollex_recall_stage_seconds_bucket{le="5e-05",stage="keyword"} 1.0' in lines
    assert 'recollex_recall_stage_seconds_sum{stage="total"} 0.0015' in lines
    assert 'recollex_recall_arm_errors_total{arm="graph"} 1.0' in lines


def test_requests_are_counted_by_method_and_outcome() -> None:
    metrics = Metrics()
    metrics.answered("recall", "ok", 0.002)
    metrics.answered("recall", "InputError", 0.0001)
    lines = metrics.text().splitlines()
    assert 'recollex_requests_total{method="recall",outcome="ok"} 1.0' in lines
    assert 'recollex_requests_total{method="recall",outcome="InputError"} 1.0' in lines
    assert 'recollex_request_seconds_count{method="recall"} 2.0' in lines


def test_what_never_happened_is_there_with_zero() -> None:
    lines = Metrics().text().splitlines()
    for name in ("recollex_log_fsync_seconds", "recollex_write_batch_size"):
        assert f"{name}_count 0.0" in lines


def test_a_gauge_that_was_added_is_in_the_text() -> None:
    metrics = Metrics()
    metrics.gauge("recollex_open_agents", "Agents that are open.", lambda: 3)
    assert "recollex_open_agents 3.0" in metrics.text().splitlines()


def test_memory_and_processor_time_are_real() -> None:
    found = dict(line.rsplit(" ", 1) for line in Metrics().text().splitlines() if line[0] != "#")
    assert float(found["process_resident_memory_bytes"]) > 1e6
    assert float(found["process_cpu_seconds_total"]) > 0


def test_times_at_which_series_began_are_left_out() -> None:
    metrics = Metrics()
    metrics.answered("recall", "ok", 0.002)
    assert "_created" not in metrics.text()


def test_threads_lose_no_count() -> None:
    metrics = Metrics()
    trace = Trace({"embed": 1300.0}, {}, total=1500.0)

    def count() -> None:
        for _ in range(500):
            metrics.recalled(trace)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 'recollex_recall_stage_seconds_count{stage="embed"} 2000.0' in metrics.text()

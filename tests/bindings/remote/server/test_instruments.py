"""Counters and histograms follow Prometheus' text format."""

import re
import threading

from hypothesis import given
from hypothesis import strategies as st

from recollex.remote.server.instruments import MAX_SERIES, Counter, Gauge, Histogram

LINE = re.compile(r'^[a-z_]+(\{([a-z]+="([^"\\\n]|\\["\\n])*",?)+\})? [0-9.e+-]+$')
values = st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0, 99.0]), max_size=30)


@given(values)
def test_a_bucket_counts_what_lies_at_or_below_its_bound(observed: list[float]) -> None:
    histogram = Histogram("took", "Time.", bounds=(0.5, 1.0, 2.0))
    for value in observed:
        histogram.observe(value)
    lines = list(histogram.lines())[2:]
    for bound, line in zip((0.5, 1.0, 2.0), lines, strict=False):
        below = sum(value <= bound for value in observed)
        assert line == f'took_bucket{{le="{bound:g}"}} {below}'
    assert lines[3] == f'took_bucket{{le="+Inf"}} {len(observed)}'
    assert float(lines[4].split()[1]) == sum(observed)
    assert lines[5] == f"took_count {len(observed)}"


@given(st.text())
def test_any_label_gives_a_line_that_can_be_read(label: str) -> None:
    counter = Counter("calls", "Calls.", ("agent",))
    counter.add(2, label)
    assert LINE.match("\n".join(list(counter.lines())[2:]))


def test_labels_beyond_the_bound_are_counted_together() -> None:
    counter, histogram = Counter("calls", "", ("by",)), Histogram("took", "", ("by",), (1.0,))
    for number in range(MAX_SERIES + 100):
        counter.add(1, str(number))
        histogram.observe(0.5, str(number))
    assert counter.value("other") == 100
    assert 'took_count{by="other"} 100' in list(histogram.lines())
    assert len(list(counter.lines())) == MAX_SERIES + 3


def test_threads_lose_no_count() -> None:
    counter, histogram = Counter("calls", ""), Histogram("took", "", ("stage",), (1.0,))

    def count() -> None:
        for _ in range(2000):
            counter.add(1)
            histogram.observe_all({"embed": 500.0}, 1e-3)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.value() == 8000
    assert 'took_count{stage="embed"} 8000' in list(histogram.lines())


def test_a_gauge_is_read_when_it_is_looked_at() -> None:
    queue = [1]
    gauge = Gauge("depth", "Depth.", lambda: len(queue))
    queue.append(2)
    assert list(gauge.lines()) == ["# HELP depth Depth.", "# TYPE depth gauge", "depth 2"]

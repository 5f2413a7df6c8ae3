"""The metrics of a server: counters, gauges and histograms for Prometheus."""

import resource
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from recollex_engine.trace import Trace

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# fmt: off
SECONDS = (
    0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
    0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0,
)
# fmt: on
"""Upper bounds of time buckets: a recall takes a millisecond, a stage tens of microseconds."""
COUNTS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
"""Upper bounds of buckets for small counts."""


class Metrics:
    """The metrics of one server.

    `/metrics` and the method `server.metrics` answer with their text. Names begin with `recollex_`,
    times are in seconds. Labels are names of this program, never what a caller says: each makes a
    series. Threads: any; a call costs a few microseconds.

    >>> metrics = Metrics()
    >>> metrics.answered("recall", "ok", 0.002)
    >>> 'recollex_requests_total{method="recall",outcome="ok"} 1.0' in metrics.text()
    True
    """

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_Process())
        self._requests = self._counter(
            "recollex_requests_total",
            "Requests answered, by method and outcome: ok or an error's class.",
            "method",
            "outcome",
        )
        self._request_seconds = self._histogram(
            "recollex_request_seconds", "From a request's arrival to its answer.", "method"
        )
        self._queue_seconds = self._histogram(
            "recollex_queue_seconds", "How long a request waited for a thread."
        )
        self._stage_seconds = self._histogram(
            "recollex_recall_stage_seconds",
            "Time of each stage of a recall; stages may overlap. total is the whole recall.",
            "stage",
        )
        self._stage = cache(self._stage_seconds.labels)  # the look-up takes as long as the count
        self._arm_errors = self._counter(
            "recollex_recall_arm_errors_total", "Arms of recalls that failed.", "arm"
        )
        self._batch_size = self._histogram(
            "recollex_write_batch_size", "Writes that shared one transaction.", buckets=COUNTS
        )
        self._fsync_seconds = self._histogram(
            "recollex_log_fsync_seconds", "How long writes waited for a flush of the log."
        )
        self._received_bytes = self._counter(
            "recollex_received_bytes_total", "Bytes that came in.", "transport"
        )
        self._sent_bytes = self._counter(
            "recollex_sent_bytes_total", "Bytes that went out.", "transport"
        )

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(name, about, labels, registry=self._registry)

    def _histogram(
        self, name: str, about: str, *labels: str, buckets: tuple[float, ...] = SECONDS
    ) -> Histogram:
        return Histogram(name, about, labels, registry=self._registry, buckets=buckets)

    def gauge(self, name: str, about: str, read: Callable[[], float]) -> None:
        """Add a number that ``read`` returns at each scrape."""
        Gauge(name, about, registry=self._registry).set_function(read)

    def answered(self, method: str, outcome: str, seconds: float) -> None:
        """Record an answered request; ``method`` is a name of the table."""
        self._requests.labels(method, outcome).inc()
        self._request_seconds.labels(method).observe(seconds)

    def waited(self, seconds: float) -> None:
        """Record how long a request waited in a queue."""
        self._queue_seconds.observe(seconds)

    def recalled(self, trace: Trace) -> None:
        """Record the stages of a recall."""
        for stage, microseconds in trace.stages.items():
            self._stage(stage).observe(microseconds * 1e-6)
        self._stage("total").observe(trace.total * 1e-6)
        for arm in trace.errors:
            self._arm_errors.labels(arm).inc()

    def batched(self, writes: int) -> None:
        """Record how many writes one transaction held."""
        self._batch_size.observe(writes)

    def flushed(self, seconds: float) -> None:
        """Record how long one flush of a log took."""
        self._fsync_seconds.observe(seconds)

    def received(self, count: int, transport: str) -> None:
        """Record bytes that came in."""
        self._received_bytes.labels(transport).inc(count)

    def sent(self, count: int, transport: str) -> None:
        """Record bytes that went out."""
        self._sent_bytes.labels(transport).inc(count)

    def text(self) -> str:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(_WithoutTimes(self._registry)).decode()


class _WithoutTimes(Collector):
    """A registry without the times at which its series began, which double their number."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Metric]:
        """Give each metric."""
        for metric in self._registry.collect():
            metric.samples = [each for each in metric.samples if "_created" not in each.name]
            yield metric


class _Process(Collector):
    """What the system knows of this process; that of the library knows it on Linux alone."""

    def __init__(self) -> None:
        self._began = time.time()

    def collect(self) -> Iterator[Metric]:
        """Give each metric."""
        for name, about, value in (
            ("process_start_time_seconds", "When the process began.", self._began),
            ("process_peak_memory_bytes", "The most memory ever resident.", _peak_memory()),
            ("process_resident_memory_bytes", "Memory that is resident.", _resident_memory()),
        ):
            yield GaugeMetricFamily(name, about, value)
        cpu = time.process_time()
        yield CounterMetricFamily("process_cpu_seconds", "Time on the processor.", cpu)


def _peak_memory() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak if sys.platform == "darwin" else peak * 1024)


def _resident_memory() -> float:
    """Return the resident bytes, or the peak if the system has no `/proc`."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - ten times faster than Path
            return float(int(file.read().split()[1]) * resource.getpagesize())
    except OSError:
        return _peak_memory()

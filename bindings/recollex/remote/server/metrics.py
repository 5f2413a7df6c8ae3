"""The metrics of a server: counters, gauges and histograms for Prometheus."""

import resource
import sys
import time
from collections.abc import Callable

from recollex.remote.server.instruments import (
    COUNTS,
    Counter,
    Gauge,
    Histogram,
    Instrument,
    ReadCounter,
)
from recollex_engine.trace import Trace

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The metrics of one server.

    `/metrics` and the method `server.metrics` answer with their text. Names begin with `recollex_`,
    times are in seconds. Threads: any; a call costs about a microsecond.

    >>> metrics = Metrics()
    >>> metrics.answered("recall", "ok", 0.002)
    >>> metrics.requests.value("recall", "ok")
    1
    """

    def __init__(self) -> None:
        self.requests: Counter = Counter(
            "recollex_requests_total",
            "Requests answered, by method and outcome: ok or an error's class.",
            ("method", "outcome"),
        )
        self.request_seconds: Histogram = Histogram(
            "recollex_request_seconds", "From a request's arrival to its answer.", ("method",)
        )
        self.queue_seconds: Histogram = Histogram(
            "recollex_queue_seconds", "How long a request waited for a thread."
        )
        self.recall_stage_seconds: Histogram = Histogram(
            "recollex_recall_stage_seconds",
            "Time of each stage of a recall; stages may overlap. total is the whole recall.",
            ("stage",),
        )
        self.arm_errors: Counter = Counter(
            "recollex_recall_arm_errors_total", "Arms of recalls that failed.", ("arm",)
        )
        self.batch_size: Histogram = Histogram(
            "recollex_write_batch_size", "Writes that shared one transaction.", bounds=COUNTS
        )
        self.fsync_seconds: Histogram = Histogram(
            "recollex_log_fsync_seconds", "How long writes waited for a flush of the log."
        )
        self.received_bytes: Counter = Counter(
            "recollex_received_bytes_total", "Bytes that came in.", ("transport",)
        )
        self.sent_bytes: Counter = Counter(
            "recollex_sent_bytes_total", "Bytes that went out.", ("transport",)
        )
        self._instruments: list[Instrument] = [
            self.requests,
            self.request_seconds,
            self.queue_seconds,
            self.recall_stage_seconds,
            self.arm_errors,
            self.batch_size,
            self.fsync_seconds,
            self.received_bytes,
            self.sent_bytes,
        ]
        began = time.time()
        self.gauge("process_start_time_seconds", "When the process began.", lambda: began)
        self._instruments.append(
            ReadCounter("process_cpu_seconds_total", "Time on the processor.", time.process_time)
        )
        self.gauge("process_peak_memory_bytes", "The most memory ever resident.", _peak_memory)
        self.gauge("process_resident_memory_bytes", "Memory that is resident.", _resident_memory)

    def answered(self, method: str, outcome: str, seconds: float) -> None:
        """Record an answered request; ``method`` is a name of the table, never other text."""
        self.requests.add(1, method, outcome)
        self.request_seconds.observe(seconds, method)

    def waited(self, seconds: float) -> None:
        """Record how long a request waited in a queue."""
        self.queue_seconds.observe(seconds)

    def recalled(self, trace: Trace) -> None:
        """Record the stages of a recall."""
        self.recall_stage_seconds.observe_all(trace.stages, 1e-6)
        self.recall_stage_seconds.observe(trace.total * 1e-6, "total")
        for arm in trace.errors:
            self.arm_errors.add(1, arm)

    def batched(self, writes: int) -> None:
        """Record how many writes one transaction held."""
        self.batch_size.observe(writes)

    def flushed(self, seconds: float) -> None:
        """Record how long one flush of a log took."""
        self.fsync_seconds.observe(seconds)

    def gauge(self, name: str, about: str, read: Callable[[], float]) -> None:
        """Add a number that ``read`` returns at each scrape."""
        self._instruments.append(Gauge(name, about, read))

    def text(self) -> str:
        """Return all metrics in Prometheus' text format."""
        lines = [line for instrument in self._instruments for line in instrument.lines()]
        return "\n".join(lines) + "\n"


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

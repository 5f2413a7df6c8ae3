"""The metrics of a server at one time, parsed from their text, and their growth since another."""

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from recollex_engine.errors import ProtocolError

Labels = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class MetricsSnapshot:
    """The numbers of one text of metrics, and its time on `time.monotonic`'s clock.

    >>> parse_metrics('calls_total{method="recall"} 3').value("calls_total", method="recall")
    3.0
    """

    values: Mapping[str, Mapping[Labels, float]]
    at: float = field(default_factory=time.monotonic)

    def value(self, name: str, **labels: str) -> float:
        """Return the sum of the series of that name that have at least these labels."""
        wanted = frozenset(labels.items())
        return sum(value for series, value in self.values.get(name, {}).items() if wanted <= series)

    def labels(self, name: str, label: str) -> list[str]:
        """Return the values that one label has in the series of a name, sorted."""
        found = {dict(series).get(label, "") for series in self.values.get(name, {})}
        return sorted(found - {""})

    def since(self, earlier: "MetricsSnapshot") -> "MetricsSnapshot":
        """Return how much each number grew; ``at`` is then the seconds between the snapshots."""
        grown = {
            name: {
                labels: max(0.0, value - earlier.values.get(name, {}).get(labels, 0.0))
                for labels, value in series.items()
            }
            for name, series in self.values.items()
        }
        return MetricsSnapshot(grown, self.at - earlier.at)

    def quantile(self, share: float, name: str, **labels: str) -> float | None:
        """Return the value that a ``share`` of a histogram's values do not exceed.

        Values are assumed to be spread evenly within a bucket. None if there are no values.
        """
        buckets = sorted(self._buckets(f"{name}_bucket", labels))
        total = buckets[-1][1] if buckets else 0.0
        if not total:
            return None
        below = 0.0
        least = 0.0
        for bound, count in buckets:
            if count >= share * total and count > below:
                if math.isinf(bound):
                    return least
                return least + (bound - least) * (share * total - below) / (count - below)
            below = count
            least = bound
        return least

    def _buckets(self, name: str, labels: Mapping[str, str]) -> Iterator[tuple[float, float]]:
        bounds: dict[float, float] = {}
        for series, value in self.values.get(name, {}).items():
            labels_of = dict(series)
            if all(labels_of.get(label) == wanted for label, wanted in labels.items()):
                bound = float(labels_of["le"])
                bounds[bound] = bounds.get(bound, 0.0) + value
        yield from bounds.items()


def parse_metrics(text: str) -> MetricsSnapshot:
    """Return the numbers of a text of metrics. Raises `ProtocolError` for any other text."""
    values: dict[str, dict[Labels, float]] = {}
    try:
        for metric in text_string_to_metric_families(text):
            for sample in metric.samples:
                labels = frozenset(sample.labels.items())
                values.setdefault(sample.name, {})[labels] = float(sample.value)
    except (ValueError, IndexError):
        message = f"what answers there is no recollex server: {text[:80]!r}"
        raise ProtocolError(message) from None
    return MetricsSnapshot(values)


# What a server does, in a few numbers: rates, medians and 99th percentiles of its metrics.
STAGES = "recollex_recall_stage_seconds"
"""The histogram of the stages of a recall."""


def summary(now: MetricsSnapshot, grown: MetricsSnapshot) -> dict[str, Any]:
    """Return the summary as JSON values; times in seconds. grown: the change since an earlier look.

    >>> from recollex.remote.server.metrics_snapshot import parse_metrics
    >>> now = parse_metrics("recollex_open_agents 2")
    >>> summary(now, now)["open_agents"]
    2.0
    """

    def timed(name: str, **labels: str) -> dict[str, float | None]:
        found = {f"p{share:g}": grown.quantile(share / 100, name, **labels) for share in (50, 99)}
        per_second = grown.value(f"{name}_count", **labels) / max(grown.at, 1e-9)
        return {"per_second": per_second, **found}

    methods = now.labels("recollex_requests_total", "method")
    return {
        "seconds": grown.at,
        "up": time.time() - now.value("process_start_time_seconds"),
        "memory_bytes": now.value("process_resident_memory_bytes"),
        "cpu": grown.value("process_cpu_seconds_total") / max(grown.at, 1e-9),
        "waiting": now.value("recollex_queue_depth"),
        "running": now.value("recollex_running_calls"),
        "connections": now.value("recollex_connections"),
        "http_connections": now.value("recollex_http_connections"),
        "open_agents": now.value("recollex_open_agents"),
        "reader_threads": now.value("recollex_reader_threads"),
        "reader_processes": now.value("recollex_reader_processes"),
        "calls": {name: timed("recollex_request_seconds", method=name) for name in methods},
        "stages": {
            name: timed(STAGES, stage=name) for name in now.labels(f"{STAGES}_count", "stage")
        },
        "log_fsync": timed("recollex_log_fsync_seconds"),
        "queue": timed("recollex_queue_seconds"),
    }

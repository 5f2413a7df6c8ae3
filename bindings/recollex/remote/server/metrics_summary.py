"""What a server does, in a few numbers: rates, medians and 99th percentiles of its metrics."""

import time
from typing import Any

from recollex.remote.server.metrics_snapshot import MetricsSnapshot

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

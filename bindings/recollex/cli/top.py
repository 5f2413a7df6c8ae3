"""The subcommand top, which shows what a running server does."""

import os
import sys
import time
from pathlib import Path

from recollex.api.plurals import counted
from recollex.cli.parser import Arguments
from recollex.cli.terminal import printable, show
from recollex.remote.client import sockets
from recollex.remote.client.http_channel import open_channel
from recollex.remote.client.sockets import LostError, read_address
from recollex.remote.server.metrics_snapshot import STAGES, MetricsSnapshot, parse_metrics, summary
from recollex_engine.errors import DisconnectedError, InputError, UnauthorizedError

_CLEAR = "\x1b[H\x1b[J"


def top(arguments: Arguments) -> int:
    """Show what a server does, again and again, until it is interrupted."""
    if not 0.1 <= arguments.every <= 3600:
        raise InputError(f"--every must lie in [0.1, 3600] seconds, got {arguments.every:g}")
    token = _token(arguments.token_file)
    before = parse_metrics(fetch(arguments.address, token))
    live = sys.stdout.isatty() and not arguments.once
    try:
        while True:
            time.sleep(arguments.every)
            now = parse_metrics(fetch(arguments.address, token))
            if arguments.json:
                show(arguments, "", **summary(now, now.since(before)))
            else:
                frame = "\n".join(frame_lines(arguments.address, now, now.since(before)))
                print(f"{_CLEAR if live else ''}{frame}")
            sys.stdout.flush()
            if arguments.once:
                return 0
            before = now
    except KeyboardInterrupt:
        return 0


def fetch(address: str, token: str | None) -> str:
    """Return the text of a server's metrics.

    Raises `InputError` for a wrong address, `DisconnectedError` if no server answers.
    """
    end = time.monotonic() + sockets.CONNECT_SECONDS
    try:
        channel = open_channel(read_address(address), token, None, end)
    except UnauthorizedError:
        raise UnauthorizedError(f"{address} asks for a token: --token-file") from None
    try:
        found: str = channel.exchange("metrics", [None, {}, {}], time.monotonic() + 5.0)
        return found
    except LostError as error:
        raise DisconnectedError(str(error)) from None
    finally:
        channel.close()


def frame_lines(address: str, now: MetricsSnapshot, grown: MetricsSnapshot) -> list[str]:
    """Return the lines to show; ``grown`` is the change since the last look."""
    seconds = max(grown.at, 1e-9)
    up = time.time() - now.value("process_start_time_seconds")
    busy = 100 * grown.value("process_cpu_seconds_total") / seconds
    memory = now.value("process_resident_memory_bytes") / 2**20
    calls = grown.value("recollex_requests_total")
    failed = calls - grown.value("recollex_requests_total", outcome="ok")
    lines = [
        f"{printable(address)}   up {_duration(up)}   cpu {busy:.0f} %   memory {memory:,.0f} MiB",
        f"{calls / seconds:,.0f} calls/s, {failed / seconds:,.1f} with an error   "
        f"{now.value('recollex_queue_depth'):,.0f} waiting, "
        f"{now.value('recollex_running_calls'):,.0f} running   "
        f"{counted(now.value('recollex_connections'), 'connection')}, "
        f"{now.value('recollex_http_connections'):,.0f} of HTTP   "
        f"{counted(now.value('recollex_open_agents'), 'agent')} open",
        "",
        f"{'calls':<24}{'per s':>10}{'p50':>12}{'p99':>12}{'errors/s':>12}",
    ]
    for method in now.labels("recollex_requests_total", "method"):
        count = grown.value("recollex_requests_total", method=method)
        wrong = count - grown.value("recollex_requests_total", method=method, outcome="ok")
        row = _row(method, grown, "recollex_request_seconds", method=method)
        lines.append(f"{row}{wrong / seconds:>12,.1f}")
    stages = now.labels(f"{STAGES}_count", "stage")
    if stages:
        lines += ["", f"{'stages of a recall':<24}{'per s':>10}{'p50':>12}{'p99':>12}"]
    for stage in sorted(stages, key=lambda stage: (stage == "total", stage)):
        lines.append(_row(stage, grown, STAGES, stage=stage))
    groups = grown.value("recollex_write_batch_size_count")
    each = grown.value("recollex_write_batch_size_sum") / groups if groups else 0.0
    durable = _row("log made durable", grown, "recollex_log_fsync_seconds")
    waited = _row("waited for a thread", grown, "recollex_queue_seconds")
    return [*lines, "", f"{durable}   {each:.1f} writes each", waited]


def _row(title: str, grown: MetricsSnapshot, name: str, **labels: str) -> str:
    """Return how often something happened a second, and its median and 99th percentile."""
    rate = grown.value(f"{name}_count", **labels) / max(grown.at, 1e-9)
    half, most = (_quantile(grown, share, name, **labels) for share in (0.5, 0.99))
    return f"{printable(title):<24}{rate:>10,.1f}{half:>12}{most:>12}"


def _quantile(grown: MetricsSnapshot, share: float, name: str, **labels: str) -> str:
    found = grown.quantile(share, name, **labels)
    if found is None:
        return "-"
    return f"{found * 1e6:,.0f} µs" if found < 0.001 else f"{found * 1e3:,.1f} ms"


def _duration(seconds: float) -> str:
    """Return a span of time in its two largest units.

    >>> _duration(3725), _duration(59)
    ('1 h 2 min', '59 s')
    """
    whole = int(max(0, seconds))
    parts = [
        (whole // 86_400, "d"),
        (whole // 3600 % 24, "h"),
        (whole // 60 % 60, "min"),
        (whole % 60, "s"),
    ]
    first = next((place for place, (count, _) in enumerate(parts) if count), 3)
    return " ".join(f"{count} {unit}" for count, unit in parts[first : first + 2] if count) or "0 s"


def _token(file: str | None) -> str | None:
    """Return the secret from a file or RECOLLEX_TOKEN; others could read a command line."""
    if file is None:
        return os.environ.get("RECOLLEX_TOKEN")
    return Path(file).read_text("utf-8").strip()

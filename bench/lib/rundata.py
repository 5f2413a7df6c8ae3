"""What every table needs: the machine it was measured on, percentiles, a process's memory."""

import os
import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

PACKAGES = ("numpy", "numba", "usearch", "onnxruntime", "tokenizers", "tiktoken")


def environment() -> dict[str, Any]:
    """Return the machine, the versions and the load at the start of a run."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].split(":", 1)[1].strip() if names else model
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": platform.platform(),
        "load": os.getloadavg()[0],
        "versions": {name: version(name) for name in PACKAGES},
    }


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """Return p50, p95 and p99."""
    return {f"p{p}": float(np.percentile(values, p)) for p in (50, 95, 99)} if len(values) else {}


def process_memory() -> dict[str, float]:
    """Return this process's megabytes: resident, resident and not of files, peak resident."""
    lines = Path("/proc/self/status").read_text().splitlines()
    pairs = [line.split(":", 1) for line in lines]
    wanted = ("VmRSS", "RssAnon", "VmHWM")
    return {name: int(value.split()[0]) / 1024 for name, value in pairs if name in wanted}

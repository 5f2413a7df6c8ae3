"""What every table needs: the machine, percentiles, a process's memory, and numbers as text."""

import os
import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from recollex_engine.text.token_counter import open_counter

CACHE = "RECOLLEX_BENCH"
"""The variable that names another folder for what runs share; else it is the engine's cache."""

PACKAGES = ("numpy", "numba", "usearch", "onnxruntime", "tokenizers", "tiktoken")


def cache_folder() -> Path:
    """Return the folder of the stores and vectors that runs share."""
    named = os.environ.get(CACHE) or os.environ.get("RECOLLEX_CACHE")
    return Path(named) if named else Path.home() / ".cache" / "recollex"


def environment() -> dict[str, Any]:
    """Return the machine, the versions, the load at the start of a run, and what counts tokens."""
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
        "token_counter": open_counter(len).name,
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


def number(cell: str | int | float) -> str:
    """Return a cell's text: three significant digits, with separators of thousands."""
    if not isinstance(cell, int | float) or isinstance(cell, bool):
        return str(cell)
    if isinstance(cell, int) or abs(cell) >= 100:
        return f"{cell:,.0f}"
    return f"{cell:.3g}"

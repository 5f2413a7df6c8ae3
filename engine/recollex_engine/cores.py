"""How many processors may this process use? It may be limited to fewer than the machine has."""

import os


def usable_cores() -> int:
    """Return the number of processors of this process; 1 if the system does not tell."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

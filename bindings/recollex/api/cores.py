"""How many processors may this process use? It may be held to fewer than the machine has."""

import os


def usable_cores() -> int:
    """Return how many there are, 1 where nobody tells."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

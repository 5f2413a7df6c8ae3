"""How many processors may this process use, and is one of them likely idle?

The process may be limited to fewer than the machine has.
"""

import os


def usable_cores() -> int:
    """Return the number of processors of this process; 1 if the system does not tell."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def is_one_idle() -> bool:
    """Return whether the machine's load of the last minute left one of several processors idle.

    False where the system does not tell the load. Cost: 1 us.
    """
    cores = usable_cores()
    try:
        return cores > 1 and os.getloadavg()[0] < cores - 0.5
    except (AttributeError, OSError):
        return False

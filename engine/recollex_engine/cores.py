"""How many processors may this process use, and is one of them likely idle?

The process may be limited to fewer than the machine has.
"""

import os

_LOAD = "/proc/loadavg"  # as in "0.20 0.18 0.12 1/80 11206": one of 80 threads runs


def usable_cores() -> int:
    """Return the number of processors of this process; 1 if the system does not tell."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def is_one_idle() -> bool:
    """Return whether one of several processors is likely idle now.

    On Linux fewer threads run, or wait for a processor, than this process has processors; this
    thread is one of them. Elsewhere the load of the last minute is well below their number, and
    where the system does not tell it, none is idle. Cost: 6 us.
    """
    cores = usable_cores()
    if cores == 1:
        return False
    try:
        return _running() < cores
    except (OSError, LookupError, ValueError):  # there is no such file, or it says less
        pass
    try:
        return os.getloadavg()[0] < cores - 0.5
    except (AttributeError, OSError):
        return False


def _running() -> int:
    """Return how many threads of the machine run or wait for a processor."""
    descriptor = os.open(_LOAD, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return int(os.read(descriptor, 128).split()[3].partition(b"/")[0])
    finally:
        os.close(descriptor)

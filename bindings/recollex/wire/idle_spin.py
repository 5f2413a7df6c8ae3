"""How long does one end of a connection spin for the other before it sleeps?

Sleeping and waking take longer than a small request. And the process that wakes the other end of a
socket often gets its core, so both take turns in the caches of one core while another core is idle.
So a client whose last answers were quick sleeps for a part of their usual time, and then polls for
its answer. A server polls for the next request of a client that is alone. Both yield their core
each time that they poll, and sleep after a while.
"""

import os

from recollex_engine.cores import usable_cores

ANSWER_SECONDS = 0.002
"""Seconds for which a client polls for an answer, at most."""
QUESTION_SECONDS = 0.0002
"""Seconds for which a server polls for the next request, at most."""


def is_useful() -> bool:
    """Return whether each end may have a core of its own: then spinning does not slow the other."""
    return hasattr(os, "sched_yield") and usable_cores() > 1


def yield_core() -> None:
    """Let other threads have the core, if one waits for it."""
    os.sched_yield()

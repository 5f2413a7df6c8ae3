"""How long does one end of a connection stay awake for the other?

To fall asleep and be woken takes longer than a small request, and whoever wakes the other end of a
socket is often given its core: then the two take turns in one core's caches while another core has
nothing to do. So a client that was answered quickly lately naps for a part of the time that it
took, and then looks for its answer again and again; and a server looks for the next question of a
client that is alone. Both give their core to whoever wants it each time they look, and after a
while they sleep.
"""

import os

from recollex.api.cores import usable_cores

ANSWER_SECONDS = 0.002
"""Seconds for which a client looks for an answer."""
QUESTION_SECONDS = 0.0002
"""Seconds for which a server looks for the next question."""


def is_useful() -> bool:
    """Return whether looking on takes nothing from the other end: there is a core for each."""
    return hasattr(os, "sched_yield") and usable_cores() > 1


def yield_core() -> None:
    """Let others have the core, if any of them wants it."""
    os.sched_yield()

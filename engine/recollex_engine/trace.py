"""Where did a recall's time go? Microseconds by stage, and what failed on the way."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Trace:
    """The stages of one recall.

    stages: name -> wall microseconds, in the order in which they ended. Stages that overlap (the
    query is embedded while keywords are searched) each count their own time, so their sum may
    exceed `total`. errors: name of an arm that failed -> what it said; the other arms answered.
    """

    stages: dict[str, float] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    total: float = 0.0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time the body as stage ``name``; a second body of that name adds to the first."""
        start = time.perf_counter_ns()
        try:
            yield
        finally:
            spent = (time.perf_counter_ns() - start) / 1000
            self.stages[name] = self.stages.get(name, 0.0) + spent

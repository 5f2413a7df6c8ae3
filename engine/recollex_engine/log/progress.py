"""Progress callbacks for slow opens.

After a checkpoint, opening an agent reads only the end of its log. After an update of recollex that
changes the columns, or when they were lost, it reads the whole log: a minute for a million
memories.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TypeAlias

LONG = 20_000
"""Progress is shown from this many operations on, which take about a second to read."""

StartProgress: TypeAlias = Callable[[int], AbstractContextManager[Callable[[int], None] | None]]
"""Called with the number of operations to read. Returns a context manager whose value is the
progress callback: it is called with the number of operations read since its last call."""


def progress_for(
    start_progress: StartProgress | None, left: int
) -> AbstractContextManager[Callable[[int], None] | None]:
    """Return a context manager with the callback for ``left`` operations; None below `LONG`."""
    return nullcontext() if start_progress is None or left < LONG else start_progress(left)

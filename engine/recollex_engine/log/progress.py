"""Who sees how far an opening is that reads much of the log? Whoever asked to when a store opened.

After a checkpoint an opening reads little. After an update that changes the columns, or once they
were lost, it reads all of the log: a minute for a million memories.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TypeAlias

LONG = 20_000
"""Operations that take about a second to read."""

StartProgress: TypeAlias = Callable[[int], AbstractContextManager[Callable[[int], None] | None]]
"""Given how many operations are to be read, makes what is told how many more of them are."""


def progress_for(
    start_progress: StartProgress | None, left: int
) -> AbstractContextManager[Callable[[int], None] | None]:
    """Return what is told of the reading of ``left`` operations; nobody where they are few."""
    return nullcontext() if start_progress is None or left < LONG else start_progress(left)

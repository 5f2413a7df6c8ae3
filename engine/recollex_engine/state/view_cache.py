"""Which views need not be made again? The newest one, and a few of the past."""

import threading
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from recollex_engine.state.columns import Columns
from recollex_engine.state.timeline import Timeline
from recollex_engine.state.view import Indexes, View

RowsOfFile: TypeAlias = Callable[[int, int], npt.NDArray[np.uint16]]

PAST_VIEWS = 4
"""The most views of the past that are cached while nothing is written; 10 bytes a memory each."""


class ViewCache:
    """Makes the views of a replica's columns, and keeps the newest and up to `PAST_VIEWS` others.

    Threads: any number may call.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._lock = threading.Lock()
        self._newest: View | None = None
        self._past: dict[int, View] = {}
        self._timeline = Timeline.of(columns.array("said_at")[:0])

    def view(self, op: int, indexes: Indexes, vectors: RowsOfFile, *, is_newest: bool) -> View:
        """Return the view of operation ``op``; ``is_newest``: the last that is published.

        ``vectors(first, end)`` returns the vectors of rows, see `Replica.rows_of_file`.
        """
        view = self._newest
        if view is not None and view.op == op and view.indexes is indexes:
            return view
        with self._lock:
            held = self._past.get(op)
            if held is not None and held.indexes is indexes:
                if is_newest:
                    self._newest = held  # the former one is a view of the past
                return held
            array = self._columns.array
            rows = int(array("op_rows")[op - 1]) if op else 0
            memories = int(array("op_memories")[op - 1]) if op else 0
            if memories > len(self._timeline.order):
                self._timeline = self._timeline.extended(array("said_at")[:memories])
            held_rows = vectors(0, rows) if rows else np.empty((0, 0), np.uint16)
            view = View(self._columns, op, indexes, held_rows, self._timeline)
            if is_newest:
                self._newest = view
            else:
                self._past.pop(op, None)
                self._past[op] = view
                if len(self._past) > PAST_VIEWS:
                    del self._past[next(iter(self._past))]
            return view

    def forget_past(self) -> None:
        """Drop the views of the past, which would keep old copies of columns alive."""
        self._past = {}

    def forget(self) -> None:
        """Drop all views; those that are still used keep the arrays that they need."""
        self._newest = None
        self._past = {}

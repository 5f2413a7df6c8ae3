"""When are checkpoints and graphs made? In the background, and when an agent is closed."""

import contextlib
import os
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import Future, wait

from recollex_engine.errors import ClosedError, StoreFullError, StoreMovedError
from recollex_engine.state.hnsw import processors
from recollex_engine.storage.disk import store_full
from recollex_engine.writing import checkpoint
from recollex_engine.writing import checkpoint as graphs
from recollex_engine.writing.contexts import StoreContext
from recollex_engine.writing.writer import StalePlan, Unsettled, Writer, finish_comparing, make_sure

BACK_PRESSURE = 4
"""A writer waits for the running checkpoint when the tail is this many times `TAIL_ROWS`."""
GRAPH_NICENESS = 15
"""Niceness of the thread that builds graphs, of 19."""
CLOSING_TAIL = 256
"""With this many rows in the tail, closing makes a checkpoint, so that opening replays none."""


class Maintenance:
    """The checkpoints and graphs of one writer.

    Threads: any number may call; one checkpoint and one extension of graphs run at a time.
    """

    def __init__(self, name: str, writer: Writer, shared: StoreContext) -> None:
        self._name = name
        self._writer = writer
        writer.replica.integrity.start()
        self._shared = shared
        self._changing = threading.RLock()
        self._indexing = threading.Lock()
        self._building = threading.Lock()
        self._pending: Future[None] | None = None
        self._extending: Future[None] | None = None
        self._stopping = threading.Event()
        self._pausing = threading.Event()
        self._callers_waiting = 0
        self._closed = False

    @property
    def is_working(self) -> bool:
        """Whether a checkpoint or graph is being made in the background."""
        jobs = self._pending, self._extending
        return any(job is not None and not job.done() for job in jobs)

    def after_write(self) -> None:
        """Start a checkpoint when the tail is long; wait for it when the tail is far too long.

        A checkpoint that fails loses nothing, because the log holds the tail. So a failure is a
        warning, and the next retain tries again.
        """
        tail = self._tail()
        if tail < checkpoint.TAIL_ROWS:
            return
        with self._changing:
            if self._stopping.is_set():
                return
            if self._pending is not None and self._pending.done():
                self._finished(self._pending)
                self._pending = None
            if self._pending is None:
                self._pending = self._shared.background.submit(self._fold_and_start_graphs)
            pending = self._pending
        if tail >= BACK_PRESSURE * checkpoint.TAIL_ROWS:
            wait([pending])

    def checkpoint(self) -> None:
        """Make a checkpoint and every graph that is due, on all processors, and wait for them.

        Raises `StoreFullError`; then the state is as before.
        """
        self._fold()
        with self._changing:
            self._callers_waiting += 1
        try:
            self._extend_graphs()
        finally:
            with self._changing:
                self._callers_waiting -= 1

    def fold_again(self) -> None:
        """Make the checkpoint that an erasure has removed; a failure is a warning only."""
        try:
            self._fold_and_start_graphs()
        except (StoreFullError, StoreMovedError) as error:
            self._warn(error)

    def close(self, *, fold: bool = True) -> None:
        """Finish the running checkpoint, stop building graphs, close the writer.

        ``fold`` False makes no checkpoint: the agent is deleted.
        What was not compared with its checksum yet is compared, and built again where it differs.
        A writer that must be opened again makes no checkpoint: its columns may hold half a write.
        """
        with self._changing:
            self._stopping.set()
            jobs = [job for job in (self._pending, self._extending) if job is not None]
        for job in jobs:
            self._finished(job)
        try:
            if fold and not self._writer.must_reopen:
                make_sure(self._writer, vectors=False)
                if self._tail() >= CLOSING_TAIL or self._writer.replica.damaged:
                    self._fold()
        except (StoreFullError, StoreMovedError) as error:
            self._warn(error)
        except StalePlan:
            pass
        finally:
            with self._indexing:
                self._closed = True
                finish_comparing(self._writer.replica)
                self._writer.close()

    def _check_open(self) -> None:
        """Raise `Unsettled` if another writer has taken this one's place, or `ClosedError`.

        Raises `StoreMovedError` if the paths lead to other files: nothing is written there.
        """
        if self._closed:
            if self._writer.must_reopen:
                raise Unsettled
            raise ClosedError(f"agent {self._name!r} was closed: open the store again")
        self._writer.check_place()

    def _tail(self) -> int:
        """Return how many passages have no index, plus the facts and events in no column file."""
        replica = self._writer.replica
        columns = replica.columns
        segments = replica.indexes.segments
        indexed = segments[-1].postings.end_memory if segments else 0
        rows = columns.rows - int(columns.array("first_row")[indexed])
        said = [columns.column[name] for name in ("fact_id", "event_id")]
        return rows + sum(column.count - column.stored for column in said)

    def _fold(self) -> None:
        writer = self._writer
        with self._indexing:
            self._check_open()
            make_sure(writer)
            try:
                checkpoint.run(writer, writer.replica.generation + 1)
            except StoreFullError:
                raise
            except OSError as error:
                raise store_full(error, writer.replica.folder, "make a checkpoint") from error

    def _fold_and_start_graphs(self) -> None:
        """Make a checkpoint, and extend graphs in the background if any is due."""
        self._fold()
        with self._changing:
            idle = self._extending is None or self._extending.done()
            replica = self._writer.replica
            wanted = graphs.due(replica) or graphs.unmeasured(replica)
            if idle and wanted and not self._stopping.is_set():
                self._extending = self._shared.building.submit(self._extend_in_background)

    def _extend_in_background(self) -> None:
        """Extend graphs on a thread of low priority: inserting takes all of a core for seconds."""
        with contextlib.suppress(AttributeError, OSError):  # where threads have no priorities
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), GRAPH_NICENESS)
        self._extend_graphs()

    def _extend_graphs(self) -> None:
        with self._building:
            self._writer.check_place()
            graphs.extend(self._writer.replica, self._installing, self._threads)

    @contextlib.contextmanager
    def _installing(self) -> Iterator[None]:
        """Let no checkpoint be made in the body, which replaces files by name."""
        with self._indexing:
            self._writer.check_place()
            yield

    def _threads(self) -> int:
        """Return how many threads may build a graph now: one processor is kept for other work."""
        if self._stopping.is_set() or self._pausing.is_set():
            return 0
        return processors() if self._callers_waiting else max(1, processors() - 1)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Run no checkpoint and extend no graph during the body; wait until none is running.

        A graph that is being extended is begun again later.
        """
        self._pausing.set()
        try:
            with self._building, self._indexing:
                self._check_open()
                yield
        finally:
            self._pausing.clear()

    def _finished(self, job: Future[None]) -> None:
        """Wait for a job, and warn if it failed."""
        error = job.exception()
        if error is not None and not isinstance(error, StalePlan):
            self._warn(error)

    def _warn(self, error: BaseException) -> None:
        warnings.warn(
            f"agent {self._name!r}: a checkpoint failed ({error}); nothing is lost, recalls and "
            "opening are slower until one succeeds",
            RuntimeWarning,
            stacklevel=4,
        )

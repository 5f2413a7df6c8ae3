"""A replica: the state of an agent in this process, its columns and indexes.

A replica starts from the last checkpoint (or from nothing) and applies the log after it. The
writer applies its own transactions to its replica; a reader's replica follows the commit word. Both
go through `apply`, so both give the same answers.

Pausing Python's cyclic garbage collector while a batch is recorded or read.
A batch makes tens of containers a memory. None of them is part of a cycle, and all are freed once
the batch is in the columns. The collector would scan them again and again, and sometimes the whole
process: measured, a tenth to a quarter of the time of a batch of 1,000.
"""

import gc
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from recollex_engine import fork
from recollex_engine.domain.schema import ERASE
from recollex_engine.domain.settings import REEMBED, Settings, settings_of
from recollex_engine.errors import CorruptError
from recollex_engine.log.format import START, Position
from recollex_engine.log.reader import (
    LogFollower,
    LogOperation,
    LogTransaction,
    last_of_kind,
    last_of_kinds,
)
from recollex_engine.state.applying import apply
from recollex_engine.state.columns import Columns, StoredCounts
from recollex_engine.state.hnsw import CodedRows, Hnsw
from recollex_engine.state.integrity import (
    Integrity,
    SideThread,
    of_indexes,
    part_of_vectors,
    parts_of_columns,
    parts_of_indexes,
    sum_of_last,
)
from recollex_engine.state.manifest import GraphEntry, Manifest, SegmentEntry
from recollex_engine.state.postings import Postings
from recollex_engine.state.structure import structure_checks
from recollex_engine.state.vector_batches import VectorBatches, torn_position
from recollex_engine.state.view import Indexes, Segment, Timeline, View
from recollex_engine.storage.disk import read_ahead
from recollex_engine.storage.vectors_file import VectorsReader
from recollex_kernels.vectors.codes import eight_bits


class _Pauses:
    """The bodies that run now, and whether the collector runs again after the last one."""

    def __init__(self) -> None:
        self.lock = fork.lock()
        self.bodies: set[object] = set()
        self.disabled = False  # by us; it stays True if a KeyboardInterrupt stops `end`
        fork.register(self)

    def end(self) -> None:
        if not self.bodies and self.disabled:
            gc.enable()
            self.disabled = False

    def after_fork(self) -> None:
        """End the bodies: a child has no other threads, and does not return into this one's."""
        self.bodies.clear()
        self.end()


_pauses = _Pauses()


@contextmanager
def gc_paused(when: bool) -> Iterator[None]:
    """Pause the collector during the body, if ``when``; the body should take milliseconds.

    Bodies may overlap, in any threads. The last one to end starts the collector again, if it was
    running before the first.
    """
    if not when:
        yield
        return
    body = object()
    try:
        with _pauses.lock:
            if gc.isenabled():
                _pauses.disabled = True
                gc.disable()
            _pauses.bodies.add(body)
        yield
    finally:
        _pauses.bodies.discard(body)
        with _pauses.lock:
            _pauses.end()


# Which views need not be made again? The newest one, and a few of the past.
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


LOG = "log"
INTENT = "ERASE"
"""The file that is there while memories are erased; see `writing.erasure`."""

GROUP = 4096
"""Operations that are applied together while the log is read."""

UNREADABLE = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)
"""What applying raises where the payload of an operation is not that of its kind."""

_AHEAD = 1 << 18  # bytes of a file to read ahead


def read_files_ahead(folder: Path) -> None:
    """Ask the system to read ahead the files that opening a small agent needs after its log."""
    for name in ("vectors.f16", "COMMIT"):
        read_ahead(folder / name, _AHEAD)


class Reembedded(Exception):  # noqa: N818 - not an error: the caller starts over
    """The agent was moved to another model since this replica was opened."""


class Erased(Exception):  # noqa: N818 - not an error: the caller starts over
    """Memories were erased since this replica was opened: its log has been rewritten."""


class Replica:
    """The state of one agent's folder in this process.

    Its vectors are those of the last `reembed` in the log. If no checkpoint was made since that
    `reembed`, the columns are rebuilt from the beginning of the log.

    Threads: one thread at a time may `apply` or `install`; any thread may call `view`.
    """

    def __init__(self, folder: Path, *, whole: bool = False) -> None:
        """Open ``folder``; ``whole``: compare every file with its checksum before it is used."""
        self.folder = folder
        self._whole = whole
        self.published: int = 0
        self.damaged: bool = False  # whether the last checkpoint could not be used in full
        self._load()

    def _load(self) -> None:
        try:
            manifest = Manifest.read(self.folder)
        except CorruptError as error:
            self._warn(f"the manifest is damaged ({error})")
            manifest = None
        if manifest is not None and not manifest.has_all_columns:
            self.damaged = True  # without some columns; closing makes a new checkpoint
            manifest = None
        while manifest is not None:
            last = self._last(manifest.position)
            if last[REEMBED]:
                self.damaged = True  # columns of older vectors; closing makes a new checkpoint
                manifest = None
                break
            try:
                self._start_from(manifest, last)
                break
            except CorruptError as error:
                later = Manifest.read(self.folder)
                if later == manifest:  # else a checkpoint replaced the files meanwhile
                    self._warn(f"columns are missing or damaged ({error})")
                    later = None
                manifest = later
        if manifest is None:
            self._start_from(None, self._last(START))

    def _warn(self, what: str) -> None:
        self.damaged = True
        warnings.warn(
            f"{self.folder}: {what}; rebuilding from the log", RuntimeWarning, stacklevel=2
        )

    def _last(self, after: Position) -> dict[str, LogOperation | None]:
        return last_of_kinds(self.folder / LOG, (REEMBED, ERASE), after)

    def was_superseded(self) -> bool:
        """Return whether the log holds a later move to another model, or a later erasure."""
        erased = last_of_kind(self.folder / LOG, ERASE)  # the position may be of the log before it
        if erased is not None and erased.op > self._erased:
            return True
        found = last_of_kind(self.folder / LOG, REEMBED, self.position)
        return found is not None and found.op > self._known

    def _start_from(self, manifest: Manifest | None, last: dict[str, LogOperation | None]) -> None:
        """Open the files of ``manifest``; ``last``: the last operations of a kind after it."""
        stored = (
            StoredCounts(
                manifest.settings, manifest.columns, manifest.dictionaries, manifest.generation
            )
            if manifest
            else None
        )
        self.position: Position = manifest.position if manifest else START
        self.integrity: Integrity = Integrity(whole=self._whole)
        moved = last[REEMBED]
        erased = last[ERASE]
        summing = sum_of_last(manifest, self.folder) if manifest else None
        self._settings = settings_of(moved.kind, moved.payload) if moved else None
        self._known = moved.op if moved else 0
        self._erased = erased.op if erased else self.position.op
        self.vectors: VectorsReader | None = None
        self.manifest = manifest
        self.columns: Columns = self._open_columns(stored)
        self.generation: int = manifest.generation if manifest else 0
        self.indexes: Indexes = self._open_indexes(manifest, summing)
        if manifest is not None:
            self.integrity.compare(part_of_vectors(self.rows_of_file, manifest, self.folder))
        if self._looking is not None:
            self._looking.wait()
        self._views = ViewCache(self.columns)
        self.published = self.position.op
        self._opened = self.position, self.columns.rows

    @property
    def entries(self) -> tuple[SegmentEntry, ...]:
        """The files of the segments in `indexes`."""
        return self.manifest.segments if self.manifest else ()

    @property
    def graphs(self) -> tuple[GraphEntry, ...]:
        """The files of the graphs in `indexes`."""
        return self.manifest.graphs if self.manifest else ()

    @property
    def settings(self) -> Settings | None:
        """The current settings; the columns have them once the last `reembed` is applied."""
        moved = self._settings
        applied = self.columns.settings
        if moved is not None and (applied is None or applied.embedding < moved.embedding):
            return moved
        return applied

    @property
    def vectors_path(self) -> Path:
        """The current file of vectors; only for an agent that was created."""
        assert self.settings is not None
        return self.folder / self.settings.vectors_file

    def _open_columns(self, stored: StoredCounts | None) -> Columns:
        self._looking: SideThread[None] | None = None
        home = self.folder / (stored.settings.columns_folder if stored else "columns")
        try:
            columns = Columns(home, stored, None if stored is None else self._check_columns)
        except (IndexError, ValueError, OverflowError, MemoryError) as error:
            found = f"items that contradict each other ({error})"
            raise CorruptError(home, "whole columns", found) from error
        if columns.op != self.position.op:
            raise CorruptError(home, f"operation {self.position.op}", f"{columns.op}")
        return columns

    def _check_columns(self, columns: Columns) -> None:
        """Raise `CorruptError` for a difference from the checksums; see `state.integrity`."""
        assert self.manifest is not None
        parts, are_all = parts_of_columns(columns, self.manifest, self.folder)
        if not (self.integrity.compare(parts) and are_all):
            home = self.folder / self.manifest.settings.columns_folder
            self._looking = SideThread(*structure_checks(columns.array, columns.dictionary, home))

    def _open_indexes(
        self, manifest: Manifest | None, summing: SideThread[int | None] | None
    ) -> Indexes:
        """Map the indexes; if one is damaged, all rows are tail, and recalls are slower."""
        folder = self.folder
        dimension = self.columns.dimension
        try:
            indexes = Indexes(
                tuple(
                    Segment(entry.number, Postings.read(folder / entry.postings))
                    for entry in self.entries
                ),
                tuple(
                    Hnsw.open(
                        folder / each.path, dimension, each.first_row, each.end_row, each.width
                    )
                    for each in self.graphs
                ),
            )
            if manifest is not None:
                last, rest = parts_of_indexes(indexes, manifest, folder)
                self.integrity.compare(last, now=True, found=summing.wait()[0] if summing else None)
                if not self.integrity.compare(rest):
                    for segment, entry in zip(indexes.segments, self.entries, strict=True):
                        segment.postings.check_lists(folder / entry.postings)
            return indexes
        except CorruptError as error:
            if Manifest.read(self.folder) != manifest:
                raise
            self.damaged = True
            if self.manifest is not None:
                self.manifest = replace(self.manifest, segments=(), graphs=())
            warnings.warn(
                f"{self.folder}: an index is missing or damaged ({error}); the next checkpoint "
                "builds them again",
                RuntimeWarning,
                stacklevel=2,
            )
            return Indexes()

    def follow(
        self,
        follower: LogFollower,
        until_op: int | None,
        *,
        check_vectors: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        """Apply and publish what ``follower`` finds in the log up to operation ``until_op``.

        ``check_vectors`` also compares the checksums of vectors: after a crash of the machine, the
        log may have reached the disk before the vectors that it refers to. ``progress(n)`` is
        called when n more operations are applied. Raises `CorruptError`, `Reembedded` if the agent
        was moved to other vectors, or `Erased` if memories were erased. After an error the replica
        may hold a part of the operations, and must not be used further.
        """
        batches = VectorBatches(self.columns.rows)
        groups = _groups(follower.read_new(until_op))
        while True:
            before = self.columns.op
            with gc_paused(True):
                if (transactions := next(groups, None)) is None:
                    break
                try:
                    for transaction in transactions:
                        for operation in transaction.operations:
                            if operation.kind == REEMBED and operation.op > self._known:
                                raise Reembedded
                            if operation.kind == ERASE and operation.op > self._erased:
                                raise Erased
                            batches.add(operation)
                    self.apply(transactions)
                except UNREADABLE as error:
                    ops = f"{transactions[0].first_op} to {transactions[-1].position.op}"
                    what = f"payloads of operations {ops} that fit their kinds"
                    raise CorruptError(self.folder / LOG, what, repr(error)) from error
                for transaction in transactions:  # so that the collector does not scan them
                    transaction.operations.clear()
            if progress is not None:
                progress(self.columns.op - before)
        if check_vectors and batches.in_force:
            self.rows_of_file(0, batches.rows)
            assert self.vectors is not None
            for batch, found in batches.damaged(self.vectors):
                rows = f"rows {batch.first} to {batch.end - 1}"
                raise CorruptError(self.vectors.path, f"checksum {batch.sha256} of {rows}", found)
        self.published = self.columns.op

    def torn_position(self, flushed: int | None) -> Position | None:
        """Return the position before the first transaction without vectors; None if it is damage.

        For a replica that raised `CorruptError` for its vectors; see `vector_batches`.
        """
        assert self.settings is not None
        position, rows = self._opened
        vectors = VectorsReader(self.vectors_path, self.settings.dimension)
        follower = LogFollower(self.folder / LOG, position)
        try:
            return torn_position(follower, rows, vectors, flushed)
        finally:
            follower.close()

    def apply(
        self,
        transactions: Sequence[LogTransaction],
        vectors: npt.NDArray[np.uint16] | None = None,
    ) -> None:
        """Append the operations of ``transactions`` to the columns.

        ``vectors`` uint16[n, dimension]: the vectors of their new rows as float16 bit patterns;
        None if they are in the file. Views do not change until `published` does.
        """
        operations = [operation for each in transactions for operation in each.operations]
        known = self.columns.rows

        def rows(first: int, end: int) -> "npt.NDArray[np.uint16]":  # a str costs nothing a call
            return self.rows_of_file(first, end) if vectors is None or first < known else vectors

        apply(self.columns, operations, rows, check=vectors is None)
        self.position = transactions[-1].position
        self._views.forget_past()

    def rows_of_file(self, first: int, end: int) -> npt.NDArray[np.uint16]:
        """Return the vectors of rows [first, end) from the file: uint16[n, dimension].

        Raises `CorruptError` if the file is shorter than the log says.
        """
        if self.vectors is None:
            assert self.settings is not None
            self.vectors = VectorsReader(self.vectors_path, self.settings.dimension)
        return self.vectors.rows(end)[first:].view(np.uint16)

    def rows_followed_by(self, vectors: npt.NDArray[np.uint16]) -> npt.NDArray[np.uint16]:
        """Return the vectors of all rows and then ``vectors``, which the file holds after them."""
        self.rows_of_file(0, 0)  # the file is open from here on
        assert self.vectors is not None
        return self.vectors.followed_by(self.columns.rows, vectors.view("<f2")).view(np.uint16)

    @property
    def coded(self) -> CodedRows:
        """The codes, steps and memories of the applied rows, as `Hnsw.search` takes them."""
        array = self.columns.array
        rows = self.columns.rows
        codes = array("code4").reshape(rows, self.columns.dimension // 2)
        return codes, array("code_step"), array("memory_of_row")

    def codes(self, first: int, end: int) -> npt.NDArray[np.int8]:
        """Return the vectors of applied rows [first, end) in eight bits: int8[n, dimension]."""
        codes = np.empty((end - first, self.columns.dimension), np.int8)
        eight_bits(self.rows_of_file(first, end), codes)
        return codes

    def view(self, op: int | None = None) -> View:
        """Return the view of now, or of operation ``op``. Cost: O(1) while nothing is new."""
        at = self.published if op is None else op
        return self._views.view(at, self.indexes, self.rows_of_file, is_newest=op is None)

    def is_current(self) -> bool:
        """Return whether the manifest is still the one that this replica started from."""
        return self.manifest is not None and Manifest.read(self.folder) == self.manifest

    def install(self, graphs: tuple[Hnsw, ...], entries: tuple[GraphEntry, ...]) -> None:
        """Use ``graphs`` from now on, and name their files in the manifest.

        Earlier views keep their graphs.
        """
        assert self.manifest is not None
        indexes = Indexes(self.indexes.segments, graphs)
        manifest = replace(self.manifest, graphs=entries)
        checksums = manifest.checksums | of_indexes(indexes, manifest, self.manifest)
        manifest = replace(manifest, checksums=checksums)
        manifest.write(self.folder)
        self.manifest = manifest
        self.indexes = indexes

    def close(self) -> None:
        """Release the maps; views that are still used keep the arrays that they need."""
        self._views.forget()
        self.vectors = None


def _groups(transactions: Iterable[LogTransaction]) -> Iterator[list[LogTransaction]]:
    """Yield the transactions in lists of about `GROUP` operations, which bounds memory."""
    group: list[LogTransaction] = []
    count = 0
    for transaction in transactions:
        group.append(transaction)
        count += len(transaction.operations)
        if count >= GROUP:
            yield group
            group = []
            count = 0
    if group:
        yield group

"""Are the derived files as the last checkpoint left them? Their checksums, compared on opening.

MANIFEST holds a CRC-32 of each column, dictionary, segment and graph, and of the vectors. Small
groups of files are compared before anything is read from them. Of an agent with more than `EAGER`
bytes that would take longer than opening and asking it, so a thread compares the large ones beside
the first recalls, and what kernels index by is looked through before (see `state.structure`). The
last segment, which is always compared first, is read by a thread while the columns are opened.
"""

import _thread
import contextlib
import mmap
import os
import threading
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.schema import CLOSED
from recollex_engine.errors import CorruptError, FormatError
from recollex_engine.state.columns import Columns, ReadRows
from recollex_engine.state.manifest import GraphEntry, Manifest, SegmentEntry
from recollex_engine.state.view import Indexes
from recollex_engine.storage.column import crc32
from recollex_engine.storage.encryption import cipher_at

EAGER = 2 << 20
"""Bytes of a group of files (columns, indexes, vectors) that are compared before they are read: 0.6
ms. An agent of 2,500 memories has as many bytes of columns."""
PAUSE = 0.05
"""Seconds before the thread begins: the first recalls touch pages for the first time meanwhile."""
NICENESS = 10
"""Niceness of the thread that compares, of 19."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Part:
    """The items of one file that a checksum covers.

    op: of a column whose items are set to an operation later; items above it count as 0, because
    later operations may have reached the file, but not the manifest.
    """

    folder: Path
    name: str
    """The path of the file below ``folder``: joined only for an error, since that costs 10 us."""
    items: npt.NDArray[Any]
    crc: int
    op: int | None = None
    is_truth: bool = False
    """Whether the log cannot restore the file: vectors."""

    def damage(self, found: int | None = None) -> CorruptError | None:
        """Return the difference from the checksum, None if there is none.

        found: the CRC-32 of the items, if it was computed already.
        """
        found = crc32(known_at(self.items, self.op)) if found is None else found
        if found == self.crc:
            return None
        return CorruptError(self.folder / self.name, f"checksum {self.crc:08x}", f"{found:08x}")


class SideThread(Generic[T]):
    """Works that a thread of its own does beside the rest of an opening.

    `wait` does the works that were not begun, so an opening never waits for a thread that did not
    run yet, and helps with several.
    """

    def __init__(self, *works: Callable[[], T]) -> None:
        self._left = list(works)
        self._found: list[T] = []
        self._error: Exception | None = None
        self._doing = threading.Lock()  # held by the thread while it is at work
        with contextlib.suppress(RuntimeError):  # no further thread can be started
            _thread.start_new_thread(self._run, ())  # Thread.start waits until the thread runs

    def _run(self) -> None:
        with self._doing:
            self._work()

    def _work(self) -> None:
        while self._left:
            try:
                work = self._left.pop(0)
            except IndexError:  # the other thread took the last one
                return
            try:
                self._found.append(work())
            except Exception as error:
                self._error = self._error or error

    def wait(self) -> list[T]:
        """Return what the works returned, in any order, once all are done; raises what one did."""
        self._work()
        with self._doing:
            if self._error is not None:
                raise self._error
            return self._found


def sum_beside(path: Path, size: int) -> SideThread[int | None] | None:
    """Begin to compute the CRC-32 of a file of about ``size`` bytes; None if that is up to `EAGER`.

    None also for an encrypted file: the checksum is of the plain bytes. The work returns None if
    the file cannot be read. Cost: 0.3 ms a megabyte, on its thread.
    """
    if size <= EAGER or cipher_at(path) is not None:
        return None
    return SideThread(partial(_sum, path))


def _sum(path: Path) -> int | None:
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
            return zlib.crc32(whole)
    except (OSError, ValueError):  # what opens the file says so
        return None


def known_at(items: npt.NDArray[Any], op: int | None) -> npt.NDArray[Any]:
    """Return ``items`` with those above ``op`` as 0; as they are if ``op`` is None.

    Another thread may close memories meanwhile, so the items are copied before they are compared.
    """
    if op is None:
        return items
    held = np.array(items)
    held[held > op] = 0
    return held


def warn_of_answers(damage: CorruptError) -> None:
    """Warn that answers were given before ``damage`` was found."""
    warnings.warn(
        f"{damage}; answers given since it was opened may be wrong", RuntimeWarning, stacklevel=3
    )


class Integrity:
    """The comparison of an agent's files with their checksums.

    `damage`: the first difference found in a file that the log restores. `lost`: the first in the
    vectors. While both are None and `is_done` is False, answers may come from damaged files, whose
    structure is sound.

    Threads: any number may call.
    """

    def __init__(self, *, whole: bool = False) -> None:
        self._whole = whole
        self._left: list[Part] = []
        self._taking = threading.Lock()
        self._thread: threading.Thread | None = None
        self._begun = 0
        self._noted = False  # whether `note_lost` has warned
        self._needed = threading.Event()
        # Whether the thread found a difference, and nothing dealt with it yet.
        self.found: bool = False
        self.damage: CorruptError | None = None
        self.lost: CorruptError | None = None

    def compare(
        self, parts: Sequence[Part], *, now: bool = False, found: int | None = None
    ) -> bool:
        """Compare ``parts`` if they are small together, or wanted ``now``, else after `start`.

        found: the CRC-32 of the only part, if it is known. Returns whether they were compared.
        Raises `CorruptError` for the first that differs; of the vectors, `lost` is set instead.
        """
        if not (now or self._whole) and sum(part.items.nbytes for part in parts) > EAGER:
            self._left.extend(parts)
            return False
        for part in parts:
            damage = part.damage(found)
            if damage is not None and not part.is_truth:
                raise damage
            self.lost = self.lost or damage
        return True

    def note_lost(self, is_current: Callable[[], bool]) -> None:
        """Warn, once, if vectors differ from their checksum.

        ``is_current()``: whether the manifest with the checksum is still in force; an erasure sets
        vectors to zeros.
        """
        if self.lost is None or self._noted:
            return
        self._noted = True
        if is_current():
            warnings.warn(
                f"{self.lost}; similarities to some passages are wrong: `recollex verify` names "
                "them; put the file back from a copy, or open the agent for writing with its "
                "model, which embeds their texts again",
                RuntimeWarning,
                stacklevel=3,
            )

    @property
    def is_done(self) -> bool:
        """Whether everything was compared."""
        return not self._left and not self._begun

    def start(self) -> None:
        """Compare what is left in the background."""
        if self._left and self._thread is None:
            self._thread = threading.Thread(target=self._run, name="compare checksums", daemon=True)
            self._thread.start()

    def finish(self, *, vectors: bool = True) -> None:
        """Compare what is left, in this thread too, and return when all is compared.

        ``vectors`` False leaves out the vectors, which `verify` compares with the log.
        """
        if self.is_done:
            return
        if not vectors:
            with self._taking:
                self._left = [part for part in self._left if not part.is_truth]
        self._needed.set()
        while self._compare_next():
            pass
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        self._needed.wait(PAUSE)
        with contextlib.suppress(AttributeError, OSError):  # where threads have no priorities
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
        while self._compare_next():
            pass

    def _compare_next(self) -> bool:
        with self._taking:
            if not self._left:
                return False
            part = self._left.pop(0)
            self._begun += 1
        try:
            damage = part.damage()
        finally:
            with self._taking:
                self._begun -= 1
        if damage is not None and part.is_truth:
            self.lost = self.lost or damage
        elif damage is not None:
            self.damage = self.damage or damage
        self.found = self.found or damage is not None
        return True


# Which checksums does a checkpoint write, and which items does each of them cover?
_POSTING = 3
"""Bytes of a posting in a segment's file."""


def of_columns(columns: Columns, op: int, generation: int) -> dict[str, int]:
    """Return the checksums of the columns and dictionaries that a checkpoint has just persisted.

    op: the last operation of the checkpoint. Cost: 0.3 ns for each byte that is new since the last
    checkpoint, and for each byte of the columns of `CLOSED`.
    """
    assert columns.settings is not None
    home = columns.settings.columns_folder
    found = {}
    for name, column in columns.column.copy().items():
        if column.stored:
            found[f"{home}/{name}"] = (
                crc32(known_at(column.array[: column.stored], op))
                if name in CLOSED
                else column.checksum(column.stored)
            )
    for name, dictionary in columns.dictionary.items():
        for end, crc in dictionary.checksums(dictionary.stored, generation).items():
            found[f"{home}/{name}.{end}"] = crc
    return found


def of_indexes(indexes: Indexes, manifest: Manifest, known: Manifest | None) -> dict[str, int]:
    """Return the checksums of the files of segments and graphs.

    Files that ``known``, the manifest before, names too are not read again.
    """
    kept = {*known.segments, *known.graphs} if known is not None else set()
    sums = known.checksums if known is not None else {}
    return {
        name: sums[name] if entry in kept and name in sums else crc32(items)
        for name, entry, items in _index_files(indexes, manifest)
    }


def of_vectors(
    replica_rows: ReadRows, manifest: Manifest, known: Manifest | None
) -> dict[str, int]:
    """Return the checksum of the vectors of the rows in ``manifest``, extended from ``known``.

    replica_rows(first, end) returns the vectors of rows [first, end).
    """
    name = manifest.settings.vectors_file
    rows = manifest.columns["memory_of_row"]
    first = crc = 0
    if known is not None and name in known.checksums:
        first = known.columns["memory_of_row"]
        crc = known.checksums[name]
    return {name: crc32(replica_rows(first, rows), crc)} if rows else {}


def parts_of_columns(columns: Columns, manifest: Manifest, folder: Path) -> tuple[list[Part], bool]:
    """Return what is to be compared of columns that were just opened, and whether that is all."""
    settings = manifest.settings
    sums = manifest.checksums
    parts = []
    count = 0
    home = settings.columns_folder
    for name, column in columns.column.items():
        count += 1
        if (crc := sums.get(path := f"{home}/{name}")) is not None:
            column.vouch(crc)
            op = manifest.position.op if name in CLOSED else None
            parts.append(Part(folder, path, column.array, crc, op))
    for name, dictionary in columns.dictionary.items():
        for end, (items, held) in dictionary.stored_parts(manifest.generation).items():
            count += 1
            if (crc := sums.get(path := f"{home}/{name}.{end}")) is not None:
                if held is not None:
                    held.vouch(crc)
                parts.append(Part(folder, path, items, crc))
    return parts, len(parts) == count


def parts_of_indexes(
    indexes: Indexes, manifest: Manifest, folder: Path
) -> tuple[list[Part], list[Part]]:
    """Return what is to be compared of the last segment, and of the other segments and graphs.

    Kernels index by the numbers of memories in a segment. All numbers of 16 bits are memories of a
    sealed segment, so only the last one must be compared before anything reads it.
    """
    sums = manifest.checksums
    last = manifest.segments[-1].postings if manifest.segments else ""
    parts = [
        (name, Part(folder, name, items, sums[name]))
        for name, _, items in _index_files(indexes, manifest)
        if name in sums
    ]
    return [part for name, part in parts if name == last], [
        part for name, part in parts if name != last
    ]


def sum_of_last(manifest: Manifest, folder: Path) -> SideThread[int | None] | None:
    """Begin to read the last segment's file, which must be compared before anything reads it.

    Returns None where it is small or has no checksum.
    """
    name = manifest.segments[-1].postings if manifest.segments else ""
    if name not in manifest.checksums:
        return None
    return sum_beside(folder / name, manifest.columns.get("term", 0) * _POSTING)


def part_of_vectors(replica_rows: ReadRows, manifest: Manifest, folder: Path) -> list[Part]:
    """Return what is to be compared of the vectors; nothing if rows are missing."""
    name = manifest.settings.vectors_file
    rows = manifest.columns["memory_of_row"]
    crc = manifest.checksums.get(name)
    if crc is None or not rows:
        return []
    try:
        return [Part(folder, name, replica_rows(0, rows), crc, is_truth=True)]
    except (CorruptError, FormatError):  # what opens the agent says so
        return []


def _index_files(
    indexes: Indexes, manifest: Manifest
) -> Iterator[tuple[str, SegmentEntry | GraphEntry, npt.NDArray[np.uint8]]]:
    for segment, entry in zip(indexes.segments, manifest.segments, strict=True):
        yield entry.postings, entry, segment.postings.file
    for graph, named in zip(indexes.graphs, manifest.graphs, strict=True):
        yield named.path, named, graph.nodes

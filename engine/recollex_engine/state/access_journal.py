"""How often was a memory returned or used, and when last? The file ACCESSES of an agent.

It stands beside the log and is no part of the law: no cut, rebuild, backup or export depends on it,
and losing it loses the counts alone. The bytes, little-endian, one entry after another::

    at int64        microseconds UTC
    memory uint32   the ordinal of a memory's version, which an erasure keeps
    kind uint16     see `KINDS`
    count uint16    how often, within the second (once folded: the day) that ends at ``at``

Any process appends whole entries under a lock of the file. A torn last entry is cut off by the
next append. When the file has grown to `FOLD_AT` bytes, entries older than a day are summed by day.
"""

import contextlib
import fcntl
import os
import threading
import warnings
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from recollex_engine import fork
from recollex_engine.clock import DAY, Clock
from recollex_engine.errors import RecollexError
from recollex_engine.storage.disk import open_file, replace_file, system_errors
from recollex_engine.storage.lock import flock

FILE = "ACCESSES"
KINDS = ("returned", "used", "helped", "misled")
"""The kinds of an access; a kind's index is its number in the file."""
ENTRY = np.dtype([("at", "<i8"), ("memory", "<u4"), ("kind", "<u2"), ("count", "<u2")])
FOLD_AT = 32 << 20
"""The least bytes of a file that is folded; after that, twice the folded size."""
_MOST = 65_535

Entries = npt.NDArray[np.void]


def entries(at: int, memories: npt.NDArray[np.integer], kind: str) -> Entries:
    """Return entries that count each of ``memories`` once for each time that it is there."""
    different, counts = np.unique(memories, return_counts=True)
    made = np.zeros(len(different), ENTRY)
    made["at"], made["memory"], made["kind"] = at, different, KINDS.index(kind)
    made["count"] = np.minimum(counts, _MOST)
    return made


@dataclass(frozen=True, slots=True)
class Tally:
    """How often memories were accessed in one way: int64[n], and when last, 0 for never."""

    counts: npt.NDArray[np.int64]
    last: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _ReadJournal:
    """What was read of a file: its inode and bytes, its entries, and their sums by kind."""

    inode: int
    size: int
    entries: Entries
    sums: Mapping[str, Tally]

    @property
    def last(self) -> int:
        """The time of the last entry; entries stand in the order in which they were written."""
        return int(self.entries["at"][-1]) if len(self.entries) else 0


_NOTHING = _ReadJournal(
    0,
    0,
    np.empty(0, ENTRY),
    {kind: Tally(np.empty(0, np.int64), np.empty(0, np.int64)) for kind in KINDS},
)


class AccessJournal:
    """The accesses of one agent's memories.

    ``check()`` is called before the file is opened for writing; see `AgentFiles.check_place`.

    Threads: any number, in any process.
    """

    def __init__(self, path: Path, check: Callable[[], None] = lambda: None) -> None:
        self._path = path
        self._check = check
        self._lock = fork.lock()
        self._known = _NOTHING
        self._fold_at = FOLD_AT

    def append(self, added: Entries, now: int) -> None:
        """Append entries; nothing is flushed to the disk. Cost: 50 us."""
        if not len(added):
            return
        with self._opened() as fd:
            size = os.fstat(fd).st_size
            if size % ENTRY.itemsize:
                size -= size % ENTRY.itemsize
                os.ftruncate(fd, size)
            os.pwrite(fd, added.tobytes(), size)
            if size >= self._fold_at:
                folded = _folded(_read(fd), now - DAY)
                replace_file(self._path, folded.tobytes(), durable=False)
                self._fold_at = max(FOLD_AT, 2 * folded.nbytes)

    def erase(self, memories: Collection[int] | None) -> None:
        """Remove every entry of these memories, or of all."""
        if not self._path.exists():
            return
        with self._opened() as fd:
            kept = _read(fd)
            gone = kept["memory"] if memories is None else np.array(list(memories), np.int64)
            kept = kept[~np.isin(kept["memory"], gone)]
            replace_file(self._path, kept.tobytes())

    def tally(
        self, memories: npt.NDArray[np.integer], kind: str, before: int | None = None
    ) -> Tally:
        """Return how often each of ``memories`` was accessed, and when last.

        before: only accesses before this time, microseconds. Cost: 5 us; for a time in the past
        10 ns for each entry.
        """
        known = self._read_new()
        if before is None or before > known.last:
            return _gathered(known.sums[kind], memories)
        past = known.entries[known.entries["at"] < before]
        return _gathered(_added(_NOTHING.sums, past)[kind], memories)

    def _read_new(self) -> _ReadJournal:
        """Return all entries of the file; only new ones are read from the disk."""
        known = self._known
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return _NOTHING
        if (status.st_ino, status.st_size) == (known.inode, known.size):
            return known
        with self._lock, self._path.open("rb") as file:
            inode = os.fstat(file.fileno()).st_ino
            known = self._known
            if inode != known.inode or os.fstat(file.fileno()).st_size < known.entries.nbytes:
                known = _NOTHING
            file.seek(known.entries.nbytes)
            data = file.read()
            new = np.frombuffer(data, ENTRY, len(data) // ENTRY.itemsize)
            self._known = known = _ReadJournal(
                inode,
                known.entries.nbytes + len(data),
                np.concatenate((known.entries, new)),
                _added(known.sums, new),
            )
        return known

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int]:
        """Open the file under its lock: the one that has the name, not one that was replaced."""
        self._check()
        with system_errors(self._path):
            while True:
                fd = open_file(self._path, os.O_RDWR | os.O_CREAT)
                try:
                    flock(fd, fcntl.LOCK_EX, self._path)
                    with contextlib.suppress(FileNotFoundError):
                        if self._path.stat().st_ino == os.fstat(fd).st_ino:
                            yield fd
                            return
                finally:
                    os.close(fd)


def _added(sums: Mapping[str, Tally], new: Entries) -> dict[str, Tally]:
    """Return the sums of each kind, with ``new`` entries added."""
    found = dict(sums)
    for number, kind in enumerate(KINDS):
        part = new[new["kind"] == number]
        if not len(part):
            continue
        memories = part["memory"].astype(np.int64)
        size = max(len(found[kind].counts), int(memories.max()) + 1)
        counts = np.zeros(size, np.int64)
        last = np.zeros(size, np.int64)
        counts[: len(found[kind].counts)] = found[kind].counts
        last[: len(found[kind].last)] = found[kind].last
        np.add.at(counts, memories, part["count"].astype(np.int64))
        np.maximum.at(last, memories, part["at"])
        found[kind] = Tally(counts, last)
    return found


def _gathered(sums: Tally, memories: npt.NDArray[np.integer]) -> Tally:
    places = memories.astype(np.int64)
    known = places < len(sums.counts)
    counts = np.zeros(len(places), np.int64)
    last = np.zeros(len(places), np.int64)
    counts[known] = sums.counts[places[known]]
    last[known] = sums.last[places[known]]
    return Tally(counts, last)


def _read(fd: int) -> Entries:
    size = os.fstat(fd).st_size
    data = os.pread(fd, size, 0)
    return np.frombuffer(data, ENTRY, len(data) // ENTRY.itemsize)


def _folded(known: Entries, before: int) -> Entries:
    """Return the entries with those before a time summed by memory, kind and day."""
    old = known["at"] < before
    kept = known[~old]
    summed = known[old]
    order = np.lexsort((summed["at"], summed["kind"], summed["memory"], summed["at"] // DAY))
    summed = summed[order]
    day = summed["at"] // DAY
    starts = np.ones(len(summed), bool)
    starts[1:] = (
        (np.diff(day) != 0)
        | (np.diff(summed["memory"].astype(np.int64)) != 0)
        | (np.diff(summed["kind"].astype(np.int64)) != 0)
    )
    places = np.flatnonzero(starts)
    ends = np.append(places[1:], len(summed)) - 1
    folded = summed[ends].copy() if len(summed) else summed  # the last time of each group
    if len(summed):
        totals = np.add.reduceat(summed["count"].astype(np.int64), places)
        folded["count"] = np.minimum(totals, _MOST)
    return np.concatenate((folded, kept))


# Count what recalls return: noted on the hot path, written to the file once a second beside it.
EVERY = 1.0
"""Seconds between two writings: what a crash may lose."""
IDLE = 60
"""Writings with nothing to write after which the thread ends."""

Noted = tuple[AccessJournal, npt.NDArray[np.uint32], int]
"""The memories that one recall returned, at a time in microseconds."""


class AccessCounting:
    """The accesses that one process has noted and not yet written, of all agents of a store.

    Threads: any number may note. A thread of its own writes while there is something to write. In a
    child of `os.fork` nothing is noted and nothing of the parent's is written. is_on: whether
    anything is noted.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._noted: deque[Noted] = deque()
        self._lock = fork.lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._stopped = False
        self.is_on: bool = False
        fork.register(self)

    def after_fork(self) -> None:
        """Leave to the parent what it has noted."""
        self._noted = deque()
        self._stopped = True

    def note(self, journal: AccessJournal, memories: npt.NDArray[np.uint32]) -> None:
        """Note that a recall returned ``memories``. Cost: 1 us, no system call."""
        if not self.is_on or self._stopped or not len(memories):
            return
        self._noted.append((journal, memories, self._clock()))
        if self._thread is None:
            self._start()

    def _start(self) -> None:
        with self._lock:
            if self._thread is None and not self._stopped:
                self._thread = threading.Thread(
                    target=self._write_until_idle, name="recollex accesses", daemon=True
                )
                self._thread.start()

    def _write_until_idle(self) -> None:
        idle = 0
        while True:
            self._wake.wait(EVERY)
            idle = 0 if self._noted else idle + 1
            self.write()
            with self._lock:
                if self._stopped or (idle > IDLE and not self._noted):
                    self._thread = None
                    return

    def write(self) -> None:
        """Write what was noted so far. A file that cannot be written ends the counting."""
        with self._lock:
            noted = [self._noted.popleft() for _ in range(len(self._noted))]
            by_journal: dict[AccessJournal, list[Noted]] = {}
            for each in noted:
                by_journal.setdefault(each[0], []).append(each)
            for journal, parts in by_journal.items():
                memories = np.concatenate([memories for _, memories, _ in parts])
                last = parts[-1][2]
                try:
                    journal.append(entries(last, memories, "returned"), last)
                except (OSError, RecollexError) as error:
                    self._stopped = True
                    warnings.warn(
                        f"accesses are no longer counted: {error}", RuntimeWarning, stacklevel=2
                    )
                    return

    def close(self) -> None:
        """Write the rest, and note no more."""
        thread = self._thread
        self.write()
        self._stopped = True
        self._wake.set()
        if thread is not None and thread is not threading.current_thread():
            thread.join()

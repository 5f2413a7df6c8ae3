"""How is one agent's folder opened? By a writer or a reader, each when it is first needed."""

import itertools
import resource
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Protocol

from recollex_engine import fork
from recollex_engine.domain.settings import Settings
from recollex_engine.errors import (
    ClosedError,
    CorruptError,
    ModelMismatchError,
    ReadOnlyError,
    RecollexError,
    StoreMovedError,
)
from recollex_engine.log.home import LogHome
from recollex_engine.models.embedder import Embedder
from recollex_engine.state.file_sizes import FileSizes
from recollex_engine.state.read_replica import ReadReplica
from recollex_engine.state.replica import Replica
from recollex_engine.state.view import View
from recollex_engine.storage.disk import system_errors
from recollex_engine.storage.encryption import Cipher, cipher_at, open_key
from recollex_engine.writing.contexts import StoreContext
from recollex_engine.writing.maintenance import Maintenance
from recollex_engine.writing.writer import Writer, make_sure, view_of

# Which calls use the files of an agent now? The files are closed only while none does.
_uses = itertools.count(1)
_POLL_SECONDS = 0.001


class FileUse:
    """The calls in progress on the files of one agent.

    Threads: any number. A thread that has begun a use may begin another within it at any time;
    other threads wait while the files are closed.
    """

    __slots__ = ("__weakref__", "_gate", "_lock", "_threads", "last_used")

    def __init__(self) -> None:
        self._lock = fork.lock()
        self._threads: dict[int, int] = {}  # how many uses each thread has begun
        self._gate: threading.Lock | None = None  # held while the files are closed
        self.last_used: int = 0

    def __bool__(self) -> bool:
        return bool(self._threads)

    def begin(self) -> None:
        """Begin a use; waits while the files are closed. Cost: 0.3 us."""
        thread = threading.get_ident()
        while True:
            with self._lock:
                begun = self._threads.get(thread, 0)
                gate = self._gate
                if begun or gate is None:
                    self._threads[thread] = begun + 1
                    self.last_used = next(_uses)
                    return
            with gate:
                pass

    def touch(self) -> None:
        """Count as the most recently used, without a use."""
        self.last_used = next(_uses)

    def end(self) -> None:
        """End a use of this thread."""
        thread = threading.get_ident()
        with self._lock:
            left = self._threads[thread] - 1
            if left:
                self._threads[thread] = left
            else:
                del self._threads[thread]

    @contextmanager
    def none(self, *, wait: bool) -> Iterator[bool]:
        """Let no use begin during the body; give whether there is none.

        ``wait``: until the uses in progress have ended. Otherwise gives False while there are some.
        """
        gate = threading.Lock()
        with gate:
            while (other := self._shut(gate, wait)) is not None:
                with other:  # another thread closes the files
                    pass
            if self._gate is not gate:
                yield False
                return
            try:
                while self._threads:
                    time.sleep(_POLL_SECONDS)
                yield True
            finally:
                self._gate = None

    def _shut(self, gate: threading.Lock, wait: bool) -> "threading.Lock | None":
        """Shut ``gate`` unless there are uses and ``wait`` is False; return another's gate."""
        with self._lock:
            if self._gate is None and (wait or not self._threads):
                self._gate = gate
                return None
            return self._gate if wait else None


# Which agents of a store are open? At most so many, those used last, and every one in use.
MOST = 256
LEAST = 4
PART = 4
"""A store opens up to a `PART` of the files that the process may open, within these bounds."""


class Openable(Protocol):
    """An agent whose files can be closed while they are not in use."""

    @property
    def last_used(self) -> int:
        """A number that grows with each use; of all agents."""

    @property
    def in_use(self) -> bool:
        """Whether a call is in progress, or work in the background."""

    @property
    def has_failed(self) -> bool:
        """Whether closing the files failed, which no caller has been told yet."""

    def rest(self) -> bool:
        """Close the files until the next use, unless they are in use; return whether."""


def default_most() -> int:
    """Return how many agents a store keeps open if its caller does not say."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if limit == resource.RLIM_INFINITY:
        return MOST
    return max(LEAST, min(MOST, limit // PART))


class OpenAgents:
    """The open agents of a store. They are held here, so that no agent is open twice.

    Threads: any number.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = fork.lock()
        self._open: dict[Openable, None] = {}
        self._failed: set[Openable] = set()

    def __len__(self) -> int:
        return len(self._open)

    def add(self, agent: Openable) -> None:
        """Note that an agent was opened; its caller has it in use."""
        with self._lock:
            self._open[agent] = None
            self._failed.discard(agent)

    def discard(self, agent: Openable) -> None:
        """Note that an agent was closed."""
        with self._lock:
            self._open.pop(agent, None)
            self._failed.discard(agent)

    def make_room(self) -> None:
        """Close agents that are not in use, the least recently used first, while too many are open.

        Cost: 0.1 us while there is room.
        """
        tried: set[Openable] = set()
        while len(self._open) > self._most:
            with self._lock:
                idle = [each for each in self._open if each not in tried and not each.in_use]
            if not idle:
                return
            oldest = min(idle, key=lambda each: each.last_used)
            tried.add(oldest)
            if oldest.rest():
                self.discard(oldest)
                if oldest.has_failed:
                    self._failed.add(oldest)


class AgentFiles:
    """The writer or the reader by which this process has one agent's folder open.

    ``with files:`` is a use: the files stay open during the body. Between uses they may be closed
    by `rest`, and the next use opens them again. ``opened()`` is called when they were opened, and
    ``used()`` after each use.

    Threads: any number may call any method. Nothing is put on disk before the first write. In a
    child of `os.fork` every method refuses: its parent goes on writing the files.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        context: StoreContext,
        key: bytes | None,
        opened: Callable[[], None],
        used: Callable[[], None],
    ) -> None:
        self.name = name
        self.folder = folder
        self.key = key
        self.usage: FileUse = FileUse()
        self.was_opened: bool = False
        """Whether `open` has succeeded."""
        self.opens_writer: bool = False
        """Whether the next use opens the writer: it was open before `rest`."""
        self._cipher: Cipher | None = None  # held as long as files of the agent are in use
        self._context = context
        self._opened = opened
        self._used = used
        self._sizes = FileSizes()
        self._opening = threading.RLock()
        self._writer: Writer | None = None
        self._maintenance: Maintenance | None = None
        self._reader: ReadReplica | None = None
        self._failure: BaseException | None = None  # of `rest`, which the next use raises
        self._closed = self._deleted = False
        self._inherited = False
        fork.register(self)

    def open(self) -> None:
        """Open the writer of an agent that exists, unless the store is read-only.

        So a second writer fails here, not at its first retain.
        """
        if self.was_opened:
            self.check_open()
            self.check_place()
            return
        with self, system_errors(self.folder):
            self._prepared()
            if self.are_there and not self._context.read_only:
                self.writer()
            elif self._has_log():
                self._cipher = open_key(self.folder, self.key)
            self.was_opened = True

    def __enter__(self) -> None:
        self.check_open()
        self.usage.begin()
        if self._closed or self._failure is not None:
            self.usage.end()
            self.check_open()
            self._report()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.usage.end()
        self._used()

    def _report(self) -> None:
        """Raise the failure of the last `rest`, once."""
        failure = self._failure
        self._failure = None
        if failure is not None:
            raise failure

    def writer(self) -> Writer:
        """Return the writer, for the use in progress; the first call makes the folder.

        A writer whose write was interrupted is closed, and the log is opened again.
        """
        self.check_writable()
        if self._writer is not None and not self._writer.must_reopen:
            if self._sizes.has_failed:
                self._sizes.check(self._writer.replica)
            return self._writer
        with self._opening, system_errors(self.folder):
            self.check_open()
            interrupted = self._writer is not None and self._writer.must_reopen
            if interrupted and self._maintenance is not None:
                self.check_place()
                self._maintenance.close()  # views go on with what was published
            if self._writer is None or interrupted:
                self._context.create()
                writer = self._new_writer()
                self._cipher = cipher_at(self.folder)
                try:
                    if writer.settings is not None:
                        self._embedder_for(writer.settings)
                except BaseException:
                    writer.close()  # or the folder stays locked
                    raise
                self._maintenance = Maintenance(self.name, writer, self._context)
                self._writer = writer
                self.opens_writer = True
                self._opened()
            return self._writer

    def _prepared(self) -> LogHome | None:
        """Return the home of the log, once the folder is what it has; None without homes."""
        homes = self._context.homes
        if homes is None:
            return None
        self._context.create()
        return homes.prepare(self.name, self.folder)

    def _new_writer(self) -> Writer:
        """Return the writer of the files; those that are damaged are made again from the home."""
        for attempt in range(2):
            try:
                return Writer(
                    self.folder,
                    self._context.durability,
                    self._context.clock,
                    self._embedder_for,
                    self._context.on_flush,
                    self._context.start_progress,
                    self.key,
                    self._prepared(),
                )
            except CorruptError:
                if attempt or self._context.homes is None:
                    raise
                shutil.rmtree(self.folder)
        raise AssertionError  # not reached

    def _has_log(self) -> bool:
        return (self.folder / "log").exists()

    @property
    def are_there(self) -> bool:
        """Whether the agent has a folder, as it has while its writer is open."""
        return self._writer is not None or self.folder.exists()

    @property
    def opened_writer(self) -> Writer | None:
        """The writer if this process has opened it; None before, and once it is closed."""
        return self._writer

    @property
    def maintenance(self) -> Maintenance:
        """The maintenance of the writer, which must have been opened."""
        assert self._maintenance is not None
        return self._maintenance

    def check_place(self) -> None:
        """Raise `StoreMovedError` unless the path leads to the files that are open.

        While none is open, it must lead to the store that was opened. Cost: 2 us.
        """
        if (writer := self._writer) is not None:
            writer.lock_file.check_place()
        elif (reader := self._reader) is not None:
            try:
                reader.check_place()
            except StoreMovedError:
                self._context.check_place()
                self._closed = self._deleted = True  # another process has the store's lock for it
                self.check_open()
        else:
            self._context.check_place()

    def check_open(self) -> None:
        """Raise `ClosedError` once the agent was closed, and in a forked child.

        Raises `StoreMovedError` as `check_place` does, but for a writer, which is asked before it
        writes, and before `view` reads.
        """
        if self._closed:
            if self._inherited:
                raise fork.refusal(f"agent {self.name!r}")
            if self._deleted:
                raise ClosedError(
                    f"agent {self.name!r} was deleted: Store.agent gives a new one of that name"
                )
            raise ClosedError(f"agent {self.name!r} was closed: open the store again")
        if self._writer is None:
            self.check_place()

    def check_writable(self) -> None:
        """Raise `ClosedError` or `ReadOnlyError` if this agent cannot be written."""
        self.check_open()
        if self._context.read_only:
            raise ReadOnlyError(
                f"agent {self.name!r} was opened with read_only=True: open the store without it "
                "to write"
            )
        if (writer := self._writer) is not None:
            make_sure(writer)

    def _embedder_for(self, settings: Settings) -> Embedder:
        """Return the model. Raises `ModelMismatchError` if the vectors are of another model."""
        embedder = self._context.embedder()
        if embedder.fingerprint != settings.model:
            raise ModelMismatchError(self.name, settings.model, embedder.fingerprint)
        return embedder

    def view(self, op: int | None = None) -> View | None:
        """Return the view of now, or of operation ``op``; None before the first retain.

        The view stays valid after the use in progress. That of an open writer is in memory, and
        takes no use: a recall is 4 us faster.
        """
        writer = self._writer
        if writer is not None and not self._closed and not writer.replica.integrity.found:
            self.check_place()
            self._sizes.check(writer.replica)
            self.usage.touch()
            view = writer.replica.view(op)
            self._used()
            return view
        with self:
            if self.opens_writer:
                self.check_place()
                opened = self._writer or self.writer()
                self._sizes.check(opened.replica)
                return view_of(opened, op)
            reader = self._reader or self._opened_reader()
            if reader is None:
                return None
            if reader.is_deleted:
                self._closed = self._deleted = True
                self.check_open()
            now = reader.view()
            self._sizes.check(reader.replica)
            return now if op is None else reader.replica.view(op)

    def _opened_reader(self) -> ReadReplica | None:
        with self._opening, system_errors(self.folder):
            if self._reader is None and self._has_log():
                self._cipher = open_key(self.folder, self.key)
                self._reader = ReadReplica(
                    self.folder, self._embedder_for, self._context.start_progress
                )
                self._opened()
            return self._reader

    def replica(self) -> Replica:
        """Return the replica that `view` reads, in the use in progress; after there is one."""
        if self._writer is None and self._reader is None:
            self.view()
        if self._writer is not None:
            return self._writer.replica
        assert self._reader is not None
        return self._reader.replica

    @property
    def is_closed(self) -> bool:
        """Whether the agent was closed for good, or deleted."""
        return self._closed

    @property
    def is_busy(self) -> bool:
        """Whether there is a use in progress, or work in the background."""
        maintenance = self._maintenance
        return bool(self.usage) or (maintenance is not None and maintenance.is_working)

    def rest(self) -> bool:
        """Close the files until the next use, unless they are in use; return whether.

        An error is raised by the next use, or by `close`; see `has_failed`.
        """
        with self.usage.none(wait=False) as idle:
            if not idle:
                return False
            try:
                self._close_files()
            except Exception as error:
                self._failure = error
            return True

    @property
    def has_failed(self) -> bool:
        """Whether `rest` had an error that was not raised yet."""
        return self._failure is not None

    @contextmanager
    def being_deleted(self) -> Iterator[None]:
        """Close the files, and keep every use waiting until the body has ended.

        Every later use is refused then, unless the body raised.
        """
        self.check_open()
        with self.usage.none(wait=True):
            self.check_open()
            self.check_place()
            with suppress(RecollexError):  # what cannot be written is deleted
                self._close_files(fold=False)
            yield
            self._closed = self._deleted = True
            self._cipher = None

    def after_fork(self) -> None:
        """Refuse every later call in the child, and let go of the parent's files and maps."""
        self._closed = self._inherited = True
        self._writer = self._maintenance = self._reader = None
        self._sizes = FileSizes()

    def close(self) -> None:
        """Finish pending work and release the lock file; a second call does nothing."""
        if self._inherited:  # the lock may be held by a thread of the parent
            return
        with self._opening:
            if self._closed:
                return
            self._closed = True
        self._close_files()
        self._report()

    def _close_files(self, *, fold: bool = True) -> None:
        reader = self._reader
        maintenance = self._maintenance
        try:
            if reader is not None:
                reader.close()
            if maintenance is not None:
                maintenance.close(fold=fold)
        finally:
            self._writer = self._maintenance = self._reader = None
            self._sizes = FileSizes()

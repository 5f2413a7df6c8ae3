"""Group commit: when an acknowledged write is on the disk, in one of three durability modes.

The flush of a log and its vectors that was begun when they were written.
The writer goes on meanwhile, and takes the operations up into the columns. Both files are flushed
side by side, so a loss of power may leave either without the other, as it may without any flush;
nothing is acknowledged before both are on the disk.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Literal

from recollex_engine import fork
from recollex_engine.errors import ClosedError, InputError, StoreFullError
from recollex_engine.log.format import Head
from recollex_engine.storage.pooled_file import BegunFlush, PooledFile, begin_flush
from recollex_engine.storage.vectors_file import VectorsWriter


class FlushAhead:
    """At most one flush, from when it was begun until its result is known.

    Threads: one at a time begins, and one at a time ends.
    """

    def __init__(self) -> None:
        self._begun: tuple[BegunFlush, Head, VectorsWriter | None, int] | None = None

    def begin(self, covered: Head, log: PooledFile, vectors: VectorsWriter | None) -> None:
        """Begin to flush the log up to ``covered``, and vectors that no flush has covered.

        Does nothing while another flush is under way, or where the system cannot do it.
        """
        if self._begun is not None:
            return
        writes = 0 if vectors is None else vectors.unflushed
        with suppress(OSError), log as own:  # the flush that follows reports it
            if vectors is None or not writes:
                begun = begin_flush([own])
            else:
                with vectors.file as rows:
                    begun = begin_flush([rows, own])
            if begun is not None:
                self._begun = begun, covered, vectors, writes

    def end(self) -> Head | None:
        """Wait for the flush; return what it covered, None if there was none.

        It may cover less than was written since. Raises the plain `OSError`, each time.
        """
        if self._begun is None:
            return None
        begun, covered, vectors, writes = self._begun
        try:
            begun.wait()
        except OSError as error:
            if vectors is not None:
                vectors.fail(error)
            raise
        if vectors is not None and begun.is_whole:
            vectors.flushed(writes)
        self._begun = None
        return covered if begun.is_whole else None


Durability = Literal["always", "interval", "off"]

INTERVAL_SECONDS = 0.1
MODES = ("always", "interval", "off")


class GroupCommit:
    """Turns many waits for durability into few flushes of one file.

    ``flush`` makes what was written durable and returns the number of the last operation that it
    covered; if that is less than was asked for, it is called again. The three modes differ in what
    `wait` promises:

    - ``always``: the operation is on the disk. The first waiting thread is the leader: it flushes
      for all threads that have written by then. Threads that come during its flush wait for the
      next one.
    - ``interval``: nothing yet; a background thread flushes within 100 ms of a write.
    - ``off``: nothing; the operating system decides when to write.

    A failed flush may have lost bytes that the system never reports again. So the first failure
    poisons the object: that wait and every later call raise, with the failure as cause.

    ``on_flush(seconds)`` is called after each flush, by the thread that flushed, with the time that
    it waited: the flush may have begun before.

    Threads: any number may call any method. The background thread exists only while there is
    something to flush, so thousands of idle writers cost no threads. A KeyboardInterrupt leaves no
    lock taken: plain locks are taken by ``with``, whose end no signal can prevent. The methods of a
    `threading.Condition` are Python, so it could keep its lock.
    """

    def __init__(
        self,
        mode: Durability,
        flush: Callable[[], int],
        name: str,
        on_flush: Callable[[float], None] | None = None,
    ) -> None:
        if mode not in MODES:
            raise InputError(f"durability must be one of {', '.join(MODES)}, got {mode!r}")
        self.mode: Durability = mode
        self._flush = flush
        self._name = name
        self._on_flush = on_flush
        self._state = threading.Lock()
        self._flight = threading.Lock()  # held while a flush runs, by the thread that runs it
        self._closing = threading.Lock()  # held until `close`; the background thread waits for it
        self._closing.acquire()
        self._flushed_op = 0
        self._written_op = 0
        self._failure: BaseException | None = None
        self._reported = False
        self._closed = False
        self._closed_at = 0  # the last operation that was written before
        self._thread: threading.Thread | None = None
        self._inherited = False
        fork.register(self)

    def after_fork(self) -> None:
        """Refuse every later call in the child: its parent writes the file."""
        self._inherited = self._closed = True

    def check(self) -> None:
        """Raise if the object is closed or a flush has ever failed, and in a forked child."""
        if self._inherited:
            raise fork.refusal(self._name)
        if self._failure is not None:
            self._reported = True
            raise StoreFullError(
                getattr(self._failure, "errno", None),
                f"{self._name} is written no further, since a write could not be made durable "
                f"({self._failure!r}): close it and open it again, which keeps what reached the "
                "disk",
            ) from self._failure
        if self._closed:
            raise ClosedError(f"{self._name} was closed: open it again")

    @property
    def has_failed(self) -> bool:
        """Whether a flush has failed, or `poison` was called."""
        return self._failure is not None

    def wrote(self, op: int) -> None:
        """Record that operations up to ``op`` were written but not yet flushed."""
        with self._state:
            self._written_op = op
            if self.mode == "interval" and not self._closed:
                thread = self._thread
                if thread is None or not thread.is_alive():
                    self._thread = threading.Thread(
                        target=self._flush_until_clean, name=f"flush {self._name}", daemon=True
                    )
                    self._thread.start()

    def wait(self, op: int) -> None:
        """Return once operation ``op`` is as durable as the mode promises."""
        if self.mode == "always":
            self.flush(op)
        elif not (self._closed and self._failure is None and op <= self._closed_at):
            self.check()

    def flush(self, op: int) -> None:
        """Return once operation ``op`` is on the disk, whatever the mode."""
        while self._failure is not None or self._flushed_op < op:
            self.check()
            flight = self._flight
            if flight.locked():
                with flight:  # waits for the running flush; an interrupted one frees it too
                    pass
                continue
            own = threading.Lock()
            with own:
                with self._state:
                    if self._flight is not flight:
                        continue  # another thread leads
                    self._flight = own
                self._lead()
                self._flight = threading.Lock()  # who comes now does not queue with the followers
            self.check()

    def _lead(self) -> None:
        """Flush for every thread that has written by now."""
        began = time.perf_counter()
        try:
            self._flushed_op = max(self._flushed_op, self._flush())
        except OSError as error:
            self._failure = self._failure or error  # no call: a signal could come before it
            return
        if self._on_flush is not None:
            self._on_flush(time.perf_counter() - began)

    def poison(self, cause: BaseException) -> None:
        """Make every later call raise, with ``cause`` as the cause."""
        self._failure = self._failure or cause

    def close(self) -> None:
        """Flush unless the mode is "off", and stop the background thread; idempotent.

        Raises as `flush` does, and also for a background failure that no call has reported yet.
        The object is closed in these cases too.
        """
        if self._closed:
            return
        try:
            if self.mode != "off" and self._failure is None:
                self.flush(self._written_op)
        finally:
            self._closed_at = self._written_op
            self._closed = True
            if self._closing.locked():
                self._closing.release()
            thread = self._thread
            if thread is not None and thread.is_alive():
                thread.join()
            self._flush = _closed  # what it belongs to is freed at once
        if self._failure is not None and not self._reported:
            self.check()

    def _flush_until_clean(self) -> None:
        while not self._closing.acquire(timeout=INTERVAL_SECONDS):
            with self._state:
                if self._failure is not None or self._is_clean():
                    self._thread = None
                    return
                op = self._written_op
            try:
                self.flush(op)
            except (StoreFullError, ClosedError):
                with self._state:
                    self._reported = False  # only this thread has seen the failure
                    self._thread = None
                return
        self._closing.release()

    def _is_clean(self) -> bool:
        return self._flushed_op >= self._written_op


def _closed() -> int:
    """Take the place of the flush of a closed log."""
    raise ClosedError("the log was closed: open it again")

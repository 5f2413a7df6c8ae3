"""Group commit: when an acknowledged write is on the disk, in one of three durability modes."""

import threading
import time
from collections.abc import Callable
from typing import Literal

from recollex_engine import fork
from recollex_engine.errors import ClosedError, InputError, StoreFullError

Durability = Literal["always", "interval", "off"]

INTERVAL_SECONDS = 0.1
MODES = ("always", "interval", "off")


class GroupCommit:
    """Turns many waits for durability into few flushes of one file.

    ``flush`` makes everything written so far durable and returns the number of the last operation
    that it covered. The three modes differ in what `wait` promises:

    - ``always``: the operation is on the disk. The first waiting thread is the leader: it flushes
      for all threads that have written by then. Threads that come during its flush wait for the
      next one.
    - ``interval``: nothing yet; a background thread flushes within 100 ms of a write.
    - ``off``: nothing; the operating system decides when to write.

    A failed flush may have lost bytes that the system never reports again. So the first failure
    poisons the object: that wait and every later call raise, with the failure as cause.

    ``on_flush(seconds)`` is called after each flush, by the thread that flushed.

    Threads: any number may call any method. The background thread exists only while there is
    something to flush, so thousands of idle writers cost no threads.
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
        self._changed = threading.Condition()
        self._flushing = False
        self._flushed_op = 0
        self._written_op = 0
        self._failure: BaseException | None = None
        self._reported = False
        self._closed = False
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
        with self._changed:
            self._written_op = op
            if self.mode == "interval" and self._thread is None and not self._closed:
                self._thread = threading.Thread(
                    target=self._flush_until_clean, name=f"flush {self._name}", daemon=True
                )
                self._thread.start()

    def wait(self, op: int) -> None:
        """Return once operation ``op`` is as durable as the mode promises."""
        if self.mode == "always":
            self.flush(op)
        else:
            self.check()

    def flush(self, op: int) -> None:
        """Return once operation ``op`` is on the disk, whatever the mode."""
        with self._changed:
            while True:
                if self._failure is None and self._flushed_op >= op:
                    return
                self.check()
                if not self._flushing:
                    self._flushing = True
                    break
                self._changed.wait()
        flushed = 0
        began = time.perf_counter()
        try:
            flushed = self._flush()
        except OSError as error:
            self.poison(error)
        finally:
            with self._changed:
                self._flushing = False
                self._flushed_op = max(self._flushed_op, flushed)
                self._changed.notify_all()
        if not flushed:
            self.check()
        elif self._on_flush is not None:
            self._on_flush(time.perf_counter() - began)

    def poison(self, cause: BaseException) -> None:
        """Make every later call raise, with ``cause`` as the cause."""
        with self._changed:
            self._failure = self._failure or cause
            self._changed.notify_all()

    def close(self) -> None:
        """Flush unless the mode is "off", and stop the background thread; idempotent.

        Raises as `flush` does, and also for a background failure that no call has reported yet.
        The object is closed in these cases too.
        """
        if self._closed:
            return
        with self._changed:
            written = self._written_op
        try:
            if self.mode != "off" and self._failure is None:
                self.flush(written)
        finally:
            with self._changed:
                self._closed = True
                self._changed.notify_all()
                thread = self._thread
            if thread is not None:
                thread.join()
        if self._failure is not None and not self._reported:
            self.check()

    def _flush_until_clean(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed, timeout=INTERVAL_SECONDS)
                if self._closed or self._failure is not None or self._is_clean():
                    self._thread = None
                    return
                op = self._written_op
            try:
                self.flush(op)
            except (StoreFullError, ClosedError):
                with self._changed:
                    self._reported = False  # only this thread has seen the failure
                    self._thread = None
                return

    def _is_clean(self) -> bool:
        return self._flushed_op >= self._written_op

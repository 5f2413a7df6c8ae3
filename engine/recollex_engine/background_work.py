"""What goes on after a call has returned: a few threads of a store. And how a request is given up.

How is a running request given up? By a token that the caller keeps.
A token holds for the requests that are made in its ``with`` block, and for a request to which it is
given; another thread may cancel it.
"""

import os
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from contextvars import ContextVar, Token
from typing import Any

from recollex_engine import fork
from recollex_engine.errors import LanguageModelError


def usable_cores() -> int:
    """Return the number of processors of this process; 1 if the system does not tell."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Cancellation:
    """Gives up whatever watches it. Threads: any number may call any method.

    >>> token = Cancellation()
    >>> with token:
    ...     token.cancel()
    ...     token.cancelled
    True
    """

    def __init__(self) -> None:
        self._lock = fork.lock()
        self._watching: dict[int, Callable[[], object]] = {}
        self._number = 0
        self.cancelled: bool = False
        self._entered: list[Token[Cancellation | None]] = []

    def __enter__(self) -> "Cancellation":
        self._entered.append(_current.set(self))
        return self

    def __exit__(self, *_: object) -> None:
        _current.reset(self._entered.pop())

    def cancel(self) -> None:
        """Give up what runs with this token, and what will; calling it again does nothing."""
        with self._lock:
            self.cancelled = True
            watching = list(self._watching.values())
        for each in watching:
            each()

    def check(self) -> None:
        """Raise `LanguageModelError` if it was cancelled."""
        if self.cancelled:
            raise LanguageModelError("it was cancelled", "cancelled")

    @classmethod
    def current(cls) -> "Cancellation | None":
        """Return the token of the innermost block that this code runs in; None outside of any."""
        return _current.get()

    @contextmanager
    def watched(self, give_up: Callable[[], object]) -> Iterator[None]:
        """Call ``give_up`` if the token is cancelled during the body, or was before."""
        with self._lock:
            self._number += 1
            number = self._number
            self._watching[number] = give_up
        if self.cancelled:
            give_up()
        try:
            yield
        finally:
            with self._lock:
                del self._watching[number]


_current: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)


THREADS = 4


class BackgroundWork:
    """Runs work for the agents of one store, in the order in which it comes.

    Work that fails warns. Threads: any number may call.
    """

    def __init__(self) -> None:
        self._pool: fork.ThreadPool | None = None
        self._lock = fork.lock()
        self._cancellation = Cancellation()
        self._running: dict[Future[Any], str] = {}
        self.closing: bool = False

    def start(self, agent: str, what: str, work: Callable[[], object]) -> None:
        """Run ``work`` for an agent; ``what``: what a warning calls it."""
        with self._lock:
            if self._pool is None:
                self._pool = fork.ThreadPool(THREADS, "recollex mind")
            started = self._pool.submit(self._run, what, work)
            self._running[started] = agent
        started.add_done_callback(self._forget)

    def wait(self, agent: str | None = None, seconds: float | None = None) -> bool:
        """Wait for the work of an agent, or of all; return whether none is left."""
        with self._lock:
            running = [each for each, of in self._running.items() if agent in (None, of)]
        return not wait(running, seconds).not_done

    def close(self) -> None:
        """Wait for all work; an interruption gives it up.

        Work that goes on for long looks at ``closing``, and ends early.
        """
        self.closing = True
        try:
            self.wait()
        except BaseException:
            self._cancellation.cancel()
            raise

    def _run(self, what: str, work: Callable[[], object]) -> None:
        try:
            with Cancellation() as token, self._cancellation.watched(token.cancel):
                work()
        except Exception as error:
            warnings.warn(f"{what} failed: {error}", RuntimeWarning, stacklevel=2)

    def _forget(self, ended: "Future[Any]") -> None:
        with self._lock:
            self._running.pop(ended, None)

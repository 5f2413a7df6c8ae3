"""What goes on after a call has returned, such as forming opinions: a few threads of a store."""

import warnings
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any

from recollex_engine import fork
from recollex_engine.cancellation import Cancellation

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

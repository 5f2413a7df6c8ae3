"""The event loop on which requests to language models run: one daemon thread of the process."""

import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from recollex_engine import fork

if TYPE_CHECKING:
    import asyncio

Result = TypeVar("Result")


class BackgroundLoop:
    """An event loop in a thread of its own, started when it is first needed.

    Threads: `start` may be called by any. A child of a fork starts a new one.
    """

    def __init__(self) -> None:
        self._lock = fork.lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.generation = 0
        fork.register(self)

    def after_fork(self) -> None:
        """Forget the loop: its thread is the parent's."""
        self._loop = None
        self.generation += 1

    def start(self, work: Coroutine[Any, Any, Result]) -> "Future[Result]":
        """Run ``work`` on the loop; cancelling the future cancels the work."""
        import asyncio  # a process that asks no model does without: it takes 30 ms

        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(
                    target=self._loop.run_forever, name="recollex-llm", daemon=True
                ).start()
            loop = self._loop
        return asyncio.run_coroutine_threadsafe(work, loop)


LOOP = BackgroundLoop()

"""A call that a coroutine awaits."""

import asyncio
import threading

from recollex.remote.server.calls import Call


class CallFuture:
    """The requester of one awaited call; see `calls.Requester`."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.future: asyncio.Future[None] = loop.create_future()
        self.error: BaseException | None = None
        self._thread = threading.get_ident()

    def deliver(self, call: Call, error: BaseException | None) -> None:
        """Keep the error.

        `done` follows soon after a worker's answer, but may follow late after a missed deadline.
        """
        self.error = error
        if threading.get_ident() == self._thread:
            self.done(call)

    def progress(self, call: Call, done: int, total: int | None) -> None:
        """Ignore the progress."""

    def urgent(self) -> bool:
        """Return True: a coroutine waits."""
        return True

    def done(self, call: Call) -> None:
        """Wake the coroutine."""
        if not self.future.done():
            self.future.set_result(None)

"""Who asks from a coroutine? Somebody who awaits one call."""

import asyncio
import threading

from recollex.server.calls import Call


class CallFuture:
    """Whoever awaits one call; see `calls.Requester`."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.future: asyncio.Future[None] = loop.create_future()
        self.error: BaseException | None = None
        self._thread = threading.get_ident()

    def deliver(self, call: Call, error: BaseException | None) -> None:
        """Keep the answer; `done` comes soon after a worker, and perhaps late after a deadline."""
        self.error = error
        if threading.get_ident() == self._thread:
            self.done(call)

    def progress(self, call: Call, done: int, total: int | None) -> None:
        """Tell nobody."""

    def urgent(self) -> bool:
        """Return that somebody waits."""
        return True

    def done(self, call: Call) -> None:
        """Go on with whoever waits."""
        if not self.future.done():
            self.future.set_result(None)

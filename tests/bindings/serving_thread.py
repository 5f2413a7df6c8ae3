"""A server for tests: in a thread of this process, on a loop of its own."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import recollex
from recollex.server.serving import Server


@contextmanager
def served(store: recollex.Store, *addresses: str, **options: Any) -> Iterator[Server]:
    """Serve a store at addresses until the block ends, which closes it."""
    ready: threading.Event = threading.Event()
    made: list[Any] = []

    async def main() -> None:
        stop = asyncio.Event()
        async with Server(store, **options) as server:
            for address in addresses:
                await server.listen(address)
            made[:] = [server, asyncio.get_running_loop(), stop]
            ready.set()
            await stop.wait()

    def work() -> None:
        try:
            asyncio.run(main())
        finally:
            ready.set()

    thread = threading.Thread(target=work, name="server")
    thread.start()
    assert ready.wait(30)
    assert made, "the server did not start"
    server, loop, stop = made
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(30)

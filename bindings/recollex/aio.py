"""recollex for asyncio: every call runs in a small pool of threads of its store.

::

    async with recollex.aio.open("memory/") as store:
        alice = await store.agent("alice")
        await alice.retain("Alice joined Google.")
        recall = await alice.recall("Where does Alice work?")

Arguments, results and errors are those of `recollex`. A recall works without the interpreter lock,
so the event loop runs meanwhile. The way to a thread and back costs tens of microseconds.

Cancelling an awaited call is safe. A call that waits for a thread is dropped and changes nothing. A
call that runs is finished in its thread: a write is whole or absent, and `Store.close` waits for
it. After a cancelled write, retain again with the same ids to be sure: equal memories change
nothing.
"""

from recollex.api.async_store import Agent, Store, open
from recollex.remote.client.async_store import connect
from recollex.remote.wire import pickling as pickling

__all__ = ["Agent", "Store", "connect", "open"]

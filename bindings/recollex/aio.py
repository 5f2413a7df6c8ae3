"""The same memory for asyncio: every call runs in a small pool of threads of its store.

::

    async with recollex.aio.open("memory/") as store:
        alice = await store.agent("alice")
        await alice.retain("Alice joined Google.")
        recall = await alice.recall("Where does Alice work?")

Arguments, results and errors are those of `recollex`. A recall's work is done without the
interpreter lock, so the event loop goes on meanwhile; the hop to a thread and back costs tens of
microseconds.

Cancelling an awaited call is safe. A call that waits for a thread is dropped and changes nothing;
one that runs is finished in its thread, so a write is whole or absent, and `Store.close` waits
for it. After a cancelled write, retain again with the same ids to be sure: equal memories change
nothing.
"""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

import recollex
from recollex.client.async_store import connect
from recollex_engine.errors import ClosedError, InputError

__all__ = ["Agent", "Store", "connect", "open"]

Result = TypeVar("Result")
Parameters = ParamSpec("Parameters")


def _awaited(
    method: Callable[Concatenate[recollex.Agent, Parameters], Result],
) -> Callable[Concatenate["Agent", Parameters], Awaitable[Result]]:
    """Return the method as a coroutine of the same parameters, run in the store's threads."""

    @functools.wraps(method)
    async def call(
        agent: "Agent", /, *args: Parameters.args, **options: Parameters.kwargs
    ) -> Result:
        work = functools.partial(method, agent._agent, *args, **options)
        return await agent._store._run(work)

    return call


class Agent:
    """One agent's memory; each method is `recollex.Agent`'s, awaited."""

    def __init__(self, store: "Store", agent: recollex.Agent) -> None:
        self._store = store
        self._agent = agent
        self.facts = Methods(store, agent.facts)
        self.events = Methods(store, agent.events)
        self.sessions = Methods(store, agent.sessions)

    def transaction(self, **options: Any) -> "Transaction":
        """Return an `async with` block; see `recollex.Agent.transaction`."""
        return Transaction(self._store, self._agent.transaction(**options))

    async def recall_many(
        self, queries: Iterable[str], **options: Any
    ) -> Sequence[recollex.Recall]:
        """Return a recall for each query, in order; see `recollex.Agent.recall_many`."""
        work = functools.partial(self._agent.recall_many, queries, **options)
        return await self._store._run(work)

    @property
    def name(self) -> str:
        """The agent's id."""
        return self._agent.name

    async def at(self, as_recorded: datetime) -> "Agent":
        """Return this agent as of a recorded time; see `recollex.Agent.at`."""
        work = functools.partial(self._agent.at, as_recorded)
        return Agent(self._store, await self._store._run(work))

    retain = _awaited(recollex.Agent.retain)
    retain_dialogue = _awaited(recollex.Agent.retain_dialogue)
    recall = _awaited(recollex.Agent.recall)
    get = _awaited(recollex.Agent.get)
    list = _awaited(recollex.Agent.list)
    forget = _awaited(recollex.Agent.forget)
    archive = _awaited(recollex.Agent.archive)
    correct = _awaited(recollex.Agent.correct)
    history = _awaited(recollex.Agent.history)
    log = _awaited(recollex.Agent.log)
    diff = _awaited(recollex.Agent.diff)
    snapshot = _awaited(recollex.Agent.snapshot)
    stats = _awaited(recollex.Agent.stats)
    checkpoint = _awaited(recollex.Agent.checkpoint)
    verify = _awaited(recollex.Agent.verify)
    apply = _awaited(recollex.Agent.apply)


class Methods:
    """The methods of `Agent.facts`, `Agent.events` or `Agent.sessions`, each awaited."""

    def __init__(self, store: "Store", methods: object) -> None:
        self._store = store
        self._methods = methods

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        method = getattr(self._methods, name)

        async def call(*args: Any, **options: Any) -> Any:
            return await self._store._run(functools.partial(method, *args, **options))

        return call


class Transaction:
    """Operations that are recorded together when the block ends; giving them is not awaited."""

    def __init__(self, store: "Store", transaction: recollex.Transaction) -> None:
        self._store = store
        self._transaction = transaction

    async def __aenter__(self) -> recollex.Transaction:
        return self._transaction

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        work = functools.partial(self._transaction.__exit__, kind, error, trace)
        await self._store._run(work)


class Store:
    """An open store and its threads; made by `open`.

    Any task of one event loop may use it, at once: writes queue in the engine, reads do not wait.
    """

    def __init__(self, store: recollex.Store, pool: ThreadPoolExecutor) -> None:
        self._store = store
        self._pool = pool
        self._closed = False

    @property
    def path(self) -> Path:
        """The store's folder."""
        return self._store.path

    async def agent(self, name: str) -> Agent:
        """Return the agent of that name."""
        return Agent(self, await self._run(functools.partial(self._store.agent, name)))

    async def agents(self) -> list[str]:
        """Return the names of the store's agents."""
        return await self._run(self._store.agents)

    async def close(self) -> None:
        """Wait for the calls that run, then close the store; closing twice is fine."""
        if self._closed:
            return
        self._closed = True
        finished = asyncio.get_running_loop().run_in_executor(None, self._finish)
        await asyncio.shield(finished)  # cancelled or not, the writer lock is given back

    async def __aenter__(self) -> "Store":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def _finish(self) -> None:
        self._pool.shutdown(wait=True)
        self._store.close()

    async def _run(self, work: Callable[[], Result]) -> Result:
        if self._closed:
            raise ClosedError("the store was closed: open it again")
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)


class Opening:
    """A store about to be opened: ``await`` it, or enter it with ``async with``."""

    def __init__(self, work: Callable[[], recollex.Store], workers: int) -> None:
        self._work = work
        self._workers = workers
        self._store: Store | None = None

    def __await__(self) -> Generator[Any, None, Store]:
        return self._open().__await__()

    async def __aenter__(self) -> Store:
        self._store = await self._open()
        return self._store

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._store is not None:
            await self._store.close()

    async def _open(self) -> Store:
        pool = ThreadPoolExecutor(self._workers, thread_name_prefix="recollex")
        opening = pool.submit(self._work)
        try:
            return Store(await asyncio.wrap_future(opening), pool)
        except BaseException:  # cancelled while opening: what is opened later is closed again
            opening.add_done_callback(_close_opened)
            pool.shutdown(wait=False)
            raise


def open(path: str | Path, *, workers: int = 4, **options: Any) -> Opening:
    """Return a `Store` when awaited or entered; ``options`` are those of `recollex.open`.

    ``workers`` calls run at once (4); more wait their turn.

    >>> import asyncio, tempfile
    >>> async def first_memory(folder):
    ...     async with open(folder) as store:
    ...         alice = await store.agent("alice")
    ...         await alice.retain("Alice joined Google in Mountain View.")
    ...         return [memory.text for memory in await alice.recall("Where does Alice work?")]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     asyncio.run(first_memory(folder))
    ['Alice joined Google in Mountain View.']
    """
    if workers < 1:
        raise InputError(f"workers must be at least 1, got {workers}")
    return Opening(functools.partial(recollex.open, path, **options), workers)


def _close_opened(opening: Any) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()

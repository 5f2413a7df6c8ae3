"""An open store for asyncio: its calls run in a small pool of threads; see `recollex.aio`."""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, TypeVar, overload

from recollex.api import agent as embedded
from recollex.api import store as stores
from recollex.api import transaction as transactions
from recollex.api.conversation import AsyncConversing
from recollex.api.facts import Facts as EmbeddedFacts
from recollex.api.keys import Key
from recollex.api.methods import (
    AgentMethods,
    EventMethods,
    FactMethods,
    JobMethods,
    OpinionMethods,
    ProfileMethods,
    SessionMethods,
    ToolMethods,
)
from recollex.api.proxies import AsyncProxy, Method
from recollex_engine import fork
from recollex_engine.agents.summary import AgentSummary
from recollex_engine.backup.backup import BackupRun
from recollex_engine.backup.target import BackupPlace
from recollex_engine.clock import Moment
from recollex_engine.errors import ClosedError, InputError
from recollex_engine.recall.joint_recall import JointRecall

Result = TypeVar("Result")


class Pooled(AsyncProxy):
    """An object of an agent, called in the threads of a store."""

    def __init__(self, store: "Store", called: object) -> None:
        self._store = store
        self._called = called

    def _call(
        self, method: Method[..., Any], args: tuple[Any, ...], options: dict[str, Any]
    ) -> Awaitable[Any]:
        work = functools.partial(method.function, self._called, *args, **options)
        return self._patiently(work) if method.waits else self._store._run(work)

    async def _patiently(self, work: Callable[[], Any]) -> Any:
        """Run what may wait for a language model; cancelling the task gives the request up."""
        from recollex_engine.background_work import Cancellation

        token = Cancellation()

        def run() -> Any:
            with token:
                return work()

        try:
            return await self._store._run(run)
        except asyncio.CancelledError:
            token.cancel()
            raise


class Facts(Pooled, FactMethods):
    """The facts of an agent; each method is `recollex.api.facts.Facts`'s, awaited."""

    view: Final = Method(EmbeddedFacts.view)


class Events(Pooled, EventMethods):
    """The events of an agent; each method is `recollex.api.events.Events`'s, awaited."""


class Sessions(Pooled, SessionMethods):
    """The conversations of an agent; each method is `recollex.api.sessions.Sessions`'s, awaited."""


class AgentProfile(Pooled, ProfileMethods):
    """The profile of an agent; each method is that of `recollex.Agent.profile`, awaited."""


class Tools(Pooled, ToolMethods):
    """The tools over an agent's gists and facts; each method is `Agent.tools`'s, awaited."""


class Opinions(Pooled, OpinionMethods):
    """The opinions of an agent; each method is that of `recollex.Agent.opinions`, awaited."""


class Jobs(Pooled, JobMethods):
    """The jobs of an agent; each method is that of `recollex.Agent.jobs`, awaited."""


class Agent(Pooled, AgentMethods, AsyncConversing):
    """One agent's memory; each method is `recollex.Agent`'s, awaited."""

    def __init__(self, store: "Store", agent: embedded.Agent) -> None:
        super().__init__(store, agent)
        self._agent = agent
        self.facts: Facts = Facts(store, agent.facts)
        self.events: Events = Events(store, agent.events)
        self.sessions: Sessions = Sessions(store, agent.sessions)
        self.profile: AgentProfile = AgentProfile(store, agent.profile)
        self.opinions: Opinions = Opinions(store, agent.opinions)
        self.jobs: Jobs = Jobs(store, agent.jobs)
        self.tools: Tools = Tools(store, agent.tools)

    @property
    def name(self) -> str:
        """The agent's id."""
        return self._agent.name

    async def at(self, as_recorded: Moment) -> "Agent":
        """Return this agent as of a recorded time; see `recollex.Agent.at`."""
        work = functools.partial(self._agent.at, as_recorded)
        return Agent(self._store, await self._store._run(work))

    def transaction(self, **options: Any) -> "Transaction":
        """Return an `async with` block; see `recollex.Agent.transaction`."""
        return Transaction(self._store, self._agent.transaction(**options))

    snapshot: Final = Method(embedded.Agent.snapshot)


class Transaction:
    """Operations that are recorded together when the block ends; its methods are not awaited."""

    def __init__(self, store: "Store", transaction: transactions.Transaction) -> None:
        self._store = store
        self._transaction = transaction

    async def __aenter__(self) -> transactions.Transaction:
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

    Any number of tasks of one event loop may use it at once: writes queue in the engine, reads do
    not wait.
    """

    def __init__(self, store: stores.Store, pool: ThreadPoolExecutor) -> None:
        self._store = store
        self._pool = pool
        self._closed = False
        self._inherited = False
        fork.register(self)

    def after_fork(self) -> None:
        """Refuse every later call in the child: its threads did not come along."""
        self._closed = self._inherited = True

    @property
    def path(self) -> Path:
        """The store's folder."""
        return self._store.path

    async def agent(self, name: str, *, key: Key | None = None) -> Agent:
        """Return the agent of that name; key: see `recollex.api.store.Store.agent`."""
        return Agent(self, await self._run(functools.partial(self._store.agent, name, key=key)))

    @overload
    async def agents(self, *, counts: Literal[False] = False) -> list[str]: ...
    @overload
    async def agents(self, *, counts: Literal[True]) -> list[AgentSummary]: ...
    async def agents(self, *, counts: bool = False) -> list[str] | list[AgentSummary]:
        """Return the ids of the store's agents; see `recollex.Store.agents`."""
        return await self._run(functools.partial(self._store.agents, counts=counts))

    async def delete_agent(self, agent_id: str) -> None:
        """Delete an agent with all that it holds; see `recollex.Store.delete_agent`."""
        await self._run(functools.partial(self._store.delete_agent, agent_id))

    async def recall(self, query: str, *, agents: Iterable[str], **options: Any) -> JointRecall:
        """Return the memories of several agents for a question; see `recollex.Store.recall`."""
        work = functools.partial(self._store.recall, query, agents=agents, **options)
        return await self._run(work)

    async def backup(
        self, target: BackupPlace, *, keep: int | None = None, fresh: bool = False
    ) -> BackupRun:
        """Back up every agent; see `recollex.Store.backup`."""
        return await self._run(
            functools.partial(self._store.backup, target, keep=keep, fresh=fresh)
        )

    async def close(self) -> None:
        """Wait for the calls that run, then close the store. Closing twice does nothing more."""
        if self._closed:
            return
        self._closed = True
        finished = asyncio.get_running_loop().run_in_executor(None, self._finish)
        await asyncio.shield(finished)  # cancelled or not, the writer lock is released

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
            if self._inherited:
                raise fork.refusal(f"the store {self.path}")
            raise ClosedError("the store was closed: open it again")
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)


class Opening:
    """A store that is not open yet: ``await`` it, or enter it with ``async with``."""

    def __init__(self, work: Callable[[], stores.Store], workers: int) -> None:
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
        except BaseException:  # cancelled: the store that is opened later is closed again
            opening.add_done_callback(_close_opened)
            pool.shutdown(wait=False)
            raise


def open(path: str | Path, *, workers: int = 4, **options: Any) -> Opening:
    """Return a `Store` when awaited or entered; ``options`` are those of `recollex.open`.

    workers: the number of calls that run at once; further calls wait. Raises `errors.InputError`.

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
    return Opening(functools.partial(stores.open, path, **options), workers)


def _close_opened(opening: Any) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()

"""The worker threads: reads take turns, and writes of one agent share a flush."""

import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from recollex.api.agent import Agent
from recollex.api.joint_recalls import recall_together
from recollex.api.progress import reporting_to
from recollex.remote.server.agent_cache import AgentCache
from recollex.remote.server.calls import Call, Observer
from recollex.remote.server.limits import ServerLimits
from recollex.remote.wire.methods import JOINT
from recollex_engine.background_work import Cancellation
from recollex_engine.errors import DeadlineError, InternalError, RecollexError
from recollex_engine.recall.joint_recall import JointRecall
from recollex_engine.recall.recall import Recall

# Fair queues: every client has the same share, however much it sends.
Item = TypeVar("Item")


class FairQueue(Generic[Item]):
    """Items of many clients, taken in turns: one of each client that has any, then again.

    A client that sends 10,000 items waits for itself; every other client waits for as many items as
    there are clients. Cost: constant. Threads: under the caller's lock.

    >>> queue = FairQueue[str]()
    >>> for client, item in [("a", "a1"), ("a", "a2"), ("b", "b1")]:
    ...     queue.put(client, item)
    >>> [queue.take() for _ in range(len(queue))]
    ['a1', 'b1', 'a2']
    """

    def __init__(self) -> None:
        self._waiting: OrderedDict[object, deque[Item]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def put(self, client: object, item: Item) -> None:
        """Put an item after those of its client."""
        waiting = self._waiting.get(client)
        if waiting is None:
            self._waiting[client] = deque((item,))
        else:
            waiting.append(item)
        self._count += 1

    def take(self) -> Item:
        """Take the first item of the client whose turn it is. Raises `LookupError` if empty."""
        client, waiting = next(iter(self._waiting.items()), (None, None))
        if waiting is None:
            raise LookupError("the queue is empty")
        return self._taken(client, waiting)

    def take_if(self, wanted: Callable[[Item], bool]) -> Item | None:
        """Take the first item for which ``wanted`` is true; None if there is none.

        Only the first item of each client is tried. Cost: the clients that are skipped, which keep
        their turns.
        """
        for client, waiting in self._waiting.items():
            if wanted(waiting[0]):
                return self._taken(client, waiting)
        return None

    def remove(self, client: object, item: Item) -> bool:
        """Remove an item, and return whether it was there. Cost: the items of its client."""
        waiting = self._waiting.get(client)
        if waiting is None or item not in waiting:
            return False
        waiting.remove(item)
        self._count -= 1
        if not waiting:
            del self._waiting[client]
        return True

    def _taken(self, client: object, waiting: deque[Item]) -> Item:
        item = waiting.popleft()
        self._count -= 1
        if waiting:
            self._waiting.move_to_end(client)
        else:
            del self._waiting[client]
        return item


class AgentQueue:
    """Calls in fair turns of the clients, in which no agent takes all the workers.

    While calls of other agents wait, at most ``most`` calls of one agent run. Threads: under the
    caller's lock.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._queue = FairQueue[Call]()
        self._waiting: Counter[str] = Counter()  # agent -> calls
        self._begun: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._queue)

    def put(self, call: Call) -> None:
        """Put a call after those of its client."""
        self._queue.put(call.client, call)
        self._waiting[call.agent] += 1

    def take(self) -> Call:
        """Take the call whose turn it is; `done` must follow. Raises `LookupError` if empty."""
        call = None
        if len(self._waiting) > 1 and max(self._begun.values(), default=0) >= self._most:
            call = self._queue.take_if(lambda each: self._begun.get(each.agent, 0) < self._most)
        if call is None:
            call = self._queue.take()
        _less(self._waiting, call.agent)
        self._begun[call.agent] += 1
        return call

    def done(self, call: Call) -> None:
        """Record that a call that was taken runs no longer."""
        _less(self._begun, call.agent)

    def remove(self, call: Call) -> bool:
        """Remove a call, and return whether it was there."""
        found = self._queue.remove(call.client, call)
        if found:
            _less(self._waiting, call.agent)
        return found


def _less(counts: Counter[str], name: str) -> None:
    counts[name] -= 1
    if not counts[name]:
        del counts[name]


MOST_WAITING = 32
"""How many calls may wait for a language model at a time."""


class Workers:
    """Threads that do calls, in fair turns of the clients and of the agents.

    Reads: ``limits.readers`` threads. If reads of several agents wait, one agent's reads leave a
    thread to the others. Writes: ``limits.writers`` threads; one thread at a time serves an agent.
    It takes the writes that wait for the agent, one of each client in turn, does each as a
    transaction of its own, and waits for the disk once. Calls that may wait for a language model:
    `MOST_WAITING` threads of their own, started when needed, so that they hold up nothing else.
    ``finished`` is called with every call that was put in, on the thread that did it.
    """

    def __init__(
        self,
        agents: AgentCache,
        limits: ServerLimits,
        observer: Observer,
        finished: Callable[[list[Call]], None],
    ) -> None:
        self._agents = agents
        self._limits = limits
        self._observer = observer
        self._finished = finished
        self._lock = threading.Lock()
        self._to_read: SimpleQueue[None] = SimpleQueue()  # one item per call
        self._to_write: SimpleQueue[None] = SimpleQueue()
        self._reads = AgentQueue(max(1, limits.readers - 1))
        self._writes: OrderedDict[str, FairQueue[Call]] = OrderedDict()  # in the agents' turns
        self._writing: set[str] = set()
        self._waiting_writes = 0
        self._stopping = False
        self._patient = ThreadPoolExecutor(MOST_WAITING, thread_name_prefix="recollex patient")
        self._waiting_calls: dict[Call, Future[None]] = {}
        self._cancellations: dict[Call, Cancellation] = {}
        names = ["read"] * limits.readers + ["write"] * limits.writers
        self._threads = [
            threading.Thread(
                target=self._read if name == "read" else self._write,
                name=f"recollex {name} {place}",
                daemon=True,
            )
            for place, name in enumerate(names)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def waiting(self) -> int:
        """How many calls no thread has taken yet."""
        return len(self._reads) + self._waiting_writes + len(self._waiting_calls)

    def put(self, call: Call) -> None:
        """Queue a call."""
        with self._lock:
            if call.method.waits:
                self._waiting_calls[call] = self._patient.submit(self._do_patiently, call)
                return
            if call.method.scope == "read":
                self._reads.put(call)
                self._to_read.put(None)
                return
            queue = self._writes.get(call.agent)
            if queue is None:
                queue = self._writes[call.agent] = FairQueue()
            queue.put(call.client, call)
            self._waiting_writes += 1
            self._to_write.put(None)

    def take_back(self, call: Call) -> bool:
        """Remove a call from the queue; returns False if a worker has taken it."""
        with self._lock:
            if call.method.waits:
                queued = self._waiting_calls.get(call)
                if queued is None or not queued.cancel():
                    return False
                del self._waiting_calls[call]
                return True
            if call.method.scope == "read":
                return self._reads.remove(call)
            queue = self._writes.get(call.agent)
            if queue is None or not queue.remove(call.client, call):
                return False
            self._waiting_writes -= 1
            if not queue:
                del self._writes[call.agent]
            return True

    def stop(self) -> None:
        """Finish the calls that were put in, then end the threads."""
        with self._lock:
            self._stopping = True
        for _ in self._threads:
            self._to_read.put(None)
            self._to_write.put(None)
        self._patient.shutdown()
        for thread in self._threads:
            thread.join()

    # -- reading ---------------------------------------------------------------------------------

    def _read(self) -> None:
        while (call := self._next_read()) is not None:
            try:
                self._do(call)
            finally:
                with self._lock:
                    self._reads.done(call)
                self._finished([call])

    def _next_read(self) -> Call | None:
        while True:
            self._to_read.get()
            with self._lock:
                if self._reads:
                    return self._reads.take()
                if self._stopping:
                    return None

    # -- writing ---------------------------------------------------------------------------------

    def _write(self) -> None:
        while (calls := self._next_writes()) is not None:
            agent = calls[0].agent
            try:
                if len(calls) == 1:
                    self._do(calls[0])
                else:
                    self._do_together(agent, calls)
            finally:
                with self._lock:
                    self._writing.discard(agent)
                    again = len(self._threads) if self._stopping else agent in self._writes
                    for _ in range(again):
                        self._to_write.put(None)
                self._finished(calls)

    def _next_writes(self) -> list[Call] | None:
        """Take the writes that wait for the agent whose turn it is."""
        while True:
            self._to_write.get()
            with self._lock:
                free = (name for name in self._writes if name not in self._writing)
                agent = next(free, None)
                if agent is not None:
                    return self._fair_writes(agent)
                if self._stopping and not self._writes:
                    return None

    def _fair_writes(self, agent: str) -> list[Call]:
        """Take writes that wait for an agent, one of each client in turn, and mark it busy.

        At most ``limits.group`` writes, and none after an ungrouped one, which must see the earlier
        writes.
        """
        queue = self._writes.pop(agent)
        calls = [queue.take()]
        while queue and calls[-1].method.grouped and len(calls) < self._limits.group:
            calls.append(queue.take())
        self._waiting_writes -= len(calls)
        if queue:
            self._writes[agent] = queue  # after the other agents
        self._writing.add(agent)
        return calls

    def _do_together(self, agent: str, calls: list[Call]) -> None:
        """Do each write as a transaction, and wait for the disk once; the last may be ungrouped.

        If the flush fails, every call that had succeeded fails.
        """
        last = None if calls[-1].method.grouped else calls[-1]
        grouped = calls if last is None else calls[:-1]
        start = time.perf_counter()
        try:
            with self._agents.using(agent) as opened:
                with opened.engine.writable().together():
                    for call in grouped:
                        self._do_with(opened, call)
                    start = time.perf_counter()
                self._observer.grouped(agent, len(grouped), time.perf_counter() - start)
        except BaseException as error:
            for call in grouped:
                if call.error is None:
                    call.result = None
                    call.error = error
        if last is not None:
            self._do(last)

    # -- waiting for a language model -------------------------------------------------------------

    def _do_patiently(self, call: Call) -> None:
        with self._lock:
            self._waiting_calls.pop(call, None)
            token = self._cancellations[call] = Cancellation()
        try:
            with token:
                self._do(call)
        finally:
            with self._lock:
                del self._cancellations[call]
            self._finished([call])

    def give_up(self, call: Call) -> None:
        """Give up the request to a language model that a call waits for, if it does."""
        with self._lock:
            token = self._cancellations.get(call)
        if token is not None:
            token.cancel()

    # -- either ----------------------------------------------------------------------------------

    def _do(self, call: Call) -> None:
        """Do a call; its outcome is its `result` or its `error`."""
        if not _in_time(call):
            return
        try:
            if call.method.store:
                self._do_of_store(call)
                return
            if call.method.deletes:
                self._agents.delete(call.agent)
                call.result = None if call.convert is None else call.convert(None)
                return
            with self._agents.using(call.agent) as agent:
                self._do_with(agent, call)
        except BaseException as error:
            self._fail(call, error)

    def _do_of_store(self, call: Call) -> None:
        """Do a call of the store, for the agents that its principal may name."""
        if call.method.name == JOINT:
            call.result = self._recall_together(**call.arguments)
            if call.convert is not None:
                call.result = call.convert(call.result)
            return
        found = self._agents.store.agents(**call.arguments)
        result = [
            each
            for each in found
            if call.principal.reaches(each if isinstance(each, str) else each.id)
        ]
        call.result = result if call.convert is None else call.convert(result)

    def _recall_together(self, query: str, agents: list[str], **options: Any) -> JointRecall:
        with ExitStack() as held:
            opened = [held.enter_context(self._agents.using(each)) for each in agents]
            return recall_together(opened, query, **options)

    def _do_with(self, agent: Agent, call: Call) -> None:
        if not (call.begun_at or _in_time(call)):
            return
        try:
            at = call.options.at
            method = call.method.bound(agent if at is None else agent.at(at))
            if call.options.progress:
                with reporting_to(partial(call.requester.progress, call)):
                    result = method(**call.arguments)
            else:
                result = method(**call.arguments)
            call.result = result if call.convert is None else call.convert(result)
        except BaseException as error:
            self._fail(call, error)
            return
        self._observer.worked(call, result.trace if isinstance(result, Recall) else None)

    def _fail(self, call: Call, error: BaseException) -> None:
        if isinstance(error, RecollexError):
            call.error = error
        else:
            call.error = InternalError("the server failed; its log says how")
            self._observer.failed(call, error)


def _in_time(call: Call) -> bool:
    """Record that a call begins; returns False if its deadline has passed."""
    now = time.perf_counter()
    if call.deadline and now > call.deadline:
        call.error = DeadlineError(call.method.name, begun=False)
        return False
    call.begun_at = now
    return True

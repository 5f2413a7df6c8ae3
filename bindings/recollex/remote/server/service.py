"""The service: calls of many clients on the agents of one store, whatever transport brings them.

Sockets and HTTP bring calls; the service checks who may make them, takes them in turns, and
delivers their results. It knows no bytes.
"""

import asyncio
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from recollex.api.joint_recalls import agent_ids
from recollex.api.proxies import Method
from recollex.api.store import Store
from recollex.remote.server.access import Access, Principal
from recollex.remote.server.agent_cache import AgentCache
from recollex.remote.server.calls import NO_OPTIONS, Call, Observer, Options, Requester
from recollex.remote.server.idempotency import IdempotencyCache
from recollex.remote.server.limits import ConnectionLimiter, ServerLimits
from recollex.remote.server.reader_pool import ReaderPool
from recollex.remote.server.reader_process import Opener
from recollex.remote.server.workers import Workers
from recollex.remote.wire.messages import CAPABILITIES, PROTOCOL
from recollex.remote.wire.methods import JOINT, UNKNOWN, find_method
from recollex_engine import fork
from recollex_engine.errors import (
    CancelledError,
    DeadlineError,
    InputError,
    OverloadedError,
    ProtocolError,
    ServiceError,
)

# Admission checks: is the call well formed, and may its principal make it?
_LISTS = frozenset({"operations", "queries", "text", "texts", "turns"})
"""Arguments whose work grows with the number of their items."""


def check_call(call: Call, agent: object, max_items: int) -> None:
    """Raise `InputError` or `ForbiddenError` unless a call may be made.

    agent: as the client named it. max_items: of one list in a call.
    """
    method = call.method
    if method.store:
        if agent is not None:
            raise InputError(f"{method.name} is of the store: it names no agent")
        call.principal.check(method.scope, None)
        if method.name == JOINT and "agents" in call.arguments:
            for each in agent_ids(call.arguments["agents"]):
                call.principal.check(method.scope, each)
    else:
        if not isinstance(agent, str):
            raise InputError(f"{method.name} needs an agent's id, got {type(agent).__name__}")
        call.principal.check(method.scope, agent)
    if call.options.at is not None and not method.cut:
        raise InputError(f"{method.name} cannot be asked of the past: leave out at")
    method.check(call.arguments)
    for name in _LISTS.intersection(call.arguments):
        value = call.arguments[name]
        if isinstance(value, list) and len(value) > max_items:
            raise InputError(
                f"{name} may have up to {max_items:,} items in one call, got "
                f"{len(value):,}: send them in several"
            )


# In a cluster: which agents are this server's to answer for?
class Gate(Protocol):
    """Says whether this server has an agent; see `recollex.cluster.node.ClusterNode`."""

    def admit(self, agent: str) -> None:
        """Raise `MovedError` unless calls of an agent may be answered here now."""

    def settled(
        self, agent: str, error: BaseException | None, *, writes: bool
    ) -> BaseException | None:
        """Return the error of a call that was done, which had ``error``, or None."""


def _agents_of(call: Call) -> list[str]:
    """Return the agents whose memories a call's answer holds."""
    if call.method.store:
        return agent_ids(call.arguments["agents"]) if call.method.name == JOINT else []
    return [call.agent]


# When should a refused client try again? When the calls that wait are probably done.
RETRY_AFTER = 0.25
"""The shortest time, in seconds, after which to ask an overloaded server again."""


class Backpressure:
    """An exponential average of the seconds of a call; a new call weighs a twentieth.

    at_once: how many calls run at the same time. Threads: the event loop's.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._seconds_each = 0.001

    def observe(self, seconds: float) -> None:
        """Add the time of one call."""
        self._seconds_each += 0.05 * (seconds / self._at_once - self._seconds_each)

    def retry_after(self, waiting: int) -> float:
        """Return the seconds that ``waiting`` calls will probably take."""
        return max(RETRY_AFTER, waiting * self._seconds_each)


# A call that a coroutine awaits.
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


# How busy a server is, at one moment.
@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """What a service is doing now.

    waiting: calls that no worker has taken. running: calls that a worker is doing. keys: remembered
    answers to keyed writes.
    """

    waiting: int
    running: int
    open_agents: int
    keys: int
    stopping: bool


class Service:
    """The agents of a store, for many clients at once.

    ::

        service = Service(recollex.open("memory/"))
        id = await service.call(LOCAL, "retain", "alice", {"text": "Alice joined Google."})
        await service.stop()

    gate: of a node of a cluster. instance: a new random id for each start. A client that sees
    another id knows that the answers kept for repeated writes are gone. Threads: called on one
    event loop; it has threads for work.
    """

    def __init__(
        self,
        store: Store,
        limits: ServerLimits | None = None,
        access: Access | None = None,
        observer: Observer | None = None,
        opener: Opener | None = None,
        gate: Gate | None = None,
    ) -> None:
        self.store = store
        self._gate = gate
        self.limits: ServerLimits = limits or ServerLimits()
        self.access: Access = access or Access()
        self.observer: Observer = observer or Observer()
        self.instance: str = secrets.token_hex(8)
        self.limiter: ConnectionLimiter = ConnectionLimiter(self.limits, self.observer.exhausted)
        self._loop = asyncio.get_running_loop()
        self._agents = AgentCache(store, self.limits.open_agents, self.observer)
        self._workers = Workers(self._agents, self.limits, self.observer, self._finished)
        self.reader_pool: ReaderPool | None = None
        if opener is not None and opener.count:
            self.reader_pool = ReaderPool(
                opener,
                self.limits.open_agents,
                self.observer,
                self._finished_by_reader,
                self._put,
            )
        self._idempotency = IdempotencyCache(self.limits.keys)
        self._calls: set[Call] = set()
        self._done: deque[list[Call]] = deque()
        self._woken = False
        self._backpressure = Backpressure(self.limits.readers)
        self._idle = asyncio.Event()
        self._idle.set()
        self._stopping = False
        self._stopped = False
        self.inherited: bool = False
        fork.register(self)

    def after_fork(self) -> None:
        """Refuse every later call in the child, which has no workers, and leave the rest alone."""
        self.inherited = self._stopping = self._stopped = True

    def check_process(self) -> None:
        """Raise `ClosedError` in a process that was forked from the server's."""
        if self.inherited:
            raise fork.refusal("the server")

    async def call(
        self,
        principal: Principal,
        method: str | Method[..., Any],
        agent: str | None,
        arguments: Mapping[str, Any],
        options: Options = NO_OPTIONS,
        *,
        client: object = None,
        convert: Callable[[Any], Any] | None = None,
    ) -> Any:
        """Return the result of a method; raises what the method raises, or a `ServiceError`.

        method: its name in the protocol, or a row that is not in it. agent: its id; None for
        methods of the store. client: what the queues take turns by; None for the principal.
        convert: applied to the result on the thread that made it; a repeated keyed call must have
        the same object. Cancelling the task cancels a call that has not begun.
        """
        requester = CallFuture(self._loop)
        call = self.submit(principal, method, agent, arguments, options, client, requester, convert)
        try:
            await requester.future
        except asyncio.CancelledError:
            self.cancel(call)
            raise
        if requester.error is not None:
            raise requester.error
        return call.result

    def submit(
        self,
        principal: Principal,
        method: str | Method[..., Any],
        agent: str | None,
        arguments: Mapping[str, Any],
        options: Options,
        client: object,
        requester: Requester,
        convert: Callable[[Any], Any] | None,
        tag: int = 0,
    ) -> Call:
        """Queue a call; its result or error goes to ``requester``, perhaps at once.

        See `call` for the arguments. Never raises, except in a forked child.
        """
        self.check_process()
        self.settle()
        known = find_method(method)
        call = Call(
            principal,
            known or UNKNOWN,
            agent if isinstance(agent, str) else "",
            arguments,
            options,
            principal.name if client is None else client,
            requester,
            convert,
            tag,
        )
        self._calls.add(call)
        self._idle.clear()
        try:
            if known is None:
                raise InputError(f"there is no method {str(method)[:80]!r}")
            self._check(call, agent)
            if known.store and not call.arguments and self._gate is None:
                self._answer_of_store(call)
                return call
            seconds = self.limits.seconds if options.seconds is None else options.seconds
            call.deadline = call.entered_at + min(seconds, self.limits.seconds)
            keyed = options.key is not None and known.scope == "write"
            found = self._idempotency.find(call) if keyed else "new"
            if found == "new":
                self._enter(call)
            elif found == "answered":
                self._answer(call)
        except Exception as error:
            call.error = error
            self._answer(call)
        return call

    def metrics_text(self) -> str:
        """Return the observer's metrics; see `Observer.metrics_text`."""
        return self.observer.metrics_text()

    def cancel(self, call: Call) -> None:
        """Answer a call with `CancelledError`, or stop its request to a language model."""
        if not call.over and self._take_back(call):
            call.error = CancelledError(f"{call.method.name} was cancelled before it began")
            self._answer(call)
        self._workers.give_up(call)

    def status(self) -> ServiceStatus:
        """Return how many calls wait and run now."""
        waiting = self._waiting
        running = max(0, len(self._calls) - waiting)
        return ServiceStatus(
            waiting, running, len(self._agents), len(self._idempotency), self._stopping
        )

    async def stop(self, close_store: bool = True) -> None:
        """Take no more calls, finish the calls that were taken, close the store; twice is fine.

        Calls that have not begun after ``limits.drain`` seconds are answered with an error. A write
        that has begun is finished, however long it takes.
        """
        self._stopping = True
        if self._stopped:
            return
        self._stopped = True
        self.settle()
        try:
            await asyncio.wait_for(self._idle.wait(), self.limits.drain)
        except TimeoutError:
            for call in list(self._calls):
                self.cancel(call)
        if self.reader_pool is not None:
            await self.reader_pool.stop()
        await self._loop.run_in_executor(None, self._workers.stop)
        self.settle()
        if close_store:
            await self._loop.run_in_executor(None, self.store.close)

    # -- admission and queues ----------------------------------------------------------------------

    def _check(self, call: Call, agent: object) -> None:
        if self._stopping:
            raise OverloadedError("the server is stopping", RETRY_AFTER)
        check_call(call, agent, self.limits.items)
        if self._gate is not None:
            for each in _agents_of(call):
                self._gate.admit(each)

    def _enter(self, call: Call) -> None:
        """Queue a call."""
        waiting = self._waiting
        if waiting >= self.limits.waiting:
            delay = self._backpressure.retry_after(waiting)
            raise OverloadedError(f"{waiting:,} calls wait already", delay)
        call.timer = self._loop.call_later(call.deadline - call.entered_at, self._late, call)
        self._put(call)

    @property
    def _waiting(self) -> int:
        return self._workers.waiting + (self.reader_pool.waiting if self.reader_pool else 0)

    def _put(self, call: Call) -> None:
        if self.reader_pool is None or not self.reader_pool.take(call):
            self._workers.put(call)

    def _take_back(self, call: Call) -> bool:
        return (
            self.reader_pool is not None and self.reader_pool.take_back(call)
        ) or self._workers.take_back(call)

    def _answer_of_store(self, call: Call) -> None:
        """Answer with the agents that the principal may name."""
        names = [each for each in self.store.agents() if call.principal.reaches(each)]
        call.result = names if call.convert is None else call.convert(names)
        self._answer(call)

    # -- answers -----------------------------------------------------------------------------------

    def _late(self, call: Call) -> None:
        """Answer a call whose deadline has passed, which a worker may be doing."""
        if call.over:
            return
        late = DeadlineError(call.method.name, begun=not self._take_back(call))
        if not late.begun:
            call.error = late
            self._answer(call)
        elif call.claim():  # the result is kept for a repeated call, and not delivered
            call.answered_at = time.perf_counter()
            call.requester.deliver(call, late)
            self._workers.give_up(call)
            if self.reader_pool is not None:
                self.reader_pool.late(call)

    def _finished(self, calls: list[Call]) -> None:
        """Deliver calls on the thread that did them; the event loop settles them later.

        The loop is woken if that is urgent; otherwise it settles them before it takes the next
        call.
        """
        for call in calls:
            self._settle_in_cluster(call)
            if call.claim():
                call.answered_at = time.perf_counter()
                call.requester.deliver(call, call.error)
        self._done.append(calls)  # before the check, so that no urgent call is missed
        if self._stopping or any(call.options.key or call.requester.urgent() for call in calls):
            self._wake()

    def _settle_in_cluster(self, call: Call) -> None:
        """Let the gate say whether the result of a call that was done counts."""
        if self._gate is not None and call.begun:
            writes = call.method.scope == "write"
            for agent in _agents_of(call):
                call.error = self._gate.settled(agent, call.error, writes=writes)

    def _wake(self) -> None:
        if not self._woken:
            self._woken = True
            self._loop.call_soon_threadsafe(self.settle)

    def settle(self) -> None:
        """Finish the calls that were delivered; on the event loop.

        Code that makes a call urgent (see `Requester.urgent`) must settle afterwards: no worker
        wakes the loop for it.
        """
        self._woken = False
        while self._done:
            for call in self._done.popleft():
                self._backpressure.observe(call.answered_at - (call.begun_at or call.entered_at))
                self._answer(call)

    def _finished_by_reader(self, call: Call) -> None:
        """Settle a call that a reader process did."""
        self._backpressure.observe(time.perf_counter() - call.entered_at)
        self._answer(call)

    def _answer(self, call: Call) -> None:
        """Deliver the answer of a call to all that lack it, and settle the call."""
        self._deliver(call)
        if call.options.key is not None and call.method.scope == "write":
            undone = isinstance(call.error, ServiceError) and not call.begun
            for follower in self._idempotency.done(call, keep=not undone):
                self._deliver(follower)
                self._finish(follower)
        self._finish(call)

    def _deliver(self, call: Call) -> None:
        if call.claim():
            call.answered_at = time.perf_counter()
            call.requester.deliver(call, call.error)

    def _finish(self, call: Call) -> None:
        if call.settled:
            return
        call.settled = True
        if call.timer is not None:
            call.timer.cancel()
        self._calls.discard(call)
        self.observer.answered(call, call.error)
        call.requester.done(call)
        if not self._calls:
            self._idle.set()


# The answer to "hello", in which a server describes itself to a client.
def hello_answer(service: Service, version: str) -> dict[str, Any]:
    """Return the answer to "hello", the same for each transport; see `PROTOCOL.md`."""
    return {
        "protocol": PROTOCOL,
        "server": f"recollex/{version}",
        "instance": service.instance,
        "capabilities": list(CAPABILITIES),
        "limits": {
            "message_bytes": service.limits.message_bytes,
            "items": service.limits.items,
            "in_flight": service.limits.in_flight,
            "seconds": service.limits.seconds,
        },
    }


def check_protocol(protocol: object) -> None:
    """Raise `ProtocolError` unless a client speaks this version of the protocol."""
    if protocol != PROTOCOL:
        raise ProtocolError(f"this server speaks protocol {PROTOCOL}, got {str(protocol)[:40]}")

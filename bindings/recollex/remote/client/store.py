"""A store at a server: what `recollex.connect` returns."""

import functools
import os
import ssl
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, cast, overload

from recollex.api import agent as embedded
from recollex.api.conversation import Conversing
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
from recollex.api.progress import LONG, ProgressListener, progress_bar
from recollex.api.transaction import Transaction
from recollex.remote.client.calls import ClientCall, RemoteCaller
from recollex.remote.client.cluster import ClusterCaller, is_cluster, node_addresses
from recollex.remote.client.http_channel import open_channel
from recollex.remote.client.pool import Pool
from recollex.remote.client.sockets import Address, UnsendableError, read_address
from recollex.remote.client.stubs import (
    ARGUMENTS,
    CallOptions,
    Recorder,
    Remote,
    check_seconds,
    raise_read_only,
    raise_refusal,
)
from recollex.remote.wire.methods import JOINT, METHODS
from recollex_engine.agents import agent as engine
from recollex_engine.agents.summary import AgentSummary
from recollex_engine.clock import Moment
from recollex_engine.dates.locales import DAY_FIRST
from recollex_engine.errors import InputError, ProtocolError
from recollex_engine.recall.joint_recall import JointRecall

# One agent's memory at a server: the methods of `recollex.Agent`, executed there.
Carry = Callable[[str, str | None, dict[str, Any], CallOptions], Any]
"""Sends a call to the server: method, agent, arguments and the options of the call."""


class Facts(Remote, FactMethods):
    """The facts of an agent at a server; each method is `recollex.api.facts.Facts`'s."""


class Events(Remote, EventMethods):
    """The events of an agent at a server; each method is `recollex.api.events.Events`'s."""


class Sessions(Remote, SessionMethods):
    """The conversations of an agent; each method is `recollex.api.sessions.Sessions`'s.

    They live in the server's process, and end with it.
    """


class AgentProfile(Remote, ProfileMethods):
    """The profile of an agent at a server."""


class Tools(Remote, ToolMethods):
    """The tools over the gists and facts of an agent at a server."""


class Opinions(Remote, OpinionMethods):
    """The opinions of an agent at a server."""


class Jobs(Remote, JobMethods):
    """The jobs of an agent at a server."""


class Agent(Remote, AgentMethods, Conversing):
    """One agent's memory at a server, from `Store.agent`; each method is `recollex.Agent`'s.

    Results and errors are the same. Threads: any number may use it at once.
    """

    def __init__(self, name: str, carry: Carry, options: CallOptions) -> None:
        def send(method: str, named: dict[str, Any]) -> Any:
            return carry(method, name, named, options)

        super().__init__(send)
        self._name = name
        self._carry = carry
        self._options = options
        self.facts: Facts = Facts(send)
        self.events: Events = Events(send)
        self.sessions: Sessions = Sessions(send)
        self.profile: AgentProfile = AgentProfile(send)
        self.opinions: Opinions = Opinions(send)
        self.jobs: Jobs = Jobs(send)
        self.tools: Tools = Tools(send)

    @property
    def name(self) -> str:
        """The agent's id."""
        return self._name

    def within(self, seconds: float) -> Self:
        """Return this agent with a timeout for each call; then it raises `errors.DeadlineError`.

        A write that timed out while it ran may have been executed.
        """
        return type(self)(self._name, self._carry, self._options.within(seconds))

    @functools.wraps(embedded.Agent.at)
    def at(self, as_recorded: Moment) -> Self:  # noqa: D102  # documented by what it wraps
        cut = type(self)(self._name, self._carry, self._options.at_time(as_recorded))
        cut.list(limit=1)  # raises for a time in the future
        return cut

    @functools.wraps(embedded.Agent.transaction)
    def transaction(  # noqa: D102  # documented by what it wraps
        self,
        *,
        by: str | None = None,
        why: str | None = None,
        recorded_at: Moment | None = None,
    ) -> Transaction:
        recorder = Recorder(
            lambda operations: self._send("transact", operations),
            lambda: self.stats().locale or DAY_FIRST,
        )
        return Transaction(cast(engine.Agent, recorder), by, why, recorded_at)

    def __repr__(self) -> str:
        return f"<recollex.remote.client.Agent {self._name!r}{self._options.as_of}>"


# A terminal's progress bar for a long call to a server, as embedded work has it.
_COUNTED = {"retain_many": "texts", "retain_dialogue": "turns"}
"""Method -> the argument whose items its progress counts."""
LABELS = {
    "retain_many": "retaining",
    "retain_dialogue": "retaining",
    "verify": "verifying",
}
"""Method that may take long -> the label of its bar."""


def is_shown(method: str, named: Mapping[str, Any]) -> bool:
    """Return whether a call is long enough for a bar, and stderr is a terminal."""
    if method not in LABELS or not sys.stderr.isatty():
        return False
    return method not in _COUNTED or (_count(method, named) or 0) >= LONG


@contextmanager
def call_progress(method: str, named: Mapping[str, Any]) -> Iterator[ProgressListener | None]:
    """Yield the callback that moves the bar of a call; None if no bar is shown."""
    with progress_bar(_count(method, named), LABELS[method]) as update:
        if update is None:
            yield None
            return
        move = update
        before = 0

        def progress(done: int, total: int | None) -> None:
            nonlocal before
            move(done - before)
            before = done

        yield progress


def _count(method: str, named: Mapping[str, Any]) -> int | None:
    given = named.get(_COUNTED.get(method, ""))
    return len(given) if isinstance(given, Sized) and not isinstance(given, str) else None


PATIENCE = 10.0
"""Seconds for which calls wait for a server that is not reachable."""
CONNECTIONS = 8
MOST_CONNECTIONS = 1_000


class Store:
    """The agents of a server, from `recollex.connect`. Usable as a context manager.

    Threads: any number may use it. Each call uses one of up to ``connections`` connections alone. A
    forked process makes connections of its own.

    A call whose connection breaks is sent again, for ``patience`` seconds: a write with the same
    ids and key, so that it is stored once. A write that is not idempotent (such as `forget` and
    `correct`) raises `errors.DisconnectedError` if the server was restarted meanwhile, since it is
    unknown whether it was executed.
    """

    def __init__(
        self, address: str, options: CallOptions, caller: RemoteCaller | ClusterCaller
    ) -> None:
        self._address = address
        self._options = options
        self._caller = caller

    @property
    def address(self) -> str:
        """Where the server listens."""
        return self._address

    def agent(self, agent_id: str) -> Agent:
        """Return one agent's memory; nothing is put on disk before it retains something."""
        agent = Agent(agent_id, self._carry, self._options)
        agent.list(limit=1)  # raises for a name that is not valid or not allowed
        return agent

    @overload
    def agents(self, *, counts: Literal[False] = False) -> list[str]: ...
    @overload
    def agents(self, *, counts: Literal[True]) -> list[AgentSummary]: ...
    def agents(self, *, counts: bool = False) -> list[str] | list[AgentSummary]:
        """Return the agents that hold something and that the token allows, sorted by id.

        counts: as for `recollex.Store.agents`.
        """
        named = {"counts": counts} if counts is not False else {}
        found: list[Any] = self._carry("agents", None, named, self._options)
        return found

    def delete_agent(self, agent_id: str) -> None:
        """Delete an agent with all that it holds; see `recollex.Store.delete_agent`."""
        self._carry("delete_agent", agent_id, {}, self._options)

    def recall(self, query: str, *, agents: Iterable[str], **options: Any) -> JointRecall:
        """Return the memories of several agents for a question; see `recollex.Store.recall`."""
        named = ARGUMENTS[JOINT].read((query,), {"agents": agents, **options})
        found: JointRecall = self._carry(JOINT, None, named, self._options)
        return found

    def ping(self) -> None:
        """Wait for an answer of the server."""
        self._caller.do(ClientCall("ping", None, {}, {}, self._options.seconds))

    def close(self) -> None:
        """Close the connections; calls that run are finished. Closing twice does nothing more."""
        self._caller.close()

    def _carry(
        self, method: str, agent: str | None, named: dict[str, Any], options: CallOptions
    ) -> Any:
        if options.at is not None and METHODS[method].scope == "write":
            raise_read_only(agent, options.at)
        try:
            call = ClientCall(method, agent, named, options.sent_options, options.seconds)
            if method in LABELS and is_shown(method, named):
                with call_progress(method, named) as call.progress:
                    return self._caller.do(call)
            return self._caller.do(call)
        except (UnsendableError, ProtocolError) as error:
            raise_refusal(method, agent, named, error)

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<recollex.remote.client.Store at {self.address}>"


def connect(
    address: str | os.PathLike[str],
    *,
    token: str | None = None,
    timeout: float | None = None,
    patience: float = PATIENCE,
    connections: int = CONNECTIONS,
    certificates: str | os.PathLike[str] | ssl.SSLContext | None = None,
) -> Store:
    """Return the store of a server: its agents have the methods of embedded ones.

    address: "unix:///path/to.sock", "tcp://host:port", "tls://host:port", "http://host:port" of a
    server with the extra `recollex[http]`, or "cluster://host:port,host:port" (with TLS
    "cluster+tls://") with some nodes of a cluster.

    token: one that the server knows; a Unix socket needs
    none. timeout: seconds of a call, retries included, unless `Agent.within` sets others; None for
    the server's own bound. patience: seconds for which calls wait for a server that is not
    reachable. connections: the most that are open at once. certificates: a file of certificates to
    trust, or an SSL context; None for the system's.

    Raises `errors.DisconnectedError` if no server answers, `errors.UnauthorizedError` for a token
    that it does not know, and `errors.InputError` for an address that cannot be parsed::

        with recollex.connect("unix:///run/recollex.sock") as store:
            alice = store.agent("alice")
            alice.retain("Alice joined Google.")
    """
    given = settings(address, token, timeout, patience, certificates)
    if (
        isinstance(connections, bool)
        or not isinstance(connections, int)
        or not 1 <= connections <= MOST_CONNECTIONS
    ):
        raise InputError(
            f"connections must be an int in [1, {MOST_CONNECTIONS:,}], got {connections!r}"
        )
    if is_cluster(address):
        store = Store(str(address), given.options, cluster_caller(address, given, connections))
        store.ping()
        return store
    pool = pool_of(given, given.address, connections)
    pool.give(pool.take(None if timeout is None else time.monotonic() + timeout, "connect"))
    return Store(str(given.address), given.options, RemoteCaller(pool, patience))


def pool_of(given: "ConnectionSettings", address: Address, connections: int) -> Pool:
    """Return the connections to an address, none of which is open yet."""
    return Pool(
        lambda deadline: open_channel(address, given.token, given.trusted, deadline), connections
    )


def cluster_caller(address: object, given: "ConnectionSettings", connections: int) -> ClusterCaller:
    """Return what executes calls at the nodes of a cluster."""
    return ClusterCaller(
        node_addresses(address),
        lambda place: pool_of(given, read_address(place), connections),
        given.patience,
    )


@dataclass(frozen=True)
class ConnectionSettings:
    """The arguments of `connect`, checked."""

    address: Address
    token: str | None
    options: CallOptions
    patience: float
    trusted: ssl.SSLContext | Path | None


def settings(
    address: object, token: object, timeout: float | None, patience: float, certificates: Any
) -> ConnectionSettings:
    """Return the arguments of `connect`, checked; the address is that of the first node."""
    nodes = node_addresses(address) if is_cluster(address) else [address]
    where, *_ = map(read_address, nodes)
    if token is not None and (not isinstance(token, str) or not token):
        raise InputError(f"token must be a str that is not empty, got {type(token).__name__}")
    check_seconds(patience, "patience")
    if isinstance(certificates, str | os.PathLike):
        certificates = Path(certificates)
    if not isinstance(certificates, ssl.SSLContext | Path | None):
        raise InputError(
            f"certificates must be a file's path or an ssl.SSLContext, got "
            f"{type(certificates).__name__}"
        )
    return ConnectionSettings(where, token, CallOptions(seconds=timeout), patience, certificates)

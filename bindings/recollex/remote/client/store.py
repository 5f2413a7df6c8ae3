"""A store at a server: what `recollex.connect` returns."""

import os
import ssl
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, overload

from recollex.remote.client.address import Address, read_address
from recollex.remote.client.agent import Agent
from recollex.remote.client.argument_errors import raise_read_only, raise_refusal
from recollex.remote.client.call_options import CallOptions, check_seconds
from recollex.remote.client.calls import ClientCall, RemoteCaller
from recollex.remote.client.channel import Channel, UnsendableError
from recollex.remote.client.open_channel import open_channel
from recollex.remote.client.pool import Pool
from recollex.remote.client.progress import LABELS, call_progress, is_shown
from recollex.remote.client.stubs import ARGUMENTS
from recollex.remote.wire.methods import JOINT, METHODS
from recollex_engine.agents.summary import AgentSummary
from recollex_engine.errors import InputError, ProtocolError
from recollex_engine.recall.joint_recall import JointRecall

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

    def __init__(self, given: "ConnectionSettings", pool: Pool) -> None:
        self._address = given.address
        self._pool = pool
        self._options = given.options
        self._caller = RemoteCaller(pool, given.patience)

    @property
    def address(self) -> str:
        """Where the server listens."""
        return str(self._address)

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
        self._pool.close()

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

    address: "unix:///path/to.sock", "tcp://host:port", "tls://host:port", or "http://host:port" of
    a server with the extra `recollex[http]`. token: one that the server knows; a Unix socket needs
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

    def open_one(deadline: float | None) -> Channel:
        return open_channel(given.address, given.token, given.trusted, deadline)

    pool = Pool(open_one, connections)
    pool.give(pool.take(None if timeout is None else time.monotonic() + timeout, "connect"))
    return Store(given, pool)


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
    """Return the arguments of `connect`, checked. Raises `InputError`."""
    where = read_address(address)
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

"""Calls to a cluster, as `recollex.connect("cluster://host:7077,host:7077")` makes them.

Any node says who has an agent. A call that met a node which lost the agent, or which is gone, is
made again at the next owner, if it bears repetition; another one raises `errors.DisconnectedError`.
"""

import random
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from recollex.api.joint_recalls import agent_ids, joined
from recollex.remote.client.calls import ClientCall
from recollex.remote.client.pool import Pool
from recollex.remote.client.sockets import LostError
from recollex.remote.wire.methods import JOINT, METHODS
from recollex_engine.domain.prompt_lines import LineCosts
from recollex_engine.errors import (
    DeadlineError,
    DisconnectedError,
    MovedError,
    OverloadedError,
    RecollexError,
)
from recollex_engine.recall.joint_recall import JointRecall
from recollex_engine.recall.recall import Recall
from recollex_engine.text.token_counter import open_counter

ATTEMPT = 1.5
"""Seconds after which a short call that bears repetition is made again elsewhere: a node may be
frozen."""
_SHORT = {name for name, each in METHODS.items() if each.scope == "read" and not each.waits}
_SHORT.add("retain")
"""Methods that take less."""
ASK_OTHERS = 0.2
"""Seconds after which a node that cannot say who has an agent is left for another."""
FIRST_PAUSE = 0.01
LONGEST_PAUSE = 0.2
_AT_ONCE = 16
_SCHEMES = {"cluster": "tcp", "cluster+tls": "tls"}


def is_cluster(address: object) -> bool:
    """Return whether an address names the nodes of a cluster."""
    return isinstance(address, str) and address.partition("://")[0] in _SCHEMES


def node_addresses(address: object) -> list[str]:
    """Return the addresses of the nodes that an address of a cluster names.

    >>> node_addresses("cluster://10.0.0.5:7077,10.0.0.6:7077")
    ['tcp://10.0.0.5:7077', 'tcp://10.0.0.6:7077']
    >>> node_addresses("cluster+tls://memory.example:7077")
    ['tls://memory.example:7077']
    """
    scheme, _, rest = str(address).partition("://")
    return [f"{_SCHEMES[scheme]}://{one}" for one in rest.split(",")]


class ClusterCaller:
    """Executes calls at the nodes that have their agents, each in the thread that calls.

    nodes: addresses to begin with. pool_of: returns the connections to an address. patience:
    seconds for which a call looks for a node that answers. Threads: any number.
    """

    def __init__(self, nodes: list[str], pool_of: Callable[[str], Pool], patience: float) -> None:
        self._seeds = nodes
        self._pool_of = pool_of
        self._patience = patience
        self._owners: dict[str, str] = {}  # agent -> address, as far as it is known
        self._pools: dict[str, Pool] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close the connections to all nodes."""
        for pool in list(self._pools.values()):
            pool.close()

    def do(self, call: ClientCall) -> Any:
        """Return the result of a call, or raise its error."""
        if call.method == JOINT:
            return self._together(call.deadline, **call.named)
        search = _OwnerSearch(call, self._patience)
        agent = call.agent
        turn = random.randrange(len(self._seeds))
        while True:
            place = None if agent is None else self._owners.get(agent)
            if place is None:
                turn += 1
                place = self._seeds[turn % len(self._seeds)]
            try:
                result = self._attempt(place, call, search.end)
            except MovedError as error:
                search.failed(error)
                if agent is not None and error.address not in (None, place):
                    self._owners[agent] = str(error.address)
                    search.found_anew()
                    continue
                if agent is not None and search.is_old:
                    self._owners.pop(agent, None)
                    search.found_anew()
            except RecollexError as error:
                search.failed(error)
                if not isinstance(error, OverloadedError):
                    self._forget(place)
            else:
                if agent is not None:
                    self._owners[agent] = place
                return result
            search.wait()

    def _together(
        self, deadline: float | None, query: str, agents: Iterable[str], **options: Any
    ) -> JointRecall:
        """Recall each agent at its node, all at once, and join the recalls as one store does."""
        names = agent_ids(agents)

        def each(**shared: Any) -> dict[str, Recall]:
            def one(agent: str) -> Recall:
                own = ClientCall("recall", agent, {"query": query, **shared}, {})
                own.deadline = deadline
                found: Recall = self.do(own)
                return found

            with ThreadPoolExecutor(min(len(names), _AT_ONCE)) as pool:
                return dict(zip(names, pool.map(one, names), strict=True))

        return joined(query, each, _costs, **options)

    def _forget(self, place: str) -> None:
        """Ask others who has the agents that a node had."""
        with self._lock:
            for name in [name for name, where in self._owners.items() if where == place]:
                del self._owners[name]
            pool = self._pools.get(place)
        if pool is not None:
            pool.discard_idle()

    def _attempt(self, place: str, call: ClientCall, end: float | None) -> Any:
        """Return what a node answers. Raises `_UnreachedError` if the call did not get there."""
        with self._lock:
            pool = self._pools.get(place)
            if pool is None:
                pool = self._pools[place] = self._pool_of(place)
        deadline = end
        if call.method in _SHORT:
            least = time.monotonic() + ATTEMPT
            deadline = least if end is None else min(end, least)
        try:
            channel = pool.take(deadline, call.method)
        except DisconnectedError as error:
            raise _UnreachedError(str(error)) from error
        try:
            sent = call.params(channel.reports_progress)
            return call.received(channel.exchange(call.method, sent, deadline, call.progress))
        except LostError as error:
            kind = DisconnectedError if error.sent else _UnreachedError
            raise kind(f"{place} went away ({error})") from error
        finally:
            pool.give(channel)


class _UnreachedError(DisconnectedError):
    """A node did not get a call."""


class _OwnerSearch:
    """How long one call goes on looking for the node that answers it."""

    def __init__(self, call: ClientCall, patience: float) -> None:
        self._call = call
        self._asked_at = time.monotonic()
        self._pause = FIRST_PAUSE
        self._failure: RecollexError | None = None
        self.end: float = self._asked_at + patience if call.deadline is None else call.deadline

    def failed(self, error: RecollexError) -> None:
        """Raise an error unless another node, or a later attempt, may do without it."""
        once = not self._call.idempotent
        if isinstance(error, DisconnectedError | DeadlineError) and not isinstance(
            error, _UnreachedError
        ):
            if once:
                raise error
        elif not isinstance(error, MovedError | OverloadedError | _UnreachedError):
            raise error
        self._pause = max(self._pause, getattr(error, "retry_after", 0.0))
        self._failure = error

    @property
    def is_old(self) -> bool:
        """Whether a node has not been able to say who has the agent for long."""
        return time.monotonic() - self._asked_at > ASK_OTHERS

    def found_anew(self) -> None:
        """Note that another node is asked from now on."""
        self._asked_at = time.monotonic()

    def wait(self) -> None:
        """Wait before the next attempt; raise the last failure if the time is over."""
        if time.monotonic() + self._pause > self.end and self._failure is not None:
            raise self._failure
        time.sleep(self._pause * random.uniform(0.5, 1.0))
        self._pause = min(2 * self._pause, LONGEST_PAUSE)


def _costs(_: str, counter: str) -> LineCosts:
    """Return the costs of lines by a counter whose model is at the node: its dates are known."""
    return LineCosts(partial(open_counter, len, counter), counter)

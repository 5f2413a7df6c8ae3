"""A node: takes the shards that it should own, and says which calls it may answer."""

import asyncio
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollex.cluster.homes import ShardHomes, take_for_cache
from recollex.cluster.layout import ClusterSettings, ShardOwner, read_cluster, shard_of
from recollex.cluster.membership import Heartbeats, Membership, listens, owners
from recollex.cluster.shard import Shard, SlateLoop
from recollex_engine.agents.folder_names import agent_folder, agents_in
from recollex_engine.errors import ClosedError, DisconnectedError, MovedError, StoreFullError
from recollex_engine.log.home import FencedError

_FIRST_REST = 0.1
_LONGEST_REST = 5.0
"""Seconds after which a shard is taken again that another node has taken: doubled each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeOptions:
    """How a node behaves.

    flush_ms: runs of a shard that come within it share a write to the object store. proof: seconds
    for which a proof of ownership lets it answer reads. dead: seconds without a heartbeat after
    which a node is taken for dead. heartbeat: seconds between two.
    """

    flush_ms: int = 20
    proof: float = 1.0
    dead: float = 2.0
    heartbeat: float = 0.5


Note = Callable[..., None]
"""Called with the name of an event and its fields."""


class ClusterNode:
    """The part of one process in a cluster.

    ::

        node = ClusterNode("file:///bucket", "a", "tcp://127.0.0.1:7077", cache)
        store = Store(cache, embedder)
        store.live_in(node.homes)
        node.start(store)
        ...
        node.stop()

    cache: the folder of the store; what the cluster has not is removed from it. Raises `InputError`
    for one with agents of its own. Its threads are its
    own; `admit` may be called by any.
    """

    def __init__(
        self,
        url: str,
        name: str,
        address: str,
        cache: Path,
        options: NodeOptions | None = None,
        *,
        membership: Membership | None = None,
        note: Note = lambda event, **fields: None,
    ) -> None:
        self.url = url
        self.name = name
        self.address = address
        self.settings: ClusterSettings = read_cluster(url)
        take_for_cache(cache, url)
        self.options: NodeOptions = options or NodeOptions()
        self._owner = ShardOwner(name, address, f"{os.getpid()}-{time.time_ns()}")
        self._cache = cache
        self._membership = membership or Heartbeats(url, self._owner, self.options.dead)
        self.note: Note = note
        self._loop = SlateLoop()
        self.homes: ShardHomes = ShardHomes(
            url, name, self.settings.shards, self._loop, self._failed
        )
        """The homes of the agents' logs, for the store of the node."""
        self._store: Any = None
        self._live: dict[str, str] = {}
        self._owners: list[str | None] = [None] * self.settings.shards
        self._busy: set[int] = set()  # being taken or given up
        self._rests: dict[int, tuple[float, float]] = {}  # not taken before, seconds of the last
        self._beating: Future[None] | None = None
        self._packing: threading.Thread | None = None
        self._stopped = threading.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def shards(self) -> dict[int, int]:
        """The shards that the node has open, with their epochs."""
        return {number: shard.epoch for number, shard in list(self.homes.shards.items())}

    def start(self, store: Any) -> None:
        """Become a member, and take shards; ``store``: the engine's, made with `homes`."""
        self._store = store
        self._beating = asyncio.run_coroutine_threadsafe(self._beat(), self._loop.loop)
        self._packing = threading.Thread(target=self._pack, name="recollex packing", daemon=True)
        self._packing.start()

    def stop(self) -> None:
        """Hand the shards over: others take them at once. The calls in progress have ended."""
        if self._stopped.is_set():
            return
        self._stopped.set()
        if self._beating is not None:
            self._beating.result()
        with suppress(FencedError):
            self._loop.run(self._leave())
        if self._packing is not None:
            self._packing.join()
        self._loop.close()

    async def _leave(self) -> None:
        await self._membership.leave()
        for number in list(self.homes.shards):
            await self._give_up(number, "stopped")

    # -- which calls may be answered -----------------------------------------------------------

    def admit(self, agent: str) -> None:
        """Raise `MovedError` unless this node may answer for an agent now.

        Cost: 2 us.
        """
        number = shard_of(agent, self.settings.shards)
        shard = self.homes.shards.get(number)
        if shard is None:
            owner = self._owners[number]
            where = None if owner in (None, self.name) else self._live.get(str(owner))
            raise MovedError(f"agent {agent!r} is another node's", where)
        if time.monotonic() - shard.proved_at > self.options.proof or not shard.is_open:
            raise MovedError(f"this node cannot prove that it has agent {agent!r}", None)
        if time.monotonic() < shard.answers_from:
            raise MovedError(f"the former node of agent {agent!r} may answer for a moment", None)

    def settled(
        self, agent: str, error: BaseException | None, *, writes: bool
    ) -> BaseException | None:
        """Return the error of a call that was done; ``error``: its own, None if it has none.

        What was read counts only if the node had the agent when it was read: this process may have
        been stopped meanwhile. A write that the shared log took is durable in any case.
        """
        if error is None:
            is_lost = not writes and not self._has(agent)
        else:
            poisoned = isinstance(error, ClosedError | StoreFullError)
            is_gone = shard_of(agent, self.settings.shards) not in self.homes.shards
            is_lost = isinstance(error, FencedError) or (poisoned and is_gone)
        return self._lost(agent) if is_lost else error

    def _has(self, agent: str) -> bool:
        try:
            self.admit(agent)
        except MovedError:
            return False
        return True

    def _lost(self, agent: str) -> DisconnectedError:
        return DisconnectedError(
            f"agent {agent!r} went to another node while this one did the call: a write may have "
            "happened"
        )

    # -- taking and giving up ------------------------------------------------------------------

    async def _beat(self) -> None:
        while not self._stopped.is_set():
            began = time.monotonic()
            try:
                self._live = await self._membership.live()
                self._owners = owners(self._live, self.settings.shards)
                for number, owner in enumerate(self._owners):
                    has = number in self.homes.shards
                    if number not in self._busy and has != (owner == self.name):
                        self._begin(self._give_up(number, "moved") if has else self._take(number))
            except Exception as error:
                self.note("heartbeat failed", error=repr(error))
            for shard in list(self.homes.shards.values()):
                self._begin(self._prove(shard))
            rest = self.options.heartbeat / 2 - (time.monotonic() - began)
            await asyncio.sleep(max(0.01, rest))

    def _begin(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _take(self, number: int) -> None:
        if time.monotonic() < self._rests.get(number, (0.0, 0.0))[0]:
            return
        self._busy.add(number)
        began = time.monotonic()
        shard = Shard(self.url, number, self._owner, f"{self.options.flush_ms}ms")
        try:
            await shard.open()
            if shard.former is not None and await self._may_answer(shard.former):
                shard.answers_from = time.monotonic() + self.options.proof
            self.homes.shards[number] = shard
            milliseconds = round(1e3 * (time.monotonic() - began), 1)
            self.note("took shard", shard=number, epoch=shard.epoch, milliseconds=milliseconds)
        except Exception as error:
            await shard.close()
            self._rest(number)
            self.note("could not take shard", shard=number, error=repr(error)[:200])
        finally:
            self._busy.discard(number)

    async def _may_answer(self, former: ShardOwner) -> bool:
        """Return whether a former owner may answer reads until its last proof is old."""
        return former.start != self._owner.start and await listens(former.address)

    def _rest(self, number: int) -> None:
        """Leave a shard to another node for a while; each time for longer."""
        last = self._rests.get(number, (0.0, 0.0))[1]
        seconds = min(_LONGEST_REST, max(_FIRST_REST, 2 * last))
        drawn = seconds * (0.5 + int.from_bytes(os.urandom(2)) / 65_536)
        self._rests[number] = (time.monotonic() + drawn, seconds)

    async def _prove(self, shard: Shard) -> None:
        if not await shard.prove():
            if self.homes.owns(shard) and shard.number not in self._busy:
                self._rest(shard.number)
                await self._give_up(shard.number, "fenced")
        elif (
            self.homes.owns(shard)
            and time.monotonic() > self._rests.get(shard.number, (0.0, 0.0))[0] + _LONGEST_REST
        ):
            self._rests.pop(shard.number, None)

    def _failed(self, shard: Shard, error: BaseException) -> None:
        """Give up a shard to which a run could not be sent: only an opening says what it has."""
        self.note("could not send", shard=shard.number, error=repr(error)[:200])

        def give_up() -> None:
            if self.homes.owns(shard) and shard.number not in self._busy:
                self._begin(self._give_up(shard.number, "failed"))

        with suppress(RuntimeError):  # the node was stopped
            self._loop.loop.call_soon_threadsafe(give_up)

    async def _give_up(self, number: int, why: str) -> None:
        """Answer no more calls for a shard, close its agents, and let another node open it."""
        self._busy.add(number)
        try:
            shard = self.homes.shards.pop(number, None)
            if shard is None:
                return
            self.note("gave up shard", shard=number, why=why)
            await asyncio.to_thread(self._close_agents, number, why)
            await shard.hand_over()
        finally:
            self._busy.discard(number)

    def _close_agents(self, number: int, why: str) -> None:
        for agent in self.homes.prepared(number):
            with suppress(Exception):  # a log that another node's writes have poisoned
                self._store.close_agent(agent)
            if why == "moved":
                self.homes.drop(agent, agent_folder(self._cache, agent))

    def drop_others(self) -> None:
        """Remove the folders of agents whose shards other nodes have: they may be erased there."""
        for agent in agents_in(self._cache):
            number = shard_of(agent, self.settings.shards)
            is_used = number in self.homes.shards or number in self._busy
            if not is_used and self._owners[number] not in (None, self.name):
                self.homes.drop(agent, agent_folder(self._cache, agent))

    def _pack(self) -> None:
        while not self._stopped.wait(1.0):
            try:
                self.drop_others()
                self.homes.pack_many()
            except Exception as error:
                self.note("could not pack", error=repr(error)[:200])

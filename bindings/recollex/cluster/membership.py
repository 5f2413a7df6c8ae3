"""Which nodes live, and which of them should own a shard? Liveness only: safety is the shard's.

Each node writes a heartbeat to the bucket. A node whose heartbeat does not change for `dead`
seconds, on the clock of who looks, is taken for dead; at once, if nothing listens at its address.
Nodes that disagree for a while take shards from each other: that costs time, never a write.
"""

import asyncio
import hashlib
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import orjson

from recollex.cluster.layout import NODES, ShardOwner, bucket

_PROBE = 0.2
"""Seconds for which a connection to another node is tried."""


def owners(nodes: Mapping[str, str], shards: int) -> list[str | None]:
    """Return the node that should own each shard, by rendezvous hashing: str[shards].

    nodes: name -> address. A node that comes or goes moves its own share of the shards alone, 1 / n
    of them. None where there is no node.

    >>> owners({"a": "tcp://10.0.0.1:7077"}, 2)
    ['a', 'a']
    """
    return [
        max(nodes, key=lambda name: hashlib.blake2b(f"{name}/{number}".encode()).digest())
        if nodes
        else None
        for number in range(shards)
    ]


class Membership(Protocol):
    """Says which nodes live."""

    async def live(self) -> dict[str, str]:
        """Return name -> address of the nodes that live, this one among them."""

    async def leave(self) -> None:
        """Be no member any more, so that others take the shards at once."""


@dataclass(slots=True)
class _LastBeat:
    beat: tuple[Any, ...]
    since: float


class Heartbeats:
    """Nodes that say in the bucket that they live.

    url: of the cluster. own: this node. dead: seconds without a new heartbeat.
    """

    def __init__(self, url: str, own: ShardOwner, dead: float = 2.0) -> None:
        self._own = own
        self._target = bucket(url)
        self._dead = dead
        self._beat = 0
        self._left = False
        self._exchanging = threading.Lock()
        self._seen: dict[str, _LastBeat] = {}

    async def live(self) -> dict[str, str]:
        """Write a heartbeat, and return the nodes whose own ones are new."""
        said = await asyncio.to_thread(self._exchange)
        now = time.monotonic()
        live = {self._own.name: self._own.address}
        for name, node in said.items():
            beat = (node["beat"], node["start"])
            seen = self._seen.get(name)
            if seen is None or seen.beat != beat:
                seen = self._seen[name] = _LastBeat(beat, now)
            is_new = name != self._own.name and now - seen.since < self._dead
            if is_new and await listens(node["address"]):
                live[name] = node["address"]
        return live

    async def leave(self) -> None:
        """Remove the heartbeat."""
        await asyncio.to_thread(self._remove)

    def _remove(self) -> None:
        with self._exchanging:
            self._left = True
            self._target.delete([NODES + self._own.name])

    def _exchange(self) -> dict[str, Any]:
        with self._exchanging:
            return {} if self._left else self._exchange_alone()

    def _exchange_alone(self) -> dict[str, Any]:
        self._beat += 1
        said = orjson.dumps(asdict(self._own) | {"beat": self._beat})
        self._target.put(NODES + self._own.name, lambda: said)
        self._target.flush()
        return read_nodes(self._target)


def read_nodes(target: Any) -> dict[str, dict[str, Any]]:
    """Return what the nodes of a cluster said last, by name, those among them that are gone."""
    found = {}
    for each in target.keys(NODES):
        data = target.get(each.key)
        if data is not None:
            with suppress(orjson.JSONDecodeError):
                said = orjson.loads(data)
                if NODES + said["name"] == each.key:  # else a file that is being written
                    found[said["name"]] = said
    return found


class Listed:
    """A fixed list of nodes. Those live at whose address something listens."""

    def __init__(self, name: str, nodes: Mapping[str, str]) -> None:
        self.name = name
        self._nodes = dict(nodes)

    async def live(self) -> dict[str, str]:
        """Return the nodes that listen, and this one."""
        names = list(self._nodes)
        listening = await asyncio.gather(*(listens(self._nodes[name]) for name in names))
        return {
            name: self._nodes[name]
            for name, is_alive in zip(names, listening, strict=True)
            if is_alive or name == self.name
        }

    async def leave(self) -> None:
        """Do nothing: who stops listening is not alive."""


async def listens(address: str) -> bool:
    """Return False if a connection is refused; a slow or silent node may yet live."""
    host, _, port = address.partition("://")[2].rpartition(":")
    try:
        _, writer = await asyncio.wait_for(
            asyncio.open_connection(host.strip("[]"), int(port)), _PROBE
        )
        writer.close()
    except ConnectionRefusedError:
        return False
    except (OSError, TimeoutError):
        return True
    return True

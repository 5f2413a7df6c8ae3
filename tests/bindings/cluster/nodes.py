"""Nodes of a cluster in this process, each with a store of its own, for tests."""

import asyncio
import socket
import time
from contextlib import contextmanager

import numpy as np

from recollex.api.store import Store
from recollex.cluster.node import ClusterNode, NodeOptions
from recollex_engine.agents import store as engine
from recollex_engine.models.embedder import GivenVectors

DIMENSION = 8


def vector(seed):
    return np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)


class Members:
    """A membership that a test sets."""

    def __init__(self, live):
        self.members = live
        self.is_frozen = False
        """Whether the node looks neither at its shards nor at others, as a stopped process."""

    async def live(self):
        while self.is_frozen:
            await asyncio.sleep(0.01)
        return dict(self.members)

    async def leave(self):
        return None


class TestNode:
    """A node and its store. ``members``: name -> address of the nodes that it takes for live."""

    __test__ = False

    def __init__(self, url, name, folder, members=None, key=None):
        self.socket = socket.create_server(("127.0.0.1", 0))  # it listens as long as it lives
        address = f"tcp://127.0.0.1:{self.socket.getsockname()[1]}"
        self.membership = Members(members or {name: address})
        options = NodeOptions(flush_ms=2, heartbeat=0.1)
        self.events = []
        self.node = ClusterNode(
            url,
            name,
            address,
            folder,
            options,
            membership=self.membership,
            note=lambda event, **fields: self.events.append((event, fields)),
        )
        opened = engine.Store(folder, lambda: GivenVectors(DIMENSION), key=key)
        opened.live_in(self.node.homes)
        self.store = Store(opened)
        self.node.start(opened)

    def has(self, count):
        """Wait until the node has that many shards."""
        until = time.monotonic() + 20
        while len(self.node.shards) != count:
            assert time.monotonic() < until, self.events
            time.sleep(0.01)

    def stop(self):
        self.membership.is_frozen = False
        self.store.close()
        self.node.stop()
        self.socket.close()


@contextmanager
def running(*arguments, shards=2, **options):
    node = TestNode(*arguments, **options)
    try:
        node.has(shards)
        yield node
    finally:
        node.stop()

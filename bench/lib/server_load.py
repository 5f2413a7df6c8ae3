"""Load for a server: many clients in one process, which send bytes made in advance.

On two cores the client process has one of them. If it built and decoded every message, the bench
would measure the client. So requests are bytes that are sent repeatedly, and only the end of an
answer is looked for.
"""

import contextlib
import selectors
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgpack

Complete = Callable[[bytes], bool]
"""Says whether the received bytes complete the answer."""

CHUNK = 1 << 18


class Messages:
    """Finds the end of MessagePack values in the bytes that one client receives."""

    def __init__(self) -> None:
        self._unpacker = msgpack.Unpacker(max_buffer_size=1 << 30)

    def __call__(self, data: bytes) -> bool:
        """Return whether a value ends here."""
        self._unpacker.feed(data)
        try:
            self._unpacker.skip()
        except msgpack.OutOfData:
            return False
        return True


class Length:
    """Counts bytes up to the known length of an answer."""

    def __init__(self, length: int) -> None:
        self._length = self._left = length

    def __call__(self, data: bytes) -> bool:
        """Return whether the answer is complete."""
        self._left -= len(data)
        if self._left > 0:
            return False
        assert self._left == 0
        self._left = self._length
        return True


def load(
    connect: Callable[[], socket.socket],
    requests: Sequence[bytes],
    complete: Callable[[], Complete],
    clients: int,
    seconds: float,
) -> tuple[float, list[float]]:
    """Return answers per second, and milliseconds of each. A client has one request in flight."""
    with contextlib.ExitStack() as stack, selectors.DefaultSelector() as selector:
        peers = [stack.enter_context(contextlib.closing(connect())) for _ in range(clients)]
        state: dict[Any, list[Any]] = {}
        for number, peer in enumerate(peers):
            peer.setblocking(False)
            selector.register(peer, selectors.EVENT_READ)
            state[peer] = [number, 0.0, complete()]
        times: list[float] = []
        count = len(requests)
        now = started = time.perf_counter()
        for peer, client in state.items():
            client[1] = now
            peer.send(requests[client[0] % count])
        end = started + seconds
        waiting = clients
        while waiting:
            for key, _ in selector.select():
                peer = key.fileobj
                client = state[peer]
                if not client[2](peer.recv(CHUNK)):  # type: ignore[union-attr]
                    continue
                now = time.perf_counter()
                times.append((now - client[1]) * 1e3)
                if now >= end:
                    waiting -= 1
                    selector.unregister(peer)
                    continue
                client[0] += clients
                client[1] = now
                peer.send(requests[client[0] % count])  # type: ignore[union-attr]
        return len(times) / (time.perf_counter() - started), times

"""A server in a thread, and a client that is only a socket and MessagePack."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgpack
import numpy as np

import recollex
from recollex.api.store import Store
from recollex.remote.server.server import Server

DIMENSION = 8
VECTOR = np.ones(DIMENSION, np.float32) / np.float32(DIMENSION) ** 0.5


@contextlib.contextmanager
def serving(
    store: Store | Path,
    *,
    address: str | None = None,
    certificate: str | None = None,
    key: str | None = None,
    **options: Any,
) -> Iterator[Server]:
    """Serve a store on an event loop of its own; `Server.addresses` has the address."""
    ready, loop = threading.Event(), asyncio.new_event_loop()
    servers: list[Server] = []
    failures: list[BaseException] = []
    stop = asyncio.Event()

    async def main() -> None:
        opened = store if isinstance(store, Store) else given(store)
        async with Server(opened, **options) as server:
            where = address or f"unix://{opened.path.parent / 'socket'}"
            await server.listen(where, certificate, key)
            servers.append(server)
            ready.set()
            await stop.wait()

    def run() -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(main())
        except BaseException as error:
            failures.append(error)
        finally:
            ready.set()

    thread = threading.Thread(target=run)
    thread.start()
    ready.wait()
    try:
        if failures:
            raise failures[0]
        yield servers[0]
    finally:
        if not loop.is_closed():
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(stop.set)
        thread.join()
        if failures:
            raise failures[0]


def given(path: Path) -> Store:
    """Open a store whose vectors all come from the caller."""
    return recollex.open(
        path, embedder=recollex.GivenVectors(DIMENSION, links=False), durability="off"
    )


class Raw:
    """A client that is only a socket and MessagePack; extension types arrive as msgpack.ExtType."""

    def __init__(self, address: str, hello: dict[str, Any] | None = None) -> None:
        scheme, _, rest = address.partition("://")
        if scheme == "unix":
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(rest)
        else:
            host, _, port = rest.rpartition(":")
            self.socket = socket.create_connection((host, int(port)))
        self.socket.settimeout(20)
        self._unpacker = msgpack.Unpacker(max_buffer_size=1 << 28)
        self._id = 0
        if hello is None or hello:
            try:
                self.greeting = self.call("hello", None, hello or {"protocol": 1})
            except BaseException:
                self.close()
                raise

    def send(
        self,
        method: str,
        agent: str | None,
        arguments: dict[str, Any],
        options: dict[str, Any] | None = None,
    ) -> int:
        self._id += 1
        message = [0, self._id, method, [agent, arguments, options or {}]]
        self.write(msgpack.packb(message))
        return self._id

    def write(self, data: bytes) -> None:
        self.socket.sendall(data)

    def receive(self) -> Any:
        """Return the next message. Raises EOFError if the server closed the connection."""
        while True:
            with contextlib.suppress(msgpack.OutOfData):
                return self._unpacker.unpack()
            data = self.socket.recv(1 << 16)
            if not data:
                raise EOFError
            self._unpacker.feed(data)

    def call(
        self,
        method: str,
        agent: str | None,
        arguments: dict[str, Any],
        options: dict[str, Any] | None = None,
    ) -> Any:
        """Return the result. Raises `Told` with the error."""
        id = self.send(method, agent, arguments, options)
        while (message := self.receive())[0] != 1:
            if message[1] == "closing":
                raise Told(*message[2])
        assert message[1] == id
        if message[2] is not None:
            raise Told(*message[2])
        return message[3]

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> "Raw":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Told(Exception):  # noqa: N818 - the answer of a server
    """An error from a server: name, message, data."""

    @property
    def name(self) -> str:
        return str(self.args[0])

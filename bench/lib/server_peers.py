"""What would other servers cost? The same 2 KB through a bare asyncio echo, FastAPI and gRPC.

Each peer is a process that listens on a Unix socket: `python bench/lib/server_peers.py echo PATH`
serves until it is killed. `bench/server.py` measures the peers in the same loops as recollex.
"""

import argparse
import asyncio
import contextlib
import http.client
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager
from pathlib import Path

PAYLOAD = bytes(range(256)) * 8
"""2 KB."""
CHUNK = 1 << 16
STARTS = 30.0
"""Seconds within which a new server must answer."""


class Echo(asyncio.Protocol):
    """Sends back what it receives."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport, to send on it."""
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Send the bytes back."""
        self.transport.write(data)


def serve_echo(path: str) -> None:
    async def serve() -> None:
        server = await asyncio.get_running_loop().create_unix_server(Echo, path)
        await server.serve_forever()

    new_loop().run(serve())


def serve_fastapi(path: str) -> None:
    import uvicorn
    from fastapi import FastAPI, Request, Response

    app = FastAPI()

    @app.post("/echo")
    async def echo(request: Request) -> Response:
        return Response(await request.body())

    uvicorn.run(app, uds=path, log_level="error", access_log=False)


def serve_grpc(path: str) -> None:
    import grpc

    handler = grpc.unary_unary_rpc_method_handler(lambda request, context: request)
    server = grpc.server(futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("peer", {"echo": handler}),)
    )
    server.add_insecure_port(f"unix://{path}")
    server.start()
    server.wait_for_termination()


SERVERS = {"echo": serve_echo, "fastapi": serve_fastapi, "grpc": serve_grpc}


def new_loop() -> asyncio.Runner:
    """Return a runner; it uses uvloop if that is installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.Runner()
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)


# -- clients -----------------------------------------------------------------------------------


@contextmanager
def echo_client(path: str) -> Iterator[Callable[[], object]]:
    with connected(path) as peer:

        def exchange() -> object:
            peer.sendall(PAYLOAD)
            return receive(peer, len(PAYLOAD))

        yield exchange


@contextmanager
def fastapi_client(path: str) -> Iterator[Callable[[], object]]:
    connection = http.client.HTTPConnection("localhost")
    connection.sock = connect(path)

    def exchange() -> object:
        connection.request("POST", "/echo", PAYLOAD)
        return connection.getresponse().read()

    with contextlib.closing(connection):
        yield exchange


@contextmanager
def grpc_client(path: str) -> Iterator[Callable[[], object]]:
    import grpc

    with grpc.insecure_channel(f"unix://{path}") as channel:
        call = channel.unary_unary("/peer/echo")
        yield lambda: call(PAYLOAD)


CLIENTS = {"echo": echo_client, "fastapi": fastapi_client, "grpc": grpc_client}


def http_request() -> bytes:
    head = f"POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(PAYLOAD)}\r\n\r\n"
    return head.encode() + PAYLOAD


async def grpc_rate(path: str, clients: int, seconds: float) -> float:
    """Return exchanges per second of ``clients`` channels."""
    import grpc

    done = 0
    end = time.perf_counter() + seconds

    async def work() -> None:
        nonlocal done
        options = [("grpc.use_local_subchannel_pool", 1)]
        async with grpc.aio.insecure_channel(f"unix://{path}", options=options) as channel:
            call = channel.unary_unary("/peer/echo")
            while time.perf_counter() < end:
                assert len(await call(PAYLOAD)) == len(PAYLOAD)
                done += 1

    started = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(clients)))
    return done / (time.perf_counter() - started)


# -- processes ---------------------------------------------------------------------------------


@contextmanager
def running(command: list[str], path: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server during the block, which begins when ``path`` accepts connections."""
    process = subprocess.Popen(command)
    try:
        with connected(path):
            yield process
    finally:
        process.terminate()
        process.wait()
        Path(path).unlink(missing_ok=True)


def peer(name: str, path: str) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    return running([sys.executable, __file__, name, path], path)


def connect(path: str) -> socket.socket:
    end = time.monotonic() + STARTS
    while True:
        made = socket.socket(socket.AF_UNIX)
        try:
            made.connect(path)
            return made
        except OSError:
            made.close()
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


@contextmanager
def connected(path: str) -> Iterator[socket.socket]:
    with contextlib.closing(connect(path)) as made:
        yield made


def receive(made: socket.socket, count: int) -> bytes:
    data = made.recv(CHUNK)
    while len(data) < count:
        more = made.recv(CHUNK)
        if not more:
            raise ConnectionError(f"{len(data)} of {count} bytes, then nothing")
        data += more
    return data


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("server", choices=sorted(SERVERS))
    parser.add_argument("path")
    arguments = parser.parse_args()
    SERVERS[arguments.server](arguments.path)

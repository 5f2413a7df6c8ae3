"""Serves HTTP beside the socket, by uvicorn, on the same event loop and service."""

import asyncio
import importlib.util
import ipaddress
import socket
import ssl
from typing import TYPE_CHECKING, Any

from recollex.remote.server.access import Access, check_exposed
from recollex.remote.server.limits import Client
from recollex.remote.server.listener import TlsAccepting
from recollex.remote.server.metrics import Metrics
from recollex.remote.server.service import Service
from recollex_engine.errors import InputError

if TYPE_CHECKING:
    from recollex.remote.http.uvicorn_server import UvicornServer

NEEDED = ("uvicorn", "httptools", "starlette", "msgspec")
"""What the extra `http` has."""
BACKLOG = 1024
"""Connections that the system holds until they are accepted."""


class HttpServer:
    """Serves one service over HTTP, until it is closed; made by `start_http`.

    Threads: the service's event loop.
    """

    def __init__(
        self,
        listening: socket.socket,
        server: "UvicornServer",
        task: "asyncio.Task[None]",
        accepting: TlsAccepting | None,
    ) -> None:
        self._listening = listening
        self._accepting = accepting
        self._server = server
        self._task = task

    @property
    def address(self) -> tuple[str, int]:
        """The host and the port on which it listens."""
        host, port = self._listening.getsockname()[:2]
        return host, port

    @property
    def connections(self) -> int:
        """How many connections are open."""
        return len(self._server.server_state.connections)

    async def close(self) -> None:
        """Take no more requests, and wait for running ones up to ``limits.drain`` seconds."""
        self._server.should_exit = True
        if self._accepting is not None:
            self._accepting.close()
        await self._task
        self._listening.close()


async def start_http(
    service: Service,
    metrics: Metrics,
    host: str,
    port: int,
    tls: ssl.SSLContext | None = None,
    *,
    insecure: bool = False,
) -> HttpServer:
    """Return a server that listens, on any free port if ``port`` is 0.

    Raises `InputError` without ``pip install 'recollex[http]'``, for a host beyond this machine if
    the service asks for no token, or has no ``tls`` and is not ``insecure``, and for an address
    that cannot be listened on.
    """
    missing = [name for name in NEEDED if not importlib.util.find_spec(name)]
    if missing:
        raise InputError(f"HTTP needs {' and '.join(missing)}: pip install 'recollex[http]'")
    import uvicorn

    from recollex.remote.http.application import Application
    from recollex.remote.http.uvicorn_server import KEEP_ALIVE, UvicornServer, limited_protocol

    limits = service.limits
    protocol = limited_protocol(service.limiter)
    config = uvicorn.Config(
        Application(service, metrics, host),
        http=protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=max(1, int(min(KEEP_ALIVE, limits.idle))),
        timeout_graceful_shutdown=max(1, int(limits.drain)),
    )
    config.load()
    listening = _listen(host, port, service.access, encrypted=tls is not None or insecure)
    server = UvicornServer(config)
    task = asyncio.create_task(server.serve([] if tls is not None else [listening]))
    while not (server.started or task.done()):
        await asyncio.sleep(0.001)
    if task.done():
        listening.close()
        task.result()
    accepting = None
    if tls is not None:  # uvicorn would wait a minute for the handshake of each connection
        listening.listen(BACKLOG)

        def made(shaking: Client) -> Any:
            state = server.server_state
            app_state = server.lifespan.state
            return protocol(config, state, app_state, instead_of=shaking)

        accepting = TlsAccepting([listening], tls, made, service.limiter)
    found = HttpServer(listening, server, task, accepting)
    metrics.gauge(
        "recollex_http_connections", "HTTP connections that are open.", lambda: found.connections
    )
    return found


def _listen(host: str, port: int, access: Access, *, encrypted: bool) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        if not _is_loopback(address[0]):
            check_exposed(host, access, encrypted=encrypted)
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.setblocking(False)
        except BaseException:
            listening.close()
            raise
    except OSError as error:
        raise InputError(f"HTTP cannot listen at {host}:{port}: {error}") from None
    return listening


def _is_loopback(address: object) -> bool:
    return ipaddress.ip_address(str(address).partition("%")[0]).is_loopback

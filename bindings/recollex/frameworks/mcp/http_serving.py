"""The MCP server over streamable HTTP: at /mcp, with the tokens of `recollex serve`."""

import asyncio
import json
import signal
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn
from mcp.server.mcpserver import MCPServer

from recollex.frameworks.mcp.agents import PRINCIPAL, Agents
from recollex.remote.http.problems import RequestError, check_site
from recollex.remote.http.uvicorn_server import UvicornServer, limited_protocol
from recollex.remote.server.access import Access, check_exposed
from recollex.remote.server.limits import ConnectionLimiter, ServerLimits, admit
from recollex.remote.server.logs import Log
from recollex_engine.errors import InputError, UnauthorizedError

RequestScope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

PATH = "/mcp"
LOCAL = ("127.0.0.1", "localhost", "::1")


def serve_http(
    server: MCPServer[Any],
    agents: Agents,
    host: str,
    port: int,
    access: Access,
    *,
    insecure: bool,
    ready: Callable[[str], None],
) -> None:
    """Serve over HTTP until SIGINT or SIGTERM. ``ready`` is called with the address.

    Raises `InputError` for an address that others reach without tokens, or without TLS unless
    ``insecure``, or that cannot be listened on.
    """
    if host not in LOCAL:
        check_exposed(host, access, encrypted=insecure)
    app = Guarded(server.streamable_http_app(streamable_http_path=PATH, host=host), access, host)
    listening = _listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    agents.start()
    try:
        ready(f"http://{shown}:{listening.getsockname()[1]}{PATH}")
        asyncio.run(_serve(app, listening))
    finally:
        listening.close()
        agents.close()


async def _serve(app: "Guarded", listening: socket.socket) -> None:
    limiter = ConnectionLimiter(ServerLimits(), Log(level="warning").exhausted)
    config = uvicorn.Config(
        app,
        http=limited_protocol(limiter),
        ws="none",
        lifespan="on",
        log_level="error",  # its warnings are of what clients send
        timeout_graceful_shutdown=5,
    )
    server = UvicornServer(config)

    def stop() -> None:
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    await server.serve(sockets=[listening])


class Guarded:
    """An application whose requests need a token, if tokens are known.

    Without tokens it refuses the pages of other sites; host: on which it listens, see `check_site`.
    Header values reach it without the whitespace around them, which is no part of them (RFC 9110,
    5.5) and which httptools leaves at the end: revision 2026-07-28 compares headers with the body.
    """

    def __init__(self, app: Any, access: Access, host: str) -> None:
        self._app = app
        self._access = access
        self._host = host

    async def __call__(self, scope: RequestScope, receive: Receive, send: Send) -> None:
        """Answer a request without a known token, or of another site, and hand on all others."""
        if scope["type"] == "http":
            scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
            try:
                if self._access.open:
                    check_site(scope["headers"], self._host)
                else:
                    scope[PRINCIPAL] = self._access.principal(_token(scope))
                admit(scope)
            except UnauthorizedError as error:
                await _refuse(send, 401, f"{error}: Authorization: Bearer TOKEN")
                return
            except RequestError as error:
                await _refuse(send, error.status, str(error))
                return
        await self._app(scope, receive, send)


def _token(scope: RequestScope) -> str | None:
    for name, value in scope["headers"]:
        kind, _, token = value.decode("latin-1").partition(" ")
        if name == b"authorization" and kind.lower() == "bearer":
            return str(token.strip())
    return None


async def _refuse(send: Send, status: int, said: str) -> None:
    error = {"code": -32600, "message": said}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    headers = [(b"content-type", b"application/json")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise InputError(f"cannot listen on {host}:{port}: {error.strerror}") from None
    return listening

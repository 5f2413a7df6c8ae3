"""Accepts clients: on a Unix socket, or on TCP with or without TLS.

Accepts connections that speak TLS, within the server's limits.
A server of asyncio shows a connection to its protocol when its handshake is done. So connections
that say nothing would be counted nowhere, and stay for a minute. Here they are counted when they
are accepted, and have `Limits.handshake` seconds to speak TLS.
"""

import asyncio
import contextlib
import errno
import os
import socket
import ssl
import stat
from collections.abc import Callable, Sequence
from functools import partial
from ipaddress import ip_address
from itertools import count
from pathlib import Path
from typing import Any

from recollex.remote.server.access import check_exposed
from recollex.remote.server.connection import ServedConnection
from recollex.remote.server.framing import prepare
from recollex.remote.server.limits import Client, ConnectionLimiter
from recollex.remote.server.service import Service, hello_answer
from recollex_engine.errors import InputError, OverloadedError

PAUSE = 0.1
"""Seconds until the next connection is accepted where the system has no descriptor for it."""


class _Shaking:
    """A connection that does not speak TLS yet. Its clock is that of the handshake itself."""

    __slots__ = ("task",)

    task: "asyncio.Task[object]"

    def overdue(self, now: float) -> str | None:
        return None

    def abort(self, why: str) -> None:
        self.task.cancel()


class TlsAccepting:
    """Accepts connections on sockets that listen, until it is closed.

    make() returns the protocol of a connection that speaks TLS; its argument is what the limiter
    has counted the connection as until then.

    Threads: the event loop's.
    """

    def __init__(
        self,
        listening: Sequence[socket.socket],
        context: ssl.SSLContext,
        make: Callable[[Client], asyncio.Protocol],
        limiter: ConnectionLimiter,
    ) -> None:
        self.sockets = listening
        self._context = context
        self._make = make
        self._limiter = limiter
        self._shaking: set[_Shaking] = set()
        self._closed = False
        self._loop = asyncio.get_running_loop()
        for each in listening:
            self._watch(each)

    def _watch(self, listening: socket.socket) -> None:
        if not self._closed:
            self._loop.add_reader(listening, self._accept, listening)

    def _accept(self, listening: socket.socket) -> None:
        """Accept one connection, in one step: a task could be cancelled with it in hand."""
        try:
            accepted, peer = listening.accept()
        except (BlockingIOError, ConnectionAbortedError):  # the client is gone already
            return
        except OSError:  # no descriptor is left
            self._loop.remove_reader(listening)
            self._loop.call_later(PAUSE, self._watch, listening)
            return
        shaking = _Shaking()
        if not self._limiter.join(shaking, peer):
            self._limiter.leave(shaking)
            accepted.close()
            return
        accepted.setblocking(False)
        seconds = self._limiter.limits.handshake
        shaking.task = self._loop.create_task(
            self._loop.connect_accepted_socket(
                partial(self._make, shaking),
                accepted,
                ssl=self._context,
                ssl_handshake_timeout=seconds,
                ssl_shutdown_timeout=seconds,
            )
        )
        self._shaking.add(shaking)
        shaking.task.add_done_callback(partial(self._shaken, accepted, shaking))

    def _shaken(
        self, accepted: socket.socket, shaking: _Shaking, task: "asyncio.Task[object]"
    ) -> None:
        """Close what speaks no TLS, or too late, or is gone, also before its task began."""
        self._shaking.discard(shaking)
        self._limiter.leave(shaking)
        if task.cancelled():
            accepted.close()
        elif (failed := task.exception()) is not None:
            accepted.close()
            if not isinstance(failed, OSError):  # errors of ssl are OSErrors
                raise failed

    def close(self) -> None:
        """Accept no more connections, and drop those that do not speak TLS yet."""
        self._closed = True
        for listening in self.sockets:
            self._loop.remove_reader(listening)
            listening.close()
        for shaking in self._shaking:
            shaking.task.cancel()


def listening_sockets(host: str, port: int, backlog: int) -> list[socket.socket]:
    """Return sockets that listen on all addresses of a host; raises the plain `OSError`."""
    found: list[socket.socket] = []
    with contextlib.ExitStack() as failed:
        asked = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, _, _, _, address in dict.fromkeys(asked):
            try:
                made = socket.create_server(address, family=family, backlog=backlog)
            except OSError as error:
                if error.errno == errno.EAFNOSUPPORT:  # IPv6 is switched off
                    continue
                raise
            failed.callback(made.close)
            made.setblocking(False)
            found.append(made)
        failed.pop_all()
    return found


BACKLOG = 1024


class Listener:
    """Accepts clients for a service, on any number of sockets. Threads: the event loop's."""

    def __init__(self, service: Service, version: str) -> None:
        prepare()
        self.service = service
        self.hello_answer: dict[str, Any] = hello_answer(service, version)
        self.addresses: list[str] = []
        self._connections: set[ServedConnection] = set()
        self._numbers = count(1)
        self._kept = 0
        self._loop = asyncio.get_running_loop()
        self._servers: list[asyncio.Server | TlsAccepting] = []
        self._files: list[tuple[Path, int]] = []
        self._empty = asyncio.Event()
        self._empty.set()

    def __len__(self) -> int:
        return len(self._connections)

    async def listen_unix(self, path: str | os.PathLike[str]) -> None:
        """Listen on a Unix socket that only this user may connect to (mode 0600).

        A socket that an ended server left is replaced. Raises `InputError` if another server
        answers there, or if the path is not a socket.
        """
        where = Path(path)
        if where.exists() or where.is_symlink():
            _clear(where)
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            made.setblocking(False)
            mask = os.umask(0o177)  # otherwise others could connect until a chmod
            try:
                made.bind(os.fspath(where))
            except OSError as error:
                raise InputError(f"socket {where} cannot be made: {error}") from None
            finally:
                os.umask(mask)
            loop = asyncio.get_running_loop()
            server = await loop.create_unix_server(self._connection, sock=made, backlog=BACKLOG)
        except BaseException:
            made.close()
            raise
        self._files.append((where, where.stat().st_ino))
        self._opened(server, f"unix://{where.absolute()}")

    async def listen_tcp(
        self,
        host: str,
        port: int,
        tls: ssl.SSLContext | None = None,
        *,
        insecure: bool = False,
    ) -> None:
        """Listen on TCP; port 0 takes any free port, see `addresses`.

        Raises `InputError` for a host beyond loopback if the server asks for no token, and without
        ``tls`` unless ``insecure``.
        """
        if not await _is_loopback(host):
            check_exposed(host, self.service.access, encrypted=tls is not None or insecure)
        loop = asyncio.get_running_loop()
        server: asyncio.Server | TlsAccepting
        try:
            if tls is None:
                server = await loop.create_server(self._connection, host, port, backlog=BACKLOG)
            else:
                sockets = await loop.run_in_executor(None, listening_sockets, host, port, BACKLOG)
                server = TlsAccepting(sockets, tls, self._connection, self.service.limiter)
        except OSError as error:
            raise InputError(f"{host}:{port} cannot be listened on: {error}") from None
        for each in server.sockets:
            name, number = each.getsockname()[:2]
            shown = f"[{name}]" if ":" in name else name
            self._opened(server, f"{'tls' if tls else 'tcp'}://{shown}:{number}")

    def joined(self, connection: ServedConnection, peer: object) -> bool:
        """Count a client in; returns whether there is room."""
        self._connections.add(connection)
        self._empty.clear()
        self.service.observer.connected(connection.name, len(self._connections))
        return self.service.limiter.join(connection, peer, connection.shaking)

    def kept(self, more: int) -> bool:
        """Count bytes of unfinished messages; returns whether they are few enough."""
        self._kept += more
        return self._kept <= self.service.limits.kept_bytes

    def later(self, work: Callable[[], None]) -> None:
        """Run something after the work that the event loop already has."""
        self._loop.call_soon(work)

    def left(self, connection: ServedConnection) -> None:
        """Count a client out."""
        self._connections.discard(connection)
        self.service.limiter.leave(connection)
        if not self._connections:
            self._empty.set()
        count = len(self._connections)
        self.service.observer.disconnected(connection.name, count, connection.why)

    def stop_accepting(self) -> None:
        """Accept no more clients; the connected ones are served on."""
        for server in self._servers:
            server.close()
        for path, inode in self._files:
            with contextlib.suppress(OSError):  # it may be another server's by now, or gone
                if path.stat().st_ino == inode:
                    path.unlink()
        self._files.clear()

    async def stop(self, within: float) -> None:
        """Finish the calls that clients have made and send the answers, then close.

        Connections that are not done ``within`` seconds are aborted.
        """
        self.stop_accepting()
        for connection in list(self._connections):
            connection.leave(OverloadedError("the server is stopping", 1.0), finish=True)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._empty.wait(), within)
        for connection in list(self._connections):
            connection.abort("the server stopped")

    def _connection(self, shaking: Client | None = None) -> ServedConnection:
        return ServedConnection(self, next(self._numbers), shaking)

    def _opened(self, server: asyncio.Server | TlsAccepting, address: str) -> None:
        if server not in self._servers:
            self._servers.append(server)
        self.addresses.append(address)


def _clear(path: Path) -> None:
    """Remove a socket on which no server answers."""
    if not stat.S_ISSOCK(path.lstat().st_mode):
        raise InputError(f"{path} is there, and is no socket: choose another path")
    probe: Any = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        probe.settimeout(1.0)
        probe.connect(os.fspath(path))
    except (ConnectionRefusedError, FileNotFoundError):
        path.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"socket {path} cannot be tried: {error}") from None
    else:
        raise InputError(f"another server answers on {path}: stop it, or choose another path")
    finally:
        probe.close()


async def _is_loopback(host: str) -> bool:
    """Return whether every address of a host belongs to this machine."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise InputError(f"{host} is not the name of a host: {error}") from None
    return bool(host) and all(ip_address(str(each[4][0])).is_loopback for each in found)


def tls_context(certificate: str, key: str | None) -> ssl.SSLContext:
    """Return a server's TLS settings, from a certificate chain and its key in PEM files."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        raise InputError(f"certificate {certificate} cannot be used: {error}") from None
    return context
